"""How long a test waits for what has to happen, and a browser that is waited for so.

Patience ends a test that hangs and never one that is slow: on a machine shared by ten,
what takes a second takes ten. All waiting in tests ends here, after minutes.
"""

SECONDS = 300
MILLISECONDS = 1000 * SECONDS  # as Playwright counts


class PatientBrowser:
    """A browser of Playwright's whose pages wait so long, whatever they wait for."""

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
