"""Nothing of the model is silently ignored: whatever a policy leaves out of what it says makes a difference.

Each field of each item of the golden policies is taken away in turn. What is compiled then must differ, in entries,
names, shapers or notices, or what a monitor compares; or be refused.
"""

from datetime import datetime
from enum import Enum

import pytest
from pydantic import ValidationError

from controller.tests.test_golden import INPUTS
from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import read_files
from phb.model import Item, Marking
from phb.model.rules import CodePoints
from phb.monitor.wanted import wanted_of
from phb.names import Names

# A Monday in March, the evening of another, a first Sunday evening in August, and years later.
MOMENTS = [datetime(1999, 3, 1, 12), datetime(1999, 3, 22, 20), datetime(1999, 8, 1, 20), datetime(2030, 3, 1, 12)]

# What is for another than the compiler, by item and field.
ELSEWHERE = {
    ("PolicySet", "time_zone"): "when rules count: `Validity.contains`, for moments with a zone of their own",
    ("Validity", "time_zone"): "the same",
    ("PolicySet", "node"): "which switch of an inventory is meant; part of the intent, not of its entries",
    ("Applicability", "interval_minutes"): "how long `phb show applicability` watches",
    ("Image", "name"): "says which host's stack a Policy Agent's file is of; there is one to a node",
    ("PriorityMapping", "priority"): "queues of adapters: a notice says that they have no effect",
    ("SubnetPriority", "address"): "said where there are queues alone; an address that no port has is refused",
}


UNCHANGED = object()
REQUIRED = "a value without which there is no item"


def items(item, path=()):
    """Every item of a policy, with the way to it."""
    yield path, item
    for name in type(item).model_fields:
        value = getattr(item, name)
        for place, part in enumerate(value if isinstance(value, tuple) else (value,)):
            if isinstance(part, Item):
                yield from items(part, (*path, (name, place)))


def without(item, path, field, value):
    """A copy of the policy in which one field of one item is another."""
    if not path:
        return type(item)(**{**item.__dict__, field: value}).at(item.origin(), item.origins())
    (name, place), *rest = path
    held = getattr(item, name)
    part = without(held[place] if isinstance(held, tuple) else held, rest, field, value)
    changed = (*held[:place], part, *held[place + 1 :]) if isinstance(held, tuple) else part
    return item.model_copy(update={name: changed}).at(item.origin(), item.origins())


def other(value):
    """Something else of the same kind, where leaving it out is no choice."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case Enum():
            return next(each for each in type(value) if each is not value)
        case str():
            return f"{value}-other"
    return UNCHANGED


def outcome(policy, artifact):
    try:
        intents = [compile_policy(policy, artifact, at=at) for at in MOMENTS]
    except InputError as error:
        return str(error)
    wanted = [wanted_of(policy, Names.of(intent, policy)) for intent in intents]
    return [_of(intent) for intent in intents], wanted


def _of(intent):
    notices = [(notice.origin, notice.message) for notice in intent.notices]
    names = intent.policies, intent.profiles, intent.queues, intent.streams, intent.classes, intent.shapers
    return [(entry, dict(entry.match), dict(entry.parameters)) for entry in intent.entries], notices, names


@pytest.fixture(scope="module")
def differences(artifact):
    """Of each field that some golden policy says, whether taking it away made a difference anywhere."""
    found = {}
    for paths in INPUTS.values():
        policy = read_files(paths)
        said = outcome(policy, artifact)
        for path, item in items(policy):
            for field, info in type(item).model_fields.items():
                key, value = (type(item).__name__, field), getattr(item, field)
                default = UNCHANGED if info.is_required() else info.get_default()
                if value == default or found.get(key):
                    continue
                changed = other(value) if info.is_required() else default
                if field == "kind" and not isinstance(value, Enum):
                    changed = UNCHANGED  # what tells the kinds of schedule apart
                found[key] = False
                if changed is UNCHANGED:
                    found[key] = REQUIRED
                    continue
                try:
                    found[key] = outcome(without(policy, path, field, changed), artifact) != said
                except ValidationError:
                    # The model itself refuses such an item.
                    found[key] = True
    return found


def test_every_field_makes_a_difference(differences):
    silent = {key for key, differs in differences.items() if not differs}
    assert not sorted(silent - set(ELSEWHERE))


def test_golden_policies_say_every_field(differences):
    def kinds(kind):
        yield kind
        for each in kind.__subclasses__():
            yield from kinds(each)

    # Only what stands in policies: neither what these have in common nor other files' items (inventories).
    base = {Item, CodePoints, Marking}
    said = [kind for kind in kinds(Item) if kind not in base and kind.__module__.startswith("phb.model.")]
    fields = {(kind.__name__, name) for kind in said for name in kind.model_fields}
    assert not sorted(fields - set(differences) - set(ELSEWHERE))
