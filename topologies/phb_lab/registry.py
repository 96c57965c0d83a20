"""Networks by name or by path.

Packages register studies as entry points of the group ``phb_lab.networks``. The lab's own entry points are written down
here, because the metadata of packages doesn't keep an order. Nothing is imported before it is needed.
"""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from phb_lab.errors import LabError, UsageError
from phb_lab.study import Study

GROUP = "phb_lab.networks"

# In the order of the sources.
NAMES = ("s390", "isode", "e1", "cip", "osa")

# Folders and files that were loaded by their paths.
_LOADED: list[Path] = []


@cache
def registered() -> dict[str, EntryPoint]:
    """Give the entry point of each network, those of the lab first.

    Raises:
        UsageError: two packages have a network of one name.
    """
    found = {name: EntryPoint(name, f"phb_lab.networks.{name}:STUDY", GROUP) for name in NAMES}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        known = found.setdefault(point.name, point)
        if known.value != point.value:
            raise UsageError(f"network {point.name}: found {known.value} and {point.value}, expected one of that name")
    return found


def is_network(text: str) -> bool:
    """Whether a text names a network: one that is registered, a package's folder, or a Python file."""
    return text in registered() or (Path(text) / "__init__.py").is_file() or text.endswith(".py")


def find(text: str) -> Study[Any]:
    """Find the study of a network by its name, or by the path of its folder or Python file.

    Raises:
        UsageError: there is none, or importing it fails; the message says where.
    """
    if (point := registered().get(text)) is not None:
        with _errors_with_place(text):
            return _checked(text, point.load())
    path = Path(text)
    if not path.exists() and "/" not in text and path.suffix != ".py":
        known = ", ".join(registered())
        raise UsageError(f"network {text}: expected one of: {known}, or the path of a network of your own")
    study = _checked(text, getattr(_module(path), "STUDY", None))
    study.path = text
    return study


def every() -> tuple[Study[Any], ...]:
    """Find all that are registered."""
    return tuple(find(name) for name in registered())


def relative(path: Path) -> str | None:
    """Path of a file below the network that was loaded by its path, with that folder's name; None elsewhere."""
    for where in _LOADED:
        if path.is_relative_to(where) or (where.suffix == ".py" and path.parent == where.parent):
            return str(path.relative_to(where.parent))
    return None


def place(error: BaseException) -> str | None:
    """Say where in a network that was loaded by its path an error was raised, as ``FILE:LINE: ERROR``."""
    if isinstance(error, SyntaxError) and error.filename and _is_loaded(error.filename):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_loaded(frame.filename):
            return f"{frame.filename}:{frame.lineno}: {' '.join(f'{type(error).__name__}: {error}'.split())}"
    return None


def _is_loaded(file: str) -> bool:
    return any(Path(file).is_relative_to(where) for where in _LOADED)


def _module(path: Path) -> ModuleType:
    """Import a folder as a package, or a file as a module, once."""
    where = path.resolve()
    if not where.exists():
        raise UsageError(f"{path}: found no such folder or file, expected a network")
    file = where / "__init__.py" if where.is_dir() else where
    if not file.is_file() or file.suffix != ".py":
        raise UsageError(f"{path}: expected a Python file, or a folder with an __init__.py")
    name = f"phb_lab_network_{sha256(bytes(where)).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file, submodule_search_locations=[str(where)] if where.is_dir() else None)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # its own modules and its dataclasses look for it there
    _LOADED.append(where)
    try:
        with _errors_with_place(str(path)):
            spec.loader.exec_module(module)
    except LabError:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _errors_with_place(text: str) -> Iterator[None]:
    try:
        yield
    except LabError:
        raise
    except Exception as error:
        told = place(error) or f"{text}: {type(error).__name__}: {error}"
        raise UsageError(told) from error


def _checked(text: str, study: object) -> Study[Any]:
    if not isinstance(study, Study):
        found = "no STUDY" if study is None else f"{type(study).__name__} as STUDY"
        raise UsageError(f"{text}: found {found}, expected an instance of phb_lab.study.Study")
    for attribute in ("name", "title", "source", "tests"):
        if not getattr(study, attribute, None):
            raise UsageError(f"{text}: STUDY: found no {attribute}, expected one (see phb_lab.study.Study)")
    return study
