"""Entries and default actions that the program brings, as clients read them."""

from finsy.proto import p4r
from google.protobuf import text_format

from .support import PROGRAMS, Client, artifact, p4info


def canonical(value: bytes) -> bytes:
    return value.lstrip(b"\0") or b"\0"


def made_canonical(entry: p4r.TableEntry) -> p4r.TableEntry:
    """An entry with the shortest strings; p4c pads them."""
    for match in entry.match:
        kind = match.WhichOneof("field_match_type")
        assert kind is not None
        given = getattr(match, kind)
        for field, value in given.ListFields():
            if isinstance(value, bytes):
                setattr(given, field.name, canonical(value))
    for parameter in entry.action.action.params:
        parameter.value = canonical(parameter.value)
    entry.is_const = True
    return entry


def test_entries_are_those_of_p4c(client: Client) -> None:
    client.primary()
    client.configure(info=p4info("constants"), config=artifact("constants"))
    written = text_format.Parse((PROGRAMS / "constants.entries.txtpb").read_text(), p4r.WriteRequest())
    expected = [made_canonical(update.entity.table_entry) for update in written.updates]
    found = client.read(p4r.Entity(table_entry=p4r.TableEntry()))
    assert [entity.table_entry for entity in found] == expected


def test_default_action_of_the_program(client: Client) -> None:
    client.primary()
    info = p4info("constants")
    client.configure(info=info, config=artifact("constants"))
    (ranges,) = [table.preamble.id for table in info.tables if table.preamble.alias == "ranges"]
    (found,) = client.read(p4r.Entity(table_entry=p4r.TableEntry(table_id=ranges, is_default_action=True)))
    assert [parameter.value for parameter in found.table_entry.action.action.params] == [b"\x03"]
