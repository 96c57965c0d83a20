"""MIB modules for net-snmp's commands, made from the columns that the agent has: names and numbers, no words.

Debian has the real modules outside main (snmp-mibs-downloader).
"""

from pathlib import Path

from phb.monitor.snmp import cbqos, slapm
from phb.monitor.snmp.agentx import Syntax

_TYPES = {
    Syntax.INTEGER: "Integer32",
    Syntax.OCTETS: "OCTET STRING",
    Syntax.COUNTER32: "Counter32",
    Syntax.GAUGE32: "Gauge32",
    Syntax.COUNTER64: "Counter64",
}
_INDEX = "INTEGER"


def write_modules(directory: Path) -> None:
    """Write one file for each module: SLAPM-MIB with its tables of rules, CISCO-CLASS-BASED-QOS-MIB with class maps."""
    address = ("slapmPolicyNameSystemAddress", "OCTET STRING")
    number = ("slapmPolicyNameIndex", _INDEX)
    owner = ("slapmPRMonOwnerIndex", "OCTET STRING")
    _write(
        directory / "SLAPM-MIB.txt",
        "SLAPM-MIB",
        [
            ("slapmPolicyNameTable", slapm.NAMES, slapm.NAME_COLUMNS, [address, number]),
            ("slapmPolicyRuleStatsTable", slapm.STATISTICS, slapm.STATISTICS_COLUMNS, [address, number]),
            ("slapmPRMonTable", slapm.MONITORS, slapm.MONITOR_COLUMNS, [owner, address, number]),
        ],
    )
    policy, of_object = ("cbQosPolicyIndex", _INDEX), ("cbQosObjectsIndex", _INDEX)
    _write(
        directory / "CISCO-CLASS-BASED-QOS-MIB.txt",
        "CISCO-CLASS-BASED-QOS-MIB",
        [
            ("cbQosServicePolicyTable", (*cbqos.ROOT, 1, 1, 1, 1), cbqos.SERVICE_POLICY, [policy]),
            ("cbQosCMStatsTable", (*cbqos.ROOT, 1, 15, 1, 1), cbqos.CLASS_MAP_STATISTICS, [policy, of_object]),
        ],
    )


def _write(path: Path, module: str, tables) -> None:
    lines = [f"{module} DEFINITIONS ::= BEGIN"]
    known = set()
    for name, entry, columns, index in tables:
        row = name.removesuffix("Table") + "Entry"
        above = " ".join(str(part) for part in entry[1:-1])
        lines.append(f"{name} OBJECT-TYPE SYNTAX SEQUENCE OF X MAX-ACCESS not-accessible STATUS current")
        lines.append(f'DESCRIPTION "" ::= {{ iso {above} }}')
        names = ", ".join(each for each, _ in index)
        lines.append(f"{row} OBJECT-TYPE SYNTAX X MAX-ACCESS not-accessible STATUS current")
        lines.append(f'DESCRIPTION "" INDEX {{ {names} }} ::= {{ {name} {entry[-1]} }}')
        for place, (each, syntax) in enumerate(index, 200):
            if each not in known:
                lines += _object(each, syntax, "not-accessible", row, place)
                known.add(each)
        for column in columns:
            lines += _object(column.name, _TYPES[column.syntax], "read-only", row, column.number)
    path.write_text("\n".join([*lines, "END", ""]))


def _object(name: str, syntax: str, access: str, row: str, number: int) -> list[str]:
    head = f"{name} OBJECT-TYPE SYNTAX {syntax} MAX-ACCESS {access} STATUS current"
    return [head, f'DESCRIPTION "" ::= {{ {row} {number} }}']
