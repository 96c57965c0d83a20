"""Expectations of a policy: a YAML file beside it, with the policy files' quality of errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import ConfigDict, Field, model_validator

from phb.errors import InputError
from phb.files import read_text
from phb.formats import yaml_format
from phb.model import Conditions, Item, Name
from phb.model.base import NonEmpty, OneOrMany, unexpected
from phb.searching.conditions import TreatmentConditions

VERSION_KEY: Final = "phb-expectations"
KINDS: Final = ("always", "never", "only", "sometimes")


class Expectation(Item):
    """Which packets are treated how: exactly one of always, never, only and sometimes.

    Attributes:
        name: What is expected, in words.
        match: The packets that meet any of these; without it, every frame.
        unless: But not those that meet any of these.
        always: Holds whatever becomes of each of these packets.
        never: Holds whatever becomes of none of them.
        only: Holds of no other packet.
        sometimes: Holds of at least one of them.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [kind]} for kind in KINDS]})

    name: Name
    match: Annotated[tuple[Conditions, ...], NonEmpty(), OneOrMany()] = ()
    unless: Annotated[tuple[Conditions, ...], OneOrMany()] = ()
    always: TreatmentConditions | None = None
    never: TreatmentConditions | None = None
    only: TreatmentConditions | None = None
    sometimes: TreatmentConditions | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            found = f"both '{given[0]}' and '{given[1]}'" if given else "no expectation"
            raise unexpected(found, "one of 'always', 'never', 'only' and 'sometimes'", given[1] if given else "name")
        if self.only is not None and not (self.match or self.unless):
            raise unexpected("'only' of every frame", "'match': those that may be treated so", "only")
        return self

    @property
    def kind(self) -> str:
        """Which of the four it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def asked(self) -> TreatmentConditions:
        """What is asked of the treatment."""
        asked: TreatmentConditions = getattr(self, self.kind)
        return asked


class Expectations(Item):
    """What is expected of one node's policy.

    Attributes:
        policies: All policy files of the node, relative to this file; none where the command line names them.
    """

    policies: tuple[Annotated[str, Field(min_length=1, strict=True)], ...] = ()
    expectations: Annotated[tuple[Expectation, ...], NonEmpty()]


def read_expectations(path: Path) -> Expectations:
    """Read a file of expectations; its policies are then relative to where the command runs.

    Raises:
        InputError: It can't be read, says something wrong, or has two expectations of one name.
    """
    said = yaml_format.read_as(read_text(path, "a readable file of expectations"), str(path), Expectations, VERSION_KEY)
    names: dict[str, Expectation] = {}
    for each in said.expectations:
        if each.name in names:
            found, known = f"expectation '{each.name}' again", names[each.name].origin("name")
            raise InputError(each.origin("name"), found, f"it once; it also stands at {known}")
        names[each.name] = each
    resolved = tuple(name if "://" in name else str(path.parent / name) for name in said.policies)
    return said.model_copy(update={"policies": resolved}).at(said.origin(), said.origins())


def schema() -> dict[str, Any]:
    """Give the JSON schema (draft 2020-12) of a file of expectations."""
    return yaml_format.schema_of(Expectations, VERSION_KEY, "phb expectations")
