"""Policy file formats: each reads one file into the policy model.

A format is a module with `read(text, file)`; the registry below picks one by the file's ending, else by what the text
looks like. A new format is one module and one line here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from phb.errors import InputError
from phb.formats import policy_agent, yaml_format
from phb.merge import merge
from phb.model import PolicySet
from phb.origin import Origin


@dataclass(frozen=True)
class Format:
    """One way to write a policy.

    Attributes:
        name: What `--format` calls it.
        read: Turns (text, file name) into the model; raises InputError.
        endings: File name endings that mean this format without a look inside.
        signature: Found in texts of this format, and in no other's.

    """

    name: str
    read: Callable[[str, str], PolicySet]
    endings: tuple[str, ...]
    signature: re.Pattern[str]


FORMATS = (
    Format("yaml", yaml_format.read, (".yaml", ".yml"), re.compile(r"^phb:\s*\d", re.MULTILINE)),
    Format(
        "policy-agent",
        policy_agent.read,
        (".policy-agent",),
        re.compile(
            r"^\s*(TcpImage|SetSubnetPrioTosMask|ServiceCategories|ServicePolicyRules)\b", re.MULTILINE | re.IGNORECASE
        ),
    ),
)


def read_file(path: str | Path, format_name: str | None = None) -> PolicySet:
    """Read one policy file.

    Args:
        path: The file.
        format_name: One of `FORMATS` by name; None chooses by ending, then by content.

    Raises:
        InputError: The file can't be read, its format isn't known, or its content is wrong.

    """
    whole_file = Origin(str(path))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(whole_file, f"a byte that isn't UTF-8 at offset {error.start}", "UTF-8 text") from None
    except OSError as error:
        raise InputError(whole_file, _lower(error.strerror or str(error)), "a readable policy file") from None
    chosen = _choose(whole_file, text, format_name)
    try:
        return chosen.read(text, str(path))
    except InputError:
        raise
    except Exception as error:
        # Whatever a reader did not foresee is still about this file, and still one line.
        problem = " ".join(str(error).split())[:200]
        found = f"content that the {chosen.name} reader can't take ({type(error).__name__}: {problem})"
        raise InputError(whole_file, found, f"a {chosen.name} policy file") from error


def read_files(paths: Sequence[str | Path], format_name: str | None = None) -> PolicySet:
    """Read several files into the policy set of one node. `format_name` holds for every file.

    Raises:
        InputError: A file is wrong, or two of them say different things about the same item.

    """
    return merge([read_file(path, format_name) for path in paths])


def _choose(origin: Origin, text: str, format_name: str | None) -> Format:
    names = ", ".join(form.name for form in FORMATS)
    if format_name is not None:
        for form in FORMATS:
            if form.name == format_name:
                return form
        raise InputError(Origin("--format"), f"'{format_name}'", f"one of {names}")
    for form in FORMATS:
        if origin.file.lower().endswith(form.endings):
            return form
    for form in FORMATS:
        if form.signature.search(text):
            return form
    raise InputError(origin, "a file of unknown format", f"one of {names} (--format forces one)")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
