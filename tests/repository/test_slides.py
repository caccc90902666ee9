"""Test that the chapters still have what the slides show of them."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Error

from book.slides import __main__ as slides
from book.slides.deck import KINDS, Deck
from tests.conftest import CONTROLS, ROOT

DECKS = slides.decks()
BLOCK = Path("notebooks/06_encoder_block.ipynb")


def test_every_chapter_has_a_deck():
    assert list(DECKS) == [file.stem for file in sorted(ROOT.glob("notebooks/*.ipynb"))]


def test_an_untitled_slide_has_no_heading_of_the_chapter():
    deck = Deck(ROOT / "notebooks" / "00_before_you_start.ipynb")
    pages = deck.markdown([{"bet": "untitled + reach, So with a window of 3×3"}])
    assert "\n## Make a bet\n" in pages


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_shows_what_is_in_its_chapter(name):
    deck = Deck(ROOT / "notebooks" / f"{name}.ipynb")
    text = deck.markdown(DECKS[name])
    assert {kind for slide in DECKS[name] for kind in slide} == set(KINDS)
    pages = text.split("\n---\n")[1:]
    assert len(pages) == len(DECKS[name]) + 2, "a title before them, the sources after"
    notes = [re.findall(r"<!--\n(.*?)\n-->", page, re.DOTALL) for page in pages[:-1]]
    assert all(len(found) == 1 and len(found[0]) > 20 for found in notes), "on each"
    for (said,) in notes:
        paragraphs = said.split("\n\n")
        assert len(set(paragraphs)) == len(paragraphs), "nothing is said twice"
    assert all(figure.alt and figure.caption for figure in deck.figures)
    assert text.count("<img") == len(deck.figures)
    [bet] = [page for page in pages if " options -->" in page]
    assert all(f"\n1. {option}\n" in bet for option in deck.bet["options"])
    shown, _, notes = bet.partition("<!--\n")
    assert "is right." not in shown
    assert notes.startswith(f"{deck.bet['right']} is right.")
    dark = [f for f in deck.figures if b"prefers-color-scheme" in f.data]
    assert not dark, "a slide is light"
    for page in pages:
        words = re.sub("<!--.*?-->|````.*?````|<.*?>", "", page, flags=re.DOTALL)
        assert not CONTROLS.search(words), f"nobody can do that on a slide: {words}"
        if "· Bet" in page:
            assert re.search(r"\?|guess|order", words, re.IGNORECASE), words


def test_a_quotation_is_a_sentence():
    for name, deck in DECKS.items():
        for slide in deck:
            for part in "".join(slide.values()).split(" + "):
                cell, _, words = part.partition(", ")
                if words:
                    quote = Deck(ROOT / "notebooks" / f"{name}.ipynb").quoted(
                        cell, words
                    )
                    assert quote[0].rstrip()[-1] in ".?$|*:", quote[0]


@pytest.mark.parametrize(
    ("slide", "said"),
    [
        ({"picture": "no-such-cell"}, "there is no cell 'no-such-cell'"),
        ({"bet": "picture, no such words"}, "does not say 'no such words'"),
        ({"joke": "picture"}, "kind: got 'joke', expected one of"),
    ],
)
def test_what_a_chapter_lacks_is_named(slide, said):
    with pytest.raises(ValueError, match=said):
        Deck(ROOT / BLOCK).markdown([slide])


def test_slides_are_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    crowded = {"hand": "whole-block, A block adds … add that too."}
    file = slides.write(BLOCK.stem, [crowded, {"picture": "block-drawing"}], tmp_path)
    if not slides.MARP.exists():
        pytest.skip("needs make slides")
    slides.marp(str(file))
    page = file.with_suffix(".html")
    slides.hold_figures(page)
    assert 'src="figures/' not in page.read_text("utf-8")
    try:
        found = slides.complaints([page])
    except (AssertionError, Error):
        pytest.skip("needs Chromium or Chrome")
    assert found and all("slide 2: cut off" in what for what in found)
