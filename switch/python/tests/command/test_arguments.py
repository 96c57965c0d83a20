"""bmv2's spelling of options."""

import itertools
import re
from pathlib import Path

import pytest

from phb_switch.cli import spellings
from phb_switch.command.arguments import Spelling, spelled_out
from phb_switch.command.errors import InputError

OPTIONS = {
    "--interface": Spelling(takes_value=True, repeatable=True),
    "-i": Spelling(takes_value=True, repeatable=True),
    "--log-level": Spelling(takes_value=True),
    "-L": Spelling(takes_value=True),
    "--log-file": Spelling(takes_value=True),
    "--log-file-max-size": Spelling(takes_value=True),
    "--no-p4": Spelling(takes_value=False),
    "--pcap": Spelling(takes_value=True, default_value="."),
    "--use-files": Spelling(takes_value=True),
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ""),
        ("a.json", "a.json"),
        ("-i 0@a -i1@b a.json", "-i0@a -i1@b a.json"),
        ("--inter 0@a --interface=1@b", "--interface=0@a --interface=1@b"),
        ("-Linfo", "-Linfo"),
        ("--no-p4 -- --log-level warn", "--no-p4 --log-level=warn"),
        ("--no", "--no-p4"),
        ("--log-file x", "--log-file=x"),  # a full name, although it also begins another
        ("--use-files -1", "--use-files=-1"),
        ("--pcap --no-p4", "--pcap=. --no-p4"),
        ("--pcap=dir a.json", "--pcap=dir a.json"),
        ("--pcap dir a.json", "--pcap=dir a.json"),
        ("--pcap a.json", "--pcap=. a.json"),
        ("--pcap", "--pcap=."),
        ("-", "-"),
    ],
)
def test_spelled_out(given: str, expected: str) -> None:
    assert spelled_out(given.split(), OPTIONS) == expected.split()


def test_a_file_is_no_directory_for_captures(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("{}")
    assert spelled_out(["--pcap", str(program)], OPTIONS) == ["--pcap=.", str(program)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--levitate", "there is no option --levitate"),
        ("-x", "there is no option -x"),
        ("--log 3", "--log may be --log-file or --log-file-max-size or --log-level"),
        ("--log-level a --log-level b", "--log-level is given twice"),
        ("--no-p4=1", "--no-p4 takes no value, got '1'"),
        ("--log-level", "--log-level: the value is missing"),
        ("--log-level -- --no-p4", "--log-level: the value is missing"),
    ],
)
def test_refused(given: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        spelled_out(given.split(), OPTIONS)


# What `simple_switch_grpc --help` and `simple_switch --help` of bmv2 1.15 list, and what builds with nanomsg or the
# debugger have besides.
BMV2_FLAGS = [
    "--help",
    "-h",
    "--log-console",
    "--log-flush",
    "--version",
    "-v",
    "--json-version",
    "--no-p4",
    "--debugger",
    "--disable-swap",
    "--enable-swap",
    "--grpc-server-ssl",
    "--grpc-server-with-client-auth",
]
BMV2_VALUES = [
    "--interface",
    "-i",
    "--pcap",
    "--use-files",
    "--thrift-port",
    "--device-id",
    "--nanolog",
    "--log-file",
    "--log-level",
    "-L",
    "--log-file-max-size",
    "--log-file-max-files",
    "--restore-state",
    "--dump-packet-data",
    "--max-port-count",
    "--packet-in",
    "--notifications-addr",
    "--debugger-addr",
    "--load-modules",
    "--grpc-server-addr",
    "--grpc-server-cacert",
    "--grpc-server-cert",
    "--grpc-server-key",
    "--cpu-port",
    "--drop-port",
    "--dp-grpc-server-addr",
    "--priority-queues",
    "--max-mc-groups",
    "--max-l1-entries",
    "--max-l2-entries",
]


@pytest.mark.parametrize(("names", "takes_value"), [(BMV2_FLAGS, False), (BMV2_VALUES, True)])
def test_every_option_of_bmv2_is_known(names: list[str], takes_value: bool) -> None:
    ours = spellings()
    assert {name: ours[name].takes_value for name in names if name in ours} == dict.fromkeys(names, takes_value)


def test_the_documentation_lists_every_option() -> None:
    text = (Path(__file__).parents[4] / "docs" / "switch.md").read_text()
    table = text[text.index("| option | here |") :]
    rows = itertools.takewhile(lambda line: line.startswith("|"), table.splitlines())
    first_cells = " ".join(row.split("|")[1] for row in rows)
    assert set(re.findall(r"`(--?[a-zA-Z][a-z0-9-]*)", first_cells)) == set(spellings())
