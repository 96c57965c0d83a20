"""What the client wrote, as it wants to read it back.

The switch holds what packets need; this holds the rest (metadata, order of writing) and answers reads without asking
the switch. Entries are kept serialized: a hundred thousand message objects would take ten times the memory.
"""

from collections.abc import Iterator

from finsy.proto import p4r


class Store:
    """Table entries, default entries and meter configurations in canonical form."""

    def __init__(self) -> None:
        self._entries: dict[int, dict[bytes, bytes]] = {}
        self._defaults: dict[int, bytes] = {}
        self._program_defaults: dict[int, bytes] = {}
        self.meters: dict[tuple[int, int], p4r.MeterConfig] = {}
        self.client_defaults: set[int] = set()

    def entries(self, table_id: int) -> Iterator[p4r.TableEntry]:
        """The entries of a table in the order of their insertion, without the default entry."""
        for serialized in self._entries.get(table_id, {}).values():
            yield p4r.TableEntry.FromString(serialized)

    def entry(self, table_id: int, identity: bytes) -> p4r.TableEntry | None:
        """The entry with this key, None if there is none."""
        serialized = self._entries.get(table_id, {}).get(identity)
        return None if serialized is None else p4r.TableEntry.FromString(serialized)

    def put(self, identity: bytes, entry: p4r.TableEntry) -> None:
        """Adds or replaces an entry."""
        self._entries.setdefault(entry.table_id, {})[identity] = entry.SerializeToString()

    def remove(self, table_id: int, identity: bytes) -> None:
        """Removes an entry, if it is there."""
        self._entries.get(table_id, {}).pop(identity, None)

    def default(self, table_id: int) -> p4r.TableEntry:
        """The default entry of a table; without an action where the program's own is not known."""
        serialized = self._defaults.get(table_id, self._program_defaults.get(table_id))
        if serialized is None:
            return p4r.TableEntry(table_id=table_id, is_default_action=True)
        return p4r.TableEntry.FromString(serialized)

    def put_program_default(self, entry: p4r.TableEntry) -> None:
        """Sets what a reset of the default entry goes back to."""
        self._program_defaults[entry.table_id] = entry.SerializeToString()

    def put_default(self, table_id: int, entry: p4r.TableEntry | None) -> None:
        """Sets the default entry; None goes back to the program's."""
        if entry is None:
            self._defaults.pop(table_id, None)
            self.client_defaults.discard(table_id)
        else:
            self._defaults[table_id] = entry.SerializeToString()
            self.client_defaults.add(table_id)
