"""Where in a file something was said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a policy file, for errors and explanations; `file` is its name as the user gave it.

    Attributes:
        line: Line number, from 1; 0 when the whole file is meant.
        statement: The statement in the format's own words, such as ``ServicePolicyRules rule1``.
    """

    file: str
    line: int = 0
    statement: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


UNKNOWN = Origin("<memory>")
