"""How these tests read a configuration."""

from collections.abc import Callable

import pytest

from phb.formats import ReadOptions
from phb.formats.ios import read
from phb.model import Dialect, PolicySet


@pytest.fixture
def ios() -> Callable[..., PolicySet]:
    """Read statements as file f; pre-HQF unless another dialect is given."""

    def configuration(text: str, dialect: Dialect = Dialect.IOS_12) -> PolicySet:
        return read(text, "f", ReadOptions(dialect=dialect))

    return configuration
