"""Test which cases ``pytest --few`` runs, the option of `make test`."""

from types import SimpleNamespace

import pytest

from tests.conftest import pytest_collection_modifyitems


class Item:
    def __init__(self, nodeid, slow=False):
        self.nodeid = nodeid
        self.slow = slow

    def get_closest_marker(self, name):
        return name if name == "slow" and self.slow else None


def left_after(few, items):
    """Return the names of the items that run, and of those that are reported as out."""
    out = []
    hook = SimpleNamespace(pytest_deselected=lambda items: out.extend(items))
    config = SimpleNamespace(getoption={"few": few}.get, hook=hook)
    kept = list(items)
    pytest_collection_modifyitems(config, kept)
    return [item.nodeid for item in kept], [item.nodeid for item in out]


PAGES = [Item(f"test_pages.py::test_page[{number}]") for number in range(12)]
OTHERS = [
    Item("test_pages.py::test_alone"),
    Item("test_pages.py::test_long", slow=True),
]


def test_a_few_cases_of_each_test_run_spread_evenly():
    kept, out = left_after(5, PAGES + OTHERS)
    cases = [f"test_pages.py::test_page[{number}]" for number in (0, 2, 4, 7, 9)]
    assert kept == [*cases, "test_pages.py::test_alone"]
    assert len(out) == 8 and "test_pages.py::test_long" in out


@pytest.mark.parametrize("few, number", [(None, 14), (12, 13), (1, 2)])
def test_without_the_option_all_run(few, number):
    assert len(left_after(few, PAGES + OTHERS)[0]) == number
