"""The menu that opens a chapter on Colab, Kaggle or Binder, in a browser."""

import pytest

from book._extensions.theme.header_menus import add_kaggle

CHAPTER = "notebooks/02_patch_embedding.html"
MENU = ".dropdown-launch-buttons"


def test_by_keyboard(browser, site):
    tab = browser.new_page()
    tab.goto(site + CHAPTER, wait_until="networkidle")
    tab.locator(f"{MENU} > button").press("Enter")
    for name in ("Colab", "Kaggle", "Binder"):
        tab.keyboard.press("ArrowDown")
        assert tab.locator(":focus").inner_text().strip() == name
        assert tab.get_by_role("link", name=name).locator("visible=true").count() == 1
    tab.close()


def test_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(site + CHAPTER)
    links = tab.locator(f"{MENU} a")
    assert [link.is_visible() for link in links.all()] == [False] * 3
    tab.locator(f"{MENU} > button").focus()
    assert [link.is_visible() for link in links.all()] == [True] * 3
    tab.keyboard.press("Tab")
    assert tab.locator(f"{MENU} a:focus").count() == 1
    context.close()


def test_it_says_what_it_is_for(browser, site):
    tab = browser.new_page()
    tab.goto(site + CHAPTER)
    menu = tab.locator(f"{MENU} > button")
    name = "Run this page: Colab, Kaggle, Binder"
    assert tab.get_by_role("button", name=name).count() == 1
    shown = menu.evaluate("b => getComputedStyle(b, '::after').content")
    assert shown == '"Run"'
    tab.goto(f"{site}book/intro.html")
    name = "Run chapter 1: Colab, Kaggle, Binder"
    tab.get_by_role("button", name=name).click()
    for link in tab.locator(f"{MENU} a").all():
        assert link.is_visible()
        assert link.get_attribute("href").endswith("01_why_patches.ipynb")
    tab.close()


class Book:
    """The part of Sphinx's application that the menu uses."""

    class config:
        html_theme_options = {  # noqa: RUF012
            "repository_url": "https://github.com/ann/course",
            "repository_branch": "main",
        }


@pytest.mark.parametrize(
    "set_by_the_fork, shown",
    [
        (["Binder", "Colab"], ["Colab", "Kaggle", "Binder"]),
        (["Colab"], ["Colab", "Kaggle"]),
        (["Binder"], ["Kaggle", "Binder"]),
        (["JupyterHub", "Colab"], ["Colab", "Kaggle", "JupyterHub"]),
    ],
)
def test_a_fork_may_set_any_of_the_addresses(set_by_the_fork, shown):
    menu = {
        "label": "launch-buttons",
        "buttons": [{"text": name} for name in set_by_the_fork],
    }
    context = {"header_buttons": [{"label": "repository"}, menu]}
    add_kaggle(Book, "notebooks/01_why_patches", "page.html", context, None)
    assert [button["text"] for button in menu["buttons"]] == shown
    [kaggle] = [button for button in menu["buttons"] if button["text"] == "Kaggle"]
    for button in menu["buttons"]:
        says = "minutes" in button.get("tooltip", "")
        assert says == (button["text"] == "Binder"), "it alone takes minutes to start"
    assert "ann/course/blob/main/notebooks/01_why_patches.ipynb" in kaggle["url"]
