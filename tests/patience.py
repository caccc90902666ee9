"""The time limit of everything that tests wait for, and a browser that keeps it.

It ends a test that hangs, but not one that is slow: on a machine that ten programs
share, a second's work takes ten.
"""

SECONDS = 300
MILLISECONDS = 1000 * SECONDS  # as Playwright counts


class PatientBrowser:
    """A Playwright browser whose pages wait this long for anything."""

    def __init__(self, browser):
        self.browser = browser

    def new_context(self, **options):
        return _made_patient(self.browser.new_context(**options))

    def new_page(self, **options):
        return _made_patient(self.browser.new_page(**options))

    def close(self):
        self.browser.close()


def _made_patient(context_or_page):
    context_or_page.set_default_timeout(MILLISECONDS)
    return context_or_page
