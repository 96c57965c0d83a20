"""Operations on numbers of every width agree with Python's integers, for any operands."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phb_switch import PortConfig, Switch
from phb_switch.p4c import ProgramDirectory
from tests.examples import share

PROGRAMS = ProgramDirectory(Path(__file__).parents[3] / "programs")
WIDTHS = {"arithmetic": [1, 9, 32, 33, 64], "arithmetic_wide": [65, 128, 129, 2048]}


def between(low, value, high):
    return max(low, min(value, high))


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


# By the number that the program knows it by: the result of a and b, unsigned and signed, and of an amount.
OPERATIONS = {
    "a + b": lambda bits, a, b, sa, sb, amount: a + b,
    "a - b": lambda bits, a, b, sa, sb, amount: a - b,
    "a * b": lambda bits, a, b, sa, sb, amount: a * b,
    "a |+| b": lambda bits, a, b, sa, sb, amount: between(0, a + b, 2**bits - 1),
    "a |-| b": lambda bits, a, b, sa, sb, amount: between(0, a - b, 2**bits - 1),
    "a & b": lambda bits, a, b, sa, sb, amount: a & b,
    "a | b": lambda bits, a, b, sa, sb, amount: a | b,
    "a ^ b": lambda bits, a, b, sa, sb, amount: a ^ b,
    "~a": lambda bits, a, b, sa, sb, amount: ~a,
    "-a": lambda bits, a, b, sa, sb, amount: -a,
    "a << amount": lambda bits, a, b, sa, sb, amount: a << amount,
    "a >> amount": lambda bits, a, b, sa, sb, amount: a >> amount,
    "a == b": lambda bits, a, b, sa, sb, amount: a == b,
    "a != b": lambda bits, a, b, sa, sb, amount: a != b,
    "a < b": lambda bits, a, b, sa, sb, amount: a < b,
    "a <= b": lambda bits, a, b, sa, sb, amount: a <= b,
    "signed a |+| b": lambda bits, a, b, sa, sb, amount: between(-(2 ** (bits - 1)), sa + sb, 2 ** (bits - 1) - 1),
    "signed a |-| b": lambda bits, a, b, sa, sb, amount: between(-(2 ** (bits - 1)), sa - sb, 2 ** (bits - 1) - 1),
    "signed a >> amount": lambda bits, a, b, sa, sb, amount: sa >> amount,
    "signed a < b": lambda bits, a, b, sa, sb, amount: sa < sb,
    "signed a >= b": lambda bits, a, b, sa, sb, amount: sa >= sb,
    "signed a * b": lambda bits, a, b, sa, sb, amount: sa * sb,
}


def frame(bits, operation, amount, a, b):
    octets = (-(-2 * bits // 8)) + (2 * bits % 8 == 0)
    return bytes([bits >> 8, bits & 255, operation, amount]) + (a << bits | b).to_bytes(octets, "big")


def operand(bits):
    edges = [0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1]
    return st.sampled_from(edges) | st.integers(0, 2**bits - 1)


@pytest.fixture(scope="module", params=WIDTHS)
def loaded(request):
    switch = Switch("dut", {0: PortConfig(), 1: PortConfig()})
    switch.load(PROGRAMS.artifact(request.param).read_text())
    return switch, WIDTHS[request.param]


@settings(max_examples=share(100))
@given(data=st.data())
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_that_of_integers(loaded, name, data):
    switch, widths = loaded
    bits = data.draw(st.sampled_from(widths))
    a, b, amount = data.draw(operand(bits)), data.draw(operand(bits)), data.draw(st.integers(0, 255))
    expected = int(OPERATIONS[name](bits, a, b, signed(a, bits), signed(b, bits), amount)) % 2**bits
    operation = list(OPERATIONS).index(name)
    sent = switch.process(0, frame(bits, operation, amount, a, b), 0)
    assert [(port, data) for _, port, data in sent] == [(1, frame(bits, operation, amount, expected, b))]
