import pytest

from phb_lab.emulation import requirements

REASON = requirements.missing()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("mininet") and REASON:
            item.add_marker(pytest.mark.skip(reason=REASON))
