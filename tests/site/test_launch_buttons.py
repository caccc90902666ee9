"""The menu that opens a chapter on Colab, Kaggle or Binder, in a browser."""

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
