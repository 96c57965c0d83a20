"""Files with results."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write the results file."""
    write_text(path, json.dumps(document, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, making its folder; the old file stays whole until the new one is.

    Raises:
        OSError: it can't be written, as on a full disk; names the file, and leaves nothing of the new one.
    """
    special = path.exists() and not path.is_file()  # a device or a pipe: there is nothing to replace
    target = path if special else path.resolve()
    scratch = target if special else target.with_name(target.name + ".new")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        scratch.write_text(text)
        if not special:
            scratch.replace(target)
    except OSError as error:
        if not special:
            scratch.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
