"""Mininet, where Debian's package has put it.

Debian's `mininet` belongs to the system's Python; ours is a virtual environment, perhaps of another one. Mininet is
plain Python, so exactly that package is imported from there. PyPI's `mininet` is an old snapshot without `mnexec`, the
C program that makes namespaces.
"""

import sys
import warnings
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

from phb_lab.errors import LabError

PACKAGE = Path("/usr/lib/python3/dist-packages/mininet")


class MissingMininetError(LabError):
    """Mininet isn't there, or doesn't work with this Python."""


def is_there() -> bool:
    """Whether the package can be found, in this Python or in Debian's place."""
    return "mininet" in sys.modules or find_spec("mininet") is not None or (PACKAGE / "__init__.py").is_file()


def load() -> None:
    """Make `import mininet` work.

    Raises:
        MissingMininetError: it isn't installed, or this Python can't import it.
    """
    if not is_there():
        raise MissingMininetError("Mininet is not installed (Debian: apt-get install mininet)")
    if "mininet" not in sys.modules and find_spec("mininet") is None:
        spec = spec_from_file_location("mininet", PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)])
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules["mininet"] = module
        spec.loader.exec_module(module)
    with warnings.catch_warnings():
        # It imports distutils, which Python 3.11 warns about. Newer ones have it from setuptools, or not at all.
        warnings.simplefilter("ignore")
        try:
            import mininet.net  # noqa: F401
        except ImportError as error:
            raise MissingMininetError(f"this Python can't import Mininet from {PACKAGE}: {error}") from error
