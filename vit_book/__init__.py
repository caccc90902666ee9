"""Photographs, tables, drawings, measured numbers and the style of the book's pages."""

from vit_steps.optional import check_installed

check_installed("matplotlib", "IPython")

from vit_book.drawings import drawing as drawing
from vit_book.photographs import PHOTOS as PHOTOS
from vit_book.photographs import THINGS as THINGS
from vit_book.photographs import photo as photo
from vit_book.photographs import photos as photos
from vit_book.photographs import things as things
from vit_book.results import read_results as read_results
from vit_book.results import recorded as recorded
from vit_book.style import COLOURS as COLOURS
from vit_book.style import LETTERS as LETTERS
from vit_book.style import name_line as name_line
from vit_book.style import use_book_style as use_book_style
from vit_book.tables import Table as Table
