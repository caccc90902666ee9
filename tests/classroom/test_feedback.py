"""What a student wrote stands in the page as it was, and no link in it does harm."""

import re

import pytest

from classroom.grading.feedback import exporter


def shown(source):
    return exporter().markdown2html({}, source)


def test_words_stay_as_they_were_written():
    text = "The data: four images. A file: none. `javascript:` is a scheme."
    page = shown(text)
    assert "The data: four images. A file: none." in page
    assert "<code>javascript:</code>" in page


@pytest.mark.parametrize(
    "link",
    [
        "[a](javascript:alert(1))",
        "[a](JavaScript&#58;alert(1))",
        "[a](&#x6a;avascript:alert(1))",
        "[a][r]\n\n[r]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "[a](vbscript:x)",
        "[a](data:text/html;base64,PHN2Zz4=)",
        "[a](data:image/svg+xml,x)",
        "[a](file:///etc/passwd)",
        "![a](javascript:alert(1))",
        "![a](data:text/html,x)",
    ],
)
def test_a_link_that_could_do_harm_leads_nowhere(link):
    page = shown(link)
    assert re.findall(r'(?:href|src)="(.*?)"', page) == ["#harmful-link"]


@pytest.mark.parametrize(
    "address",
    ["https://example.org/a?b=c:d", "mailto:ada@example.org", "#heads", "02.html"],
)
def test_a_link_stays(address):
    assert f'href="{address}"' in shown(f"[a]({address})")


def test_a_picture_in_the_text_stays():
    assert 'src="data:image/png;base64,AAAA"' in shown(
        "![a](data:image/png;base64,AAAA)"
    )
