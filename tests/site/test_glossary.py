"""The glossary: sorted, with a link from each term to the section that explains it."""

import re
import unicodedata

import pytest

from tests.conftest import ROOT
from tests.site.test_pages import HTML, inside, page_soup, soup

SOURCE = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
DEFINED = re.findall(r"\n  (?=\S)", SOURCE)  # each definition is below its term
PAGE = HTML / "book" / "glossary.html"
CODE = ".cell_input, .cell_output, script, style"


def terms():
    return page_soup("book/glossary").select("dl.glossary > dt")


def name(term):
    return next(iter(term.stripped_strings))


def link_of(term):
    *_, link = term.find_next_sibling("dd").select("a.reference.internal")
    return link


def words_of(address):
    """Return the words of a section and of the headings above it."""
    path, _, fragment = address.partition("#")
    section = soup((PAGE.parent / path).resolve()).find("section", id=fragment)
    assert section is not None, address
    headings = [
        parent.find(re.compile("^h[1-3]$")).get_text()
        for parent in section.find_parents("section")
    ]
    own = [
        part.get_text(" ")
        for part in section.find_all(recursive=False)
        if part.name != "section"
    ]
    return " ".join(headings + own).lower()


def test_the_terms_are_many_sorted_and_each_there_once():
    names = [name(term) for term in terms()]
    assert len(names) >= 100
    assert len({n.lower() for n in names}) == len(names)

    def letters(text):
        plain = unicodedata.normalize("NFKD", text.lower())
        return re.sub(r"[^a-z0-9 ]", "", plain)

    assert names == sorted(names, key=letters)


def test_a_term_stands_under_its_letter():
    for part in re.split(r"^## ", SOURCE, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        names = re.findall(r"^([^\s`][^\n]*)\n  \S", rest, re.MULTILINE)
        letters = {unicodedata.normalize("NFKD", name[0].upper())[0] for name in names}
        if len(heading) == 1:
            assert letters == {heading}


@pytest.mark.parametrize("number", range(len(DEFINED)))
def test_the_section_it_leads_to_has_the_term(number):
    term = terms()[number]
    text = words_of(link_of(term)["href"])
    for word in re.findall(r"[\w.-]+", re.sub(r"\(.*?\)", "", name(term))):
        assert word.lower()[:5] in text, (name(term), word)


def test_every_term_leads_to_one_section():
    assert len(terms()) == len(DEFINED)
    for term in terms():
        [link] = term.find_next_sibling("dd").select("a.reference.internal")
        assert "#" in link["href"] and link.get_text(strip=True)


def test_the_index_of_the_package_has_functions_and_no_terms():
    links = {link for link, *_ in inside(HTML / "genindex.html")}
    assert "book/package/model.html#vit_steps.encoder.EncoderBlock" in links
    assert not [link for link in links if "#term-" in link]


@pytest.mark.parametrize("page", ["book/glossary", "genindex"])
def test_letters_lead_to_their_parts(page):
    found = page_soup(page)
    letters = [link["href"][1:] for link in found.select(".letters a")]
    assert letters == [part.parent["id"] for part in found.select("section > h2")]
