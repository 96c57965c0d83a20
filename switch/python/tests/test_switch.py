"""The native switch by itself: loading, queueing, counting."""

import json

import pytest

from phb_switch import ExecutorName, LoadError, PortConfig, Switch
from phb_switch._native import Match, Update

from .support import artifact

DROP = 1
MULTICAST = 2


def ranked(ports: dict[int, PortConfig] | None = None) -> Switch:
    switch = Switch("ranked", {0: PortConfig(), 1: PortConfig(rate_bps=8_000_000)} if ports is None else ports)
    switch.load(artifact("ranked").decode())
    return switch


def frame(port: int, rank: int = 0, *, verdict: int = 0, kind: int = 0, length: int = 1000) -> bytes:
    """A frame that says what ranked.p4 is to do with it."""
    header = bytes([verdict, 0, 0, 0]) + port.to_bytes(2, "big") + rank.to_bytes(6, "big") + kind.to_bytes(2, "big")
    return header.ljust(length, b"\0")


def test_load_error_has_path_and_message() -> None:
    program = json.loads(artifact())
    program["actions"][4]["primitives"][0]["op"] = "levitate"
    switch = Switch("s", {})
    with pytest.raises(LoadError) as caught:
        switch.load(json.dumps(program))
    assert caught.value.path.startswith("/actions/4/primitives/0")
    assert "levitate" in caught.value.message
    assert str(caught.value) == f"artifact {caught.value.path}: {caught.value.message}"
    assert not switch.loaded


def test_program_survives_a_failed_load() -> None:
    switch = ranked()
    with pytest.raises(LoadError):
        switch.load("{")
    assert switch.loaded
    assert len(switch.process(0, frame(1), 0)) == 1


@pytest.mark.parametrize("executor", ["native", "interpreter"])
def test_a_program_runs_as_asked(executor: ExecutorName) -> None:
    switch = Switch("s", {0: PortConfig(), 1: PortConfig(rate_bps=8_000_000)}, executor=executor)
    assert switch.execution is None
    switch.load(artifact("ranked").decode())
    told = switch.execution
    assert told is not None
    assert (told["executor"], told["reason"]) == (executor, None)
    assert (told["code_bytes"] > 0) == (executor == "native")
    assert switch.process(0, frame(1), 500) == ranked().process(0, frame(1), 500)


def test_a_program_beyond_the_bounds_is_interpreted_and_says_why() -> None:
    program = json.loads(artifact("ranked"))
    states = program["parsers"][0]["parse_states"]
    states += [states[-1] | {"name": f"further_{number}", "id": 1000 + number} for number in range(4096)]
    switch = Switch("s", {})
    switch.load(json.dumps(program))
    reason = "it has more than 4096 parser states"
    assert switch.execution == {"executor": "interpreter", "reason": reason, "code_bytes": 0}


def test_an_executor_that_is_none() -> None:
    with pytest.raises(ValueError, match="executor \"jit\": expected 'native' or 'interpreter'"):
        Switch("s", {}, executor="jit")  # type: ignore[arg-type]


def test_line_rate() -> None:
    # 1000 bytes at 8 Mbit/s.
    assert [at for at, _, _ in ranked().process(0, frame(1), 500)] == [1_000_500]
    overhead = {0: PortConfig(), 1: PortConfig(rate_bps=8_000_000, overhead_bytes=-7)}
    assert [at for at, _, _ in ranked(overhead).process(0, frame(1), 500)] == [993_500]


def test_what_becomes_of_packets() -> None:
    switch = ranked()
    for given in (
        frame(1),
        frame(1, verdict=DROP),
        frame(1, verdict=MULTICAST),
        frame(300),
        frame(1, kind=0xDEAD),
        frame(511),
    ):
        switch.process(0, given, 0)
    counters = switch.statistics()
    assert counters["received"] == 6
    assert counters["transmitted"] == 1
    assert {reason: count for reason, count in counters["dropped"].items() if count} == {
        "ingress": 2,
        "multicast": 1,
        "unknown_port": 1,
        "egress": 1,
    }
    assert counters["ports"][0]["received_bytes"] == 6000
    assert counters["ports"][1]["transmitted_bytes"] == 1000
    assert switch.check() == 0


def test_no_program() -> None:
    switch = Switch("empty", {0: PortConfig()})
    assert switch.process(0, b"x" * 60, 0) == []
    assert switch.statistics()["dropped"]["no_pipeline"] == 1
    assert switch.write([Update.default_action("t", None)], atomic=False)[0][0] == 9
    with pytest.raises(RuntimeError, match="no program"):
        switch.tables()


def test_adopt_moves_program_and_state() -> None:
    first, second = Switch("a", {0: PortConfig(), 1: PortConfig()}), Switch("b", {})
    second.load(artifact().decode())
    matches = [("ingress_port", Match.exact(b"\x00"))]
    insert = Update.insert("RouterIngress.cross_connect", matches, 0, "RouterIngress.forward", [("port", b"\x01")])
    assert second.write([insert], atomic=True) == [(0, "")]
    first.adopt(second)
    assert not second.loaded
    assert [port for _, port, _ in first.process(0, bytes(60), 0)] == [1]
    with pytest.raises(ValueError, match="no program"):
        first.adopt(second)


def test_reading_arrays() -> None:
    switch = Switch("s", {})
    switch.load(artifact().decode())
    switch.write([Update.register("RouterIngress.last_length", 15, b"\x01\x00")], atomic=False)
    assert switch.read_register("RouterIngress.last_length", 14) == [0, 256]
    assert switch.read_register("RouterIngress.last_length", 15, 1) == [256]
    with pytest.raises(IndexError, match="16 cells"):
        switch.read_register("RouterIngress.last_length", 15, 2)
    with pytest.raises(KeyError, match="nothing"):
        switch.read_register("nothing")
    with pytest.raises(KeyError, match="nothing"):
        switch.read_counter("nothing")
    [(code, words)] = switch.write([Update.register("RouterIngress.last_length", 0, b"\x01" * 17)], atomic=False)
    assert (code, words) == (3, "register RouterIngress.last_length: a value of 129 bits does not fit 32")


@pytest.mark.parametrize("ports", [{512: PortConfig()}, {-1: PortConfig()}, {511: PortConfig()}, {0: 5}])
def test_wrong_ports(ports: dict[int, PortConfig]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Switch("s", ports)


def test_ports_can_change() -> None:
    switch = ranked()
    switch.set_port(1, PortConfig(rate_bps=16_000_000, transmit_ring=2))
    assert switch.ports()[1] == PortConfig(rate_bps=16_000_000, transmit_ring=2)
    assert [at for at, _, _ in switch.process(0, frame(1), 0)] == [500_000]
    switch.set_port(300, PortConfig())
    assert [port for _, port, _ in switch.process(0, frame(300), 1_000_000)] == [300]
