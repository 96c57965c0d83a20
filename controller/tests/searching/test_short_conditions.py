"""Conditions as short text of a command line."""

import pytest

from phb.errors import InputError
from phb.model import Conditions, Permission
from phb.searching.conditions import TreatmentConditions
from phb.searching.short import parse


def test_words():
    asked = parse('source=10.0.0.0/8 protocol=tcp dscp=ef destination-ports=700-719 vlan="untagged"', "o", Conditions)
    assert str(asked.source) == "10.0.0.0/8"
    assert (asked.protocol, asked.dscp, str(asked.destination_ports), asked.vlan) == (6, 46, "700-719", "untagged")


def test_what_must_not_hold():
    asked = parse("permission=allowed class!=voice level!=0 rule='a b'", "--treatment", TreatmentConditions)
    assert (asked.permission, asked.rule) == (Permission.ALLOWED, "a b")
    denied = [each.negated for each in asked.all_of]
    assert [(each.traffic_class, each.level) for each in denied] == [("voice", None), (None, 0)]
    assert str(denied[0].origin()) == "--treatment"


def test_yaml():
    asked = parse("{any: [{class: voice}, {not: {metered: true}}], tos: {value: 4, mask: 4}}", "o", TreatmentConditions)
    assert [each.traffic_class for each in asked.any_of] == ["voice", None]
    assert asked.tos.mask == 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "--match: found nothing"),
        ("tcp", "found 'tcp'"),
        ("dscp=", "found 'dscp='"),
        ("dscp=xf", "found 'xf', expected a DSCP"),
        ("dscp!=ef", "found 'dscp!=ef', expected 'dscp=...' in --unless"),
        ("dscp=ef dscp=cs1", "found 'dscp' twice"),
        ("dcsp=ef", "unknown key 'dcsp'"),
        ("rule='x", "a quote without its end"),
        ("{dscp: ef", "broken YAML"),
        ("dscp=ef tos=4", "both 'tos' and 'dscp'"),
    ],
)
def test_bad_text(text, found):
    with pytest.raises(InputError) as error:
        parse(text, "--match", Conditions)
    assert str(error.value).startswith("--match")
    assert found in str(error.value)
