"""Policy file formats: each reads one file into the policy model; some write it too.

A format is a module with `read(text, file, options)` and, where it can be written, `write(policy, options)`; the
registry below picks one by the file's ending, else by what the text looks like. A new format is one module and one line
here.

    format (types) > one module per format > this registry
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from phb.collecting import without_collecting
from phb.encodings import decode
from phb.errors import InputError, each_of
from phb.files import as_text, read_bytes
from phb.formats import ios, ldap, openconfig, policy_agent, smcat, yaml_format
from phb.formats.changes import with_packets
from phb.formats.format import READING, WRITING, Converted, Format, Loss, ReadOptions, WriteOptions
from phb.merge import merge
from phb.model import PolicySet
from phb.notice import Notice
from phb.origin import Origin

__all__ = [
    "FORMATS",
    "POLICY_FILE",
    "Converted",
    "Format",
    "Loss",
    "ReadOptions",
    "WriteOptions",
    "convert",
    "read_content",
    "read_file",
    "read_files",
]

POLICY_FILE = "a readable policy file"
_NOT_UTF_8 = "octets that aren't UTF-8 are read as Windows-1252, of which ISO 8859-1 is a part"

FORMATS = (
    Format(
        "yaml",
        yaml_format.read,
        (".yaml", ".yml"),
        re.compile(r"^phb:\s*\d", re.MULTILINE),
        yaml_format.write_with_losses,
    ),
    Format(
        "policy-agent",
        policy_agent.read,
        (".policy-agent",),
        re.compile(
            r"^\s*(TcpImage|PEPInstance|SetSubnetPrioTosMask|ServiceCategories|ServicePolicyRules|PolicyAction|PolicyRule)\b",
            re.MULTILINE | re.IGNORECASE,
        ),
        policy_agent.write,
        any_octets=True,
    ),
    Format(
        "ios",
        ios.read,
        (".ios",),
        re.compile(
            r"^\s*(!\s*phb:\s*dialect|(class|policy)-map|(ip )?access-list|interface [A-Za-z-]+ ?\d+)\b",
            re.MULTILINE | re.IGNORECASE,
        ),
        ios.write,
        any_octets=True,
    ),
    Format("openconfig", openconfig.read, (".json",), re.compile(r'"(openconfig-qos:)?qos"\s*:\s*\{')),
    Format("ldif", ldap.read, (".ldif",), re.compile(r"^dn::? *\S", re.MULTILINE | re.IGNORECASE)),
    Format("smcat", smcat.read, (".smcat",), re.compile(r"^\s*SMCATCFG\b", re.MULTILINE | re.IGNORECASE)),
)


def read_file(path: str | Path, format_name: str | None = None, options: ReadOptions = READING) -> PolicySet:
    """Read one policy file.

    `format_name` is one of `FORMATS`; None chooses by ending, then by content.

    Raises:
        InputError: The file can't be read, its format isn't known, or its content is wrong.
    """
    content = read_bytes(path, POLICY_FILE)
    return read_content(content, as_text(path), format_name, options)


def read_content(
    content: bytes, name: str, format_name: str | None = None, options: ReadOptions = READING
) -> PolicySet:
    """Read a policy file's bytes; `name` is for errors and the format."""
    whole_file = Origin(name)
    decoded = decode(content, name)
    chosen = _choose(whole_file, decoded.text, format_name)
    if decoded.error is not None and not chosen.any_octets:
        raise decoded.error
    try:
        with without_collecting():
            policy = chosen.read(decoded.text, name, options)
    except InputError:
        raise
    except Exception as error:
        # Errors that a reader didn't foresee are about this file, too, and take one line.
        problem = " ".join(str(error).split())[:200]
        found = f"content that the {chosen.name} reader can't take ({type(error).__name__}: {problem})"
        raise InputError(whole_file, found, f"a {chosen.name} policy file") from error
    if decoded.error is None:
        return policy
    return policy.noting([Notice(Origin(name, decoded.strange_line), _NOT_UTF_8), *policy.notices])


def read_files(
    paths: Sequence[str | Path], format_name: str | None = None, options: ReadOptions = READING
) -> PolicySet:
    """Read several files into the policy set of one node.

    Raises:
        InputError: A file is wrong, or two of them say different things about the same item.
    """
    return merge(each_of(partial(read_file, path, format_name, options) for path in paths))


def convert(policy: PolicySet, to: str, options: WriteOptions = WRITING) -> Converted:
    """Write a policy in another format, one of `FORMATS` by name.

    Raises:
        InputError: There is no such format, it can't be written, or something that it has to say is missing.
    """
    writers = {form.name: form.write for form in FORMATS if form.write is not None}
    write = writers.get(to)
    if write is None:
        raise InputError(Origin("--to"), f"'{to}'", f"one of {', '.join(writers)}")
    converted = write(policy, options)
    # Sorting is stable: losses of one line stay in the writer's order.
    losses = sorted(
        (with_packets(loss, policy) for loss in converted.losses), key=lambda loss: (loss.origin.file, loss.origin.line)
    )
    return replace(converted, losses=tuple(losses))


def _choose(origin: Origin, text: str, format_name: str | None) -> Format:
    if format_name is not None:
        return _named(format_name)
    for form in FORMATS:
        if origin.file.lower().endswith(form.endings):
            return form
    for form in FORMATS:
        if form.signature.search(text):
            return form
    raise InputError(origin, "a file of unknown format", f"one of {_names()} (--format forces one)")


def _named(name: str) -> Format:
    for form in FORMATS:
        if form.name == name:
            return form
    raise InputError(Origin("--format"), f"'{name}'", f"one of {_names()}")


def _names() -> str:
    return ", ".join(form.name for form in FORMATS)
