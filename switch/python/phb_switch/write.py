"""Write: a batch of updates, each checked, translated and applied.

Every update becomes a *step*: one or more changes of the switch, and what to remember once they are done. Steps of one
change go to the switch together; a step of several (an entry with its counter, a whole array) goes by itself, all or
nothing, so that no update is ever half done.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from finsy.proto import p4r

from phb_switch._native import Update
from phb_switch.bytestrings import decode, encode
from phb_switch.configuration import Configuration
from phb_switch.entries import action_of, key_of
from phb_switch.errors import (
    ABORTED,
    OK,
    OUT_OF_RANGE,
    PERMISSION_DENIED,
    SUCCESS,
    UNIMPLEMENTED,
    Outcome,
    StatusError,
    invalid,
)
from phb_switch.schema import Array, Table

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE


@dataclass(frozen=True, slots=True)
class Step:
    """What one update does to the switch, and what is remembered when that has succeeded."""

    changes: list[Update]
    remember: Callable[[], None]


def apply(configuration: Configuration, updates: Iterable[p4r.Update], *, atomic: bool) -> list[Outcome]:
    """Applies a batch.

    Args:
        configuration: what to write to.
        updates: in this order.
        atomic: all or nothing, and no packet sees anything in between.

    Returns:
        One outcome per update.

    """
    steps: list[Step | StatusError] = []
    for update in updates:
        try:
            steps.append(_plan(update, configuration))
        except StatusError as error:
            steps.append(error)
    return _all_or_nothing(configuration, steps) if atomic else _one_by_one(configuration, steps)


def _all_or_nothing(configuration: Configuration, steps: Sequence[Step | StatusError]) -> list[Outcome]:
    if any(isinstance(step, StatusError) for step in steps):
        return [step.outcome if isinstance(step, StatusError) else _NOT_DONE for step in steps]
    valid = [step for step in steps if isinstance(step, Step)]
    changes = [change for step in valid for change in step.changes]
    results = configuration.switch.write(changes, atomic=True)
    outcomes: list[Outcome] = []
    first = 0
    for step in valid:
        outcomes.append(_of_step(results[first : first + len(step.changes)]))
        first += len(step.changes)
    if all(code == OK for code, _ in outcomes):
        for step in valid:
            step.remember()
    return outcomes


_NOT_DONE: Outcome = (ABORTED, "not applied, since another update of the batch failed")


def _of_step(results: Sequence[Outcome]) -> Outcome:
    """A step's failure; the changes before and after it in an atomic batch are only aborted."""
    failures = [result for result in results if result[0] != OK]
    return next((result for result in failures if result[0] != ABORTED), failures[0] if failures else SUCCESS)


def _one_by_one(configuration: Configuration, steps: Sequence[Step | StatusError]) -> list[Outcome]:
    outcomes: list[Outcome] = [SUCCESS] * len(steps)
    waiting: list[tuple[int, Step]] = []

    def flush() -> None:
        results = configuration.switch.write([step.changes[0] for _, step in waiting], atomic=False)
        for (index, step), result in zip(waiting, results, strict=True):
            outcomes[index] = result
            if result[0] == OK:
                step.remember()
        waiting.clear()

    for index, step in enumerate(steps):
        if isinstance(step, StatusError):
            outcomes[index] = step.outcome
        elif len(step.changes) == 1:
            waiting.append((index, step))
        else:
            flush()
            outcomes[index] = _of_step(configuration.switch.write(step.changes, atomic=True))
            if outcomes[index][0] == OK:
                step.remember()
    flush()
    return outcomes


def _plan(update: p4r.Update, configuration: Configuration) -> Step:
    if update.type not in (INSERT, MODIFY, DELETE):
        raise invalid("the update's type is not set: expected INSERT, MODIFY or DELETE")
    entity = update.entity
    kind = entity.WhichOneof("entity")
    match kind:
        case "table_entry":
            if entity.table_entry.is_default_action:
                return _default_entry(update.type, entity.table_entry, configuration)
            return _table_entry(update.type, entity.table_entry, configuration)
        case "counter_entry":
            _only_modify(update.type, kind)
            return _counter(entity.counter_entry, configuration)
        case "direct_counter_entry":
            _only_modify(update.type, kind)
            return _direct_counter(entity.direct_counter_entry, configuration)
        case "register_entry":
            _only_modify(update.type, kind)
            return _register(entity.register_entry, configuration)
        case "meter_entry":
            _only_modify(update.type, kind)
            return _meter(entity.meter_entry, configuration)
        case None:
            raise invalid("the update has no entity")
        case _:
            raise StatusError(UNIMPLEMENTED, f"{kind} is not supported")


def _only_modify(update_type: int, kind: str) -> None:
    if update_type != MODIFY:
        raise invalid(f"{kind} can only be modified")


def _nothing() -> None:
    """What there is to remember of a change that only the switch holds."""


def _table_entry(update_type: int, entry: p4r.TableEntry, configuration: Configuration) -> Step:
    schema, store = configuration.schema, configuration.store
    table = schema.table(entry.table_id)
    if entry.is_const:
        raise invalid(f"table {table.name}: is_const can not be written")
    key = key_of(entry, table)
    known = store.entry(table.id, key.identity)
    constant = table.is_const or (known is not None and known.is_const)
    only_counter = update_type == MODIFY and entry.HasField("counter_data") and not entry.HasField("action")
    if constant and not only_counter:
        raise StatusError(PERMISSION_DENIED, f"table {table.name}: the program's constant entries can not be changed")
    if update_type == DELETE:
        change = Update.delete(table.name, key.matches, key.priority)
        return Step([change], lambda: store.remove(table.id, key.identity))
    if not table.fields:
        raise invalid(f"table {table.name} has no key, so it has only a default entry")
    _check_resources(entry, table)
    clean = p4r.TableEntry()
    clean.CopyFrom(key.canonical)
    clean.controller_metadata = entry.controller_metadata
    clean.metadata = entry.metadata
    action, parameters = None, list[tuple[str, bytes]]()
    if entry.HasField("action"):
        action, parameters, canonical_action = action_of(entry.action, table, schema)
        clean.action.CopyFrom(canonical_action)
    elif update_type == INSERT:
        raise invalid(f"table {table.name}: an entry to insert needs an action")
    if update_type == INSERT and action is not None:
        changes = [Update.insert(table.name, key.matches, key.priority, action, parameters)]
    else:
        changes = [Update.modify(table.name, key.matches, key.priority, action, parameters)]
    if entry.HasField("counter_data"):
        packets, octets = _counts(entry.counter_data)
        changes.append(Update.direct_counter(table.name, key.matches, key.priority, packets, octets))

    def remember() -> None:
        before = store.entry(table.id, key.identity)
        if before is not None:
            clean.is_const = before.is_const
            if not clean.HasField("action"):
                clean.action.CopyFrom(before.action)
        store.put(key.identity, clean)

    return Step(changes, remember)


def _check_resources(entry: p4r.TableEntry, table: Table) -> None:
    if entry.idle_timeout_ns:
        raise StatusError(UNIMPLEMENTED, f"table {table.name}: idle timeout is not supported")
    if entry.HasField("counter_data") and not table.direct_counter:
        raise invalid(f"table {table.name} has no direct counter")
    if entry.HasField("meter_config") or entry.HasField("meter_counter_data"):
        if not table.direct_meter:
            raise invalid(f"table {table.name} has no direct meter")
        raise StatusError(UNIMPLEMENTED, f"table {table.name}: direct meters are not supported")


def _default_entry(update_type: int, entry: p4r.TableEntry, configuration: Configuration) -> Step:
    schema, store = configuration.schema, configuration.store
    table = schema.table(entry.table_id)
    if update_type != MODIFY:
        raise invalid(f"table {table.name}: the default entry can only be modified")
    if entry.match or entry.priority:
        raise invalid(f"table {table.name}: the default entry has neither match fields nor a priority")
    if entry.is_const:
        raise invalid(f"table {table.name}: is_const can not be written")
    if table.const_default_action:
        raise StatusError(PERMISSION_DENIED, f"table {table.name}: the program's default action is constant")
    _check_resources(entry, table)
    if entry.HasField("counter_data"):
        raise StatusError(UNIMPLEMENTED, f"table {table.name}: the default entry has no counter of its own")
    if not entry.HasField("action"):
        reset = Update.default_action(table.name, None)
        return Step([reset], lambda: store.put_default(table.id, None))
    action, parameters, canonical_action = action_of(entry.action, table, schema, default=True)
    clean = p4r.TableEntry(
        table_id=table.id,
        is_default_action=True,
        controller_metadata=entry.controller_metadata,
        metadata=entry.metadata,
        action=canonical_action,
    )
    change = Update.default_action(table.name, action, parameters)
    return Step([change], lambda: store.put_default(table.id, clean))


def _counts(data: p4r.CounterData) -> tuple[int, int]:
    if data.packet_count < 0 or data.byte_count < 0:
        raise invalid("a counter can not be negative")
    return data.packet_count, data.byte_count


def array_of(arrays: dict[int, Array], array_id: int, what: str) -> Array:
    """The array with this id.

    Raises:
        StatusError: INVALID_ARGUMENT, if there is none.

    """
    if array_id not in arrays:
        raise invalid(f"the p4info has no {what} with id {array_id}")
    return arrays[array_id]


def cells(array: Array, message: p4r.CounterEntry | p4r.RegisterEntry | p4r.MeterEntry) -> range:
    """The cells a message is about: the one it names, or all.

    Raises:
        StatusError: INVALID_ARGUMENT for a negative index, OUT_OF_RANGE for one beyond the end.

    """
    if not message.HasField("index"):
        return range(array.size)
    index = message.index.index
    if index < 0:
        raise invalid(f"{array.name}: index {index} is negative")
    if index >= array.size:
        raise StatusError(OUT_OF_RANGE, f"{array.name}: index {index} is beyond its {array.size} cells")
    return range(index, index + 1)


def _counter(entry: p4r.CounterEntry, configuration: Configuration) -> Step:
    counter = array_of(configuration.schema.counters, entry.counter_id, "counter")
    where = cells(counter, entry)
    if not entry.HasField("data"):
        return Step([], _nothing)
    packets, octets = _counts(entry.data)
    return Step([Update.counter(counter.name, index, packets, octets) for index in where], _nothing)


def _direct_counter(entry: p4r.DirectCounterEntry, configuration: Configuration) -> Step:
    table = configuration.schema.table(entry.table_entry.table_id)
    if not table.direct_counter:
        raise invalid(f"table {table.name} has no direct counter")
    if entry.table_entry.is_default_action:
        raise StatusError(UNIMPLEMENTED, f"table {table.name}: the default entry has no counter of its own")
    key = key_of(entry.table_entry, table)
    if not entry.HasField("data"):
        # Nothing to change, yet the entry must exist.
        return Step([Update.modify(table.name, key.matches, key.priority, None, [])], _nothing)
    packets, octets = _counts(entry.data)
    return Step([Update.direct_counter(table.name, key.matches, key.priority, packets, octets)], _nothing)


def _register(entry: p4r.RegisterEntry, configuration: Configuration) -> Step:
    register = array_of(configuration.schema.registers, entry.register_id, "register")
    where = cells(register, entry)
    if not register.bits:
        raise StatusError(UNIMPLEMENTED, f"register {register.name}: only registers of numbers are supported")
    if entry.data.WhichOneof("data") != "bitstring":
        raise invalid(f"register {register.name}: expected a bitstring")
    value = encode(decode(entry.data.bitstring, register.bits, f"register {register.name}"))
    return Step([Update.register(register.name, index, value) for index in where], _nothing)


def _meter(entry: p4r.MeterEntry, configuration: Configuration) -> Step:
    meter = array_of(configuration.schema.meters, entry.meter_id, "meter")
    where = cells(meter, entry)
    if entry.HasField("counter_data"):
        raise StatusError(UNIMPLEMENTED, f"meter {meter.name}: counters per colour are not supported")
    rates = None
    meters = configuration.store.meters
    if entry.HasField("config"):
        config = entry.config
        rates = (config.cir, config.cburst, config.pir, config.pburst)
        if min(rates) < 0:
            raise invalid(f"meter {meter.name}: rates and bursts can not be negative")
        if config.eburst:
            raise invalid(f"meter {meter.name}: eburst belongs to single-rate meters (RFC 2697), this one is RFC 2698")
        if config.pir < config.cir:
            raise invalid(f"meter {meter.name}: the peak rate {config.pir} is below the committed rate {config.cir}")

    def remember() -> None:
        for index in where:
            if rates is None:
                meters.pop((meter.id, index), None)
            else:
                meters[meter.id, index] = entry.config

    return Step([Update.meter(meter.name, index, rates) for index in where], remember)
