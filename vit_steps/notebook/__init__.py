"""Pictures, curves, tables and numbers of long runs, as the notebooks show them."""

from vit_steps.optional import check_installed

check_installed("matplotlib", "IPython")

from vit_steps.notebook.drawings import drawing as drawing
from vit_steps.notebook.pictures import live_history as live_history
from vit_steps.notebook.pictures import (
    show_attention_over_image as show_attention_over_image,
)
from vit_steps.notebook.pictures import show_image as show_image
from vit_steps.notebook.pictures import show_patch_grid as show_patch_grid
from vit_steps.notebook.results import read_results as read_results
from vit_steps.notebook.results import recorded as recorded
from vit_steps.notebook.style import COLOURS as COLOURS
from vit_steps.notebook.style import use_book_style as use_book_style
from vit_steps.notebook.tables import Table as Table
