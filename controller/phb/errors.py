"""The errors that a user may meet.

PhbError
├── InputError          a policy file, artifact or option is wrong         exit code 2
│   ├── InputErrors     several things in policy files are wrong
│   └── ArtifactError   the P4 artifact lacks what the policy needs
├── DatabaseError       a database refused, as on a full disk             exit code 1
│   └── DatabaseAwayError   it doesn't answer now, and may again           exit code 1
└── SwitchError         the switch refused or could not be reached         exit code 1
    ├── ElectionIdTakenError   another session has our election id        exit code 1
    ├── PushInterruptedError   Ctrl-C during a push: undone or completed   exit code 130
    └── PushError       some of several switches failed                    exit code 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from phb.origin import Origin
from phb.visible import visible

T = TypeVar("T")


class PhbError(Exception):
    """Base of every error that phb raises on purpose; its lines are a message for a person, nearly always one.

    Line breaks and control characters in what it quotes are escaped; attributes have the words as they were.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(visible(line) for line in lines))


class InputError(PhbError):
    """Something the user wrote is wrong.

    The text always reads ``FILE:LINE: found X, expected Y``, so that an editor can jump there.
    """

    def __init__(self, origin: Origin, found: str, expected: str) -> None:
        super().__init__(f"{origin}: found {found}, expected {expected}")
        self.origin = origin
        self.found = found
        self.expected = expected


MOST_ERRORS = 50
"""How many errors of one run are printed; a person corrects the first ones and asks again."""


class InputErrors(InputError):  # noqa: N818
    """Several things the user wrote are wrong: a line for each, and a last line that counts them.

    `errors` are all of them, also those beyond `MOST_ERRORS`, which aren't printed. The place is that of the first.
    """

    def __init__(self, errors: Sequence[InputError]) -> None:
        first = errors[0]
        count = f"{len(errors)} errors"
        if len(errors) > MOST_ERRORS:
            count += f"; these are the first {MOST_ERRORS}"
        PhbError.__init__(self, *(str(error) for error in errors[:MOST_ERRORS]), count)
        self.origin, self.found, self.expected = first.origin, first.found, first.expected
        self.errors = tuple(errors)


def every(error: InputError) -> tuple[InputError, ...]:
    """Give the single errors that an error stands for."""
    return error.errors if isinstance(error, InputErrors) else (error,)


def each_of(makers: Iterable[Callable[[], T]]) -> list[T]:
    """Call all of them, even after one has failed, so that one run reports all errors."""
    made: list[T] = []
    errors: list[InputError] = []
    for make in makers:
        try:
            made.append(make())
        except InputError as error:
            errors.append(error)
    raise_all(errors)
    return made


def raise_all(errors: Sequence[InputError]) -> None:
    """Raise the one error that there is, or an InputErrors of several; nothing if there is none."""
    if errors:
        single = [part for error in errors for part in every(error)]
        raise single[0] if len(single) == 1 else InputErrors(single)


class ArtifactError(InputError):
    """The P4 artifact or its p4info lacks a table, action or field, or cannot be read."""


class DatabaseError(PhbError):
    """A database refused something, though it is there and rightly named; what was begun there is undone."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


class DatabaseAwayError(DatabaseError):
    """A database doesn't answer now: it can't be reached, starts, ends, is cut off, or took too long."""


class SwitchError(PhbError):
    """The switch refused something, or does not answer; `refusals` has its words for each refused update."""

    def __init__(self, address: str, message: str, refusals: Sequence[str] = ()) -> None:
        super().__init__(f"{address}: {message}", *(f"  {refusal}" for refusal in refusals))
        self.address = address
        self.message = message
        self.refusals = tuple(refusals)


class ElectionIdTakenError(SwitchError):
    """The switch refused arbitration: another session has the same election id."""


class PushInterruptedError(SwitchError):
    """A push was interrupted; the text says whether it was undone or completed."""


class PushError(SwitchError):
    """Pushes to some of several switches failed; the others were finished."""

    def __init__(self, failures: Sequence[SwitchError]) -> None:
        PhbError.__init__(self, *(line for failure in failures for line in str(failure).split("\n")))
        self.address = ", ".join(failure.address for failure in failures)
        self.message = "; ".join(failure.message for failure in failures)
        self.refusals = tuple(refusal for failure in failures for refusal in failure.refusals)
        self.failures = tuple(failures)
