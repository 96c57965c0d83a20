"""Lines: what is left out of them, and where statements end."""

import pytest

from phb.errors import InputError
from phb.formats.ios.language.interface_names import take_interface
from phb.formats.ios.language.lines import Words, directives, lines


def words(text):
    return [" ".join(line.words) for line in lines(text, "f")]


def test_comments_blank_lines_and_what_show_prints_are_left_out():
    text = "Building configuration...\n\nCurrent configuration : 812 bytes\n!\n! a comment\nhostname a\n"
    assert words(text) == ["hostname a"]


@pytest.mark.parametrize("text", ["hostname a\r\n\thostname b\r\n", "hostname a\n \t hostname   b\n"])
def test_windows_line_ends_and_tabs(text):
    assert words(text) == ["hostname a", "hostname b"]


def test_indentation_counts_tabs_as_eight():
    assert [line.indent for line in lines("a\n b\n\tc\n", "f")] == [0, 1, 8]


PROMPTS = {
    "R1(config)#policy-map p": ["policy-map p"],
    "core-1.lab(config-pmap-c)# police 8000": ["police 8000"],
    "R1(config-if)#": [],
    "R1(config-if)#do show run": [],
    "R1(config-if)#end": [],
    "\x1b[Khostname a": ["hostname a"],
}


@pytest.mark.parametrize("row", PROMPTS)
def test_statement_is_what_was_typed(row):
    assert words(f"{row}\n") == PROMPTS[row]


@pytest.mark.parametrize(
    "banner",
    [
        "banner motd ^C\ninterface x\n^C",
        "banner motd ^Chello^C",
        "banner exec ^FFor your eyes\ninterface x ^F",
        "banner motd ^Authorised users\nonly ^",
        "banner login #\n! policy-map a\n#",
        "banner \x03\ntext\n\x03",
    ],
)
def test_text_of_a_banner_is_no_statement(banner):
    assert words(f"{banner}\nhostname a\n")[1:] == ["hostname a"]


def test_banner_without_an_end():
    with pytest.raises(InputError, match=r"^f:2: found a banner without an end, expected '#' again"):
        list(lines("hostname a\nbanner motd #\ntext\n", "f"))


def test_place_of_a_line():
    line = next(lines("!\n  ip   address\t1.2.3.4\n", "f"))
    assert (line.origin.file, line.origin.line, line.origin.statement) == ("f", 2, "ip address 1.2.3.4")


def test_directives():
    found = list(directives("! phb: dialect ios-12\n!phb:dialect  x\n! phb dialect\n", "f"))
    assert [(word, rest, origin.line) for word, rest, origin in found] == [
        ("dialect", "ios-12", 1),
        ("dialect", "x", 2),
    ]


INTERFACES = {
    "e0": "Ethernet0",
    "f0/0": "FastEthernet0/0",
    "fif1/0/1": "FiftyGigE1/0/1",
    "FiftyGigabitEthernet1/0/1": "FiftyGigabitEthernet1/0/1",
    "g0/1": "GigabitEthernet0/1",
    "s0/0": "Serial0/0",
    "tw1/0": "TwoGigabitEthernet1/0",
    "twe1/0": "TwentyFiveGigE1/0",
    "lo0": "Loopback0",
    "AppGigabitEthernet1/0/1": "AppGigabitEthernet1/0/1",
}


@pytest.mark.parametrize("typed", INTERFACES)
def test_kind_of_an_interface_may_be_abbreviated(typed):
    (line,) = lines(f"interface {typed}\n", "f")
    assert take_interface(Words(line, 1))[0] == INTERFACES[typed]
