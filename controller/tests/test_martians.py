"""The addresses of `phb.values.martians` are those of the program's constant tables."""

import json
from ipaddress import IPv4Network, IPv6Network

import phb_p4
from phb.values.martians import MARTIAN_DESTINATIONS, MARTIAN_SOURCES


def network(key, bits):
    """The network of a ternary key; None where it asks for nothing, or for other bits than the first."""
    value, mask = int(key["key"], 16), int(key["mask"], 16)
    length = mask.bit_count()
    if not mask or mask != (1 << bits) - (1 << bits - length):
        return None
    return (IPv4Network if bits == 32 else IPv6Network)((value, length))


def test_lists_and_tables_agree():
    program = json.loads(phb_p4.artifact_path().read_text())
    tables = {table["name"].rpartition(".")[2]: table for each in program["pipelines"] for table in each["tables"]}
    keys = [
        [network(key, bits) for key in entry["match_key"]]
        for name, bits in (("martian_ipv4", 32), ("martian_ipv6", 128))
        for entry in tables[name]["entries"]
    ]
    sources, destinations = ({each for each in nets if each is not None} for nets in zip(*keys, strict=True))
    assert (sources, destinations) == (set(MARTIAN_SOURCES), set(MARTIAN_DESTINATIONS))
