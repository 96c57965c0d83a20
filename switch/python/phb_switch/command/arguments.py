"""bmv2's way of spelling a command line, brought into the one form that the option parser takes.

bmv2 reads its options with Boost.Program_options: a long option may be abbreviated as long as it stays unambiguous, an
option with a value may be given once only, and `--pcap` has a value that may be missing. `--` stands before the options
of the target; here all options are known on both sides of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from phb_switch.command.errors import InputError


@dataclass(frozen=True, slots=True)
class Spelling:
    """How an option is written."""

    takes_value: bool
    repeatable: bool = False
    default_value: str | None = None
    """What the option means when it is given without its value; None: the value must be there."""


def spelled_out(arguments: Sequence[str], options: Mapping[str, Spelling]) -> list[str]:
    """Writes every option in full, with its value behind `=`.

    Args:
        arguments: without the program's name.
        options: by name, with their dashes.

    Returns:
        Arguments that mean the same.

    Raises:
        InputError: an option that does not exist, is ambiguous, or is given too often.

    """
    result: list[str] = []
    given: set[str] = set()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            continue
        if word.startswith("--"):
            abbreviation, equals, value = word.partition("=")
            name = _full_name(abbreviation, options)
        elif len(word) > 1 and word.startswith("-"):
            # A short option's value may follow without a space: -Linfo.
            name, value = word[:2], word[2:]
            equals = "=" if value else ""
            if name not in options:
                raise InputError(f"there is no option {name}; --help lists them")
        else:
            result.append(word)
            continue
        spelling = options[name]
        if name in given and spelling.takes_value and not spelling.repeatable:
            raise InputError(f"{name} is given twice")
        given.add(name)
        if not spelling.takes_value:
            if equals:
                raise InputError(f"{name} takes no value, got {value!r}")
            result.append(name)
            continue
        if not equals:
            value = _following(name, rest, spelling)
        result.append(f"{name}={value}" if name.startswith("--") else f"{name}{value}")
    return result


def _full_name(abbreviation: str, options: Mapping[str, Spelling]) -> str:
    if abbreviation in options:
        return abbreviation
    candidates = sorted(name for name in options if name.startswith(abbreviation))
    if not candidates:
        raise InputError(f"there is no option {abbreviation}; --help lists them")
    if len(candidates) > 1:
        raise InputError(f"{abbreviation} may be {' or '.join(candidates)}")
    return candidates[0]


def _following(name: str, rest: list[str], spelling: Spelling) -> str:
    if spelling.default_value is not None:
        # The next word may be the value or the program. A program is a file, and ends in .json.
        if rest and not rest[0].startswith("-") and not rest[0].endswith(".json") and not Path(rest[0]).is_file():
            return rest.pop(0)
        return spelling.default_value
    if not rest or rest[0] == "--":
        raise InputError(f"{name}: the value is missing")
    return rest.pop(0)
