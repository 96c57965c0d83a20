"""Connection limits count what receivers take for open: real connections, and nothing that anybody makes up."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb.pipeline_names import DropReason
from phb_switch import PortConfig
from tests.examples import share

from ..tcp_ends import Ends, segment

IN, OUT = 2, 1
LIMIT = 3
POLICY = (
    f"actions:\n  - {{name: few, max-connections: {LIMIT}}}\n"
    "rules:\n"
    "  - {name: limited, match: {protocol: tcp, destination-ports: 80}, actions: [few]}\n"
    "  - {name: other, match: {protocol: tcp}}\n"
    "cross-connects:\n  - between: [line, lan]\n"
)
PORTS = {IN: PortConfig(), OUT: PortConfig()}
ESTABLISHED_S, TRANSITORY_S = 7440, 240  # RFC 5382, REQ-5
SLOTS = 65536
BY_SLOT = ["addresses", "ports", "policy", "maximum", "progress", "finish", "followed"]
BY_SIDE = ["connection_sent", "connection_taken"]
BY_SIDE += ["window_" + name for name in ("scale", "segment", "timed_since", "timed_until", "smoothed_us", "least_us")]


class Wire:
    """The switch between clients and a server; time passes by a microsecond per packet unless told otherwise."""

    def __init__(self, switch):
        self.switch = switch
        self.now_us = 1

    def deliver(self, frame, back=False):
        self.now_us += 1
        return len(self.switch.process(OUT if back else IN, frame, self.now_us * 1000)) == 1

    def ends(self, client=1, **said):
        return Ends(self.deliver, client, **said)

    def opened(self, client=1, **said):
        ends = self.ends(client, **said)
        assert ends.open()
        return ends

    def sweep(self):
        """As many packets as there are slots: each looks at one of them."""
        frame = segment((1, 81), "A")
        for _ in range(SLOTS):
            self.deliver(frame)

    def counted(self):
        return sum(self.switch.read_register("connection_count", 0, 16))

    def refused(self):
        return self.switch.read_counter("PhbIngress.drops", DropReason.CONNECTION_LIMIT, 1)[0][0]

    def untracked(self):
        return self.switch.read_counter("PhbIngress.admit.connection.untracked_connections")[0][0]

    def state(self):
        """All that is known of connections."""
        read = self.switch.read_register
        known = {slot: [seen] for slot, seen in enumerate(read("connection_seen")) if seen}
        for slot, cells in known.items():
            cells += [read(f"connection_{name}", slot, 1) for name in BY_SLOT]
            cells += [read(name, 2 * slot, 2) for name in BY_SIDE]
        return known, read("connection_count", 0, 16)


@pytest.fixture
def wire(program):
    return Wire(program(POLICY, PORTS))


VERSIONS = pytest.mark.parametrize("version", [4, 6])


@VERSIONS
def test_a_connection_counts_from_its_handshake_to_its_end(wire, version):
    open_ones = []
    for client in range(LIMIT):
        assert wire.counted() == client
        open_ones.append(wire.opened(client, version=version))
    assert wire.counted() == LIMIT
    late = wire.ends(9, version=version)
    assert not late.send("S")
    assert wire.refused() == 1
    assert open_ones[0].close()
    assert late.open()
    assert not wire.ends(10).send("S")
    assert open_ones[1].reset()
    assert open_ones[2].reset(back=True)
    assert late.close(back=True)
    assert wire.counted() == 0


def test_both_directions_of_a_rule_share_one_limit(program):
    text = POLICY.replace(
        "match: {protocol: tcp, destination-ports: 80}", "match: [{destination-ports: 80}, {source-ports: 80}]"
    )
    wire = Wire(program(text, PORTS))
    for client in range(2):
        wire.opened(client)
    mirrored = Ends(lambda frame, back: wire.deliver(frame, not back), 2)
    mirrored.said = {"addresses": [bytes([10, 0, 2, 1]), bytes([10, 0, 1, 1])]}
    mirrored.ports = mirrored.ports[::-1]
    assert mirrored.open()
    assert not wire.ends(3).send("S")


def test_nothing_is_tracked_unless_a_policy_needs_it(program):
    switch = program("rules:\n  - {name: any}\ncross-connects:\n  - between: [line, lan]\n", PORTS)
    wire = Wire(switch)
    wire.opened()
    assert set(switch.read_register("connection_seen")) == {0}


# --------------------------------------------------------------------------------------------------------------------
# What a receiver ignores
# --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        {"flags": "R", "ahead": 100_000, "wrong": True},
        {"flags": "R", "ahead": 100_000},
        {"flags": "R", "wrong": True},
        {"flags": "R", "ahead": 1},
        {"flags": "RA", "ahead": -1},
        {"flags": "FA", "wrong": True},
        {"flags": "FA", "ahead": 100_000},
    ],
    ids=str,
)
def test_three_hundred_connections_do_not_go_through_a_limit_of_a_hundred(program, attack):
    """A segment that the server ignores doesn't make room for another connection."""
    wire = Wire(program(POLICY.replace(f"max-connections: {LIMIT}", "max-connections: 100"), PORTS))
    alive = 0
    for client in range(300):
        ends = wire.ends(client)
        if ends.open():
            alive += 1
            ends.send(**attack)
            ends.send("PA", 10)
            ends.send("A", back=True)
    assert alive == 100
    assert wire.counted() == 100
    assert wire.refused() == 200


IGNORED = {
    "RST outside the window": {"flags": "R", "ahead": 70_000},
    "RST behind the number": {"flags": "R", "ahead": -1},
    "RST inside the window": {"flags": "R", "ahead": 1},
    "RST with a wrong checksum": {"flags": "R", "wrong": True},
    "RST with a wrong checksum, padded": {"flags": "R", "wrong": True, "trailer": bytes(6)},
    "RST whose checksum is made right by what pads it": {
        **{"flags": "R", "wrong": True, "options": b"\1\1\1\1", "trailer": b"\1\1"},
    },
    "RST cut short": {"flags": "R", "options": b"\1\1\1\1", "cut": 1},
    "FIN with a wrong checksum": {"flags": "FA", "wrong": True},
    "FIN with payload and a wrong checksum": {"flags": "FA", "payload": 333, "wrong": True},
    "FIN outside the window": {"flags": "FA", "ahead": 70_000},
    "FIN behind the number": {"flags": "FA", "ahead": -3},
    "FIN without ACK": {"flags": "F"},
    "FIN of what was never sent": {"flags": "FA", "ack_ahead": 1},
    "FIN of what was sent long ago": {"flags": "FA", "ack_ahead": -200_000},
    "SYN": {"flags": "S"},
    "SYN anywhere": {"flags": "S", "ahead": 123_456_789},
    "SYN, ACK": {"flags": "SA"},
    "payload outside the window": {"flags": "PA", "payload": 10, "ahead": 70_000},
    "payload from long ago": {"flags": "PA", "payload": 10, "ahead": -20_000},
    "payload without ACK": {"flags": "P", "payload": 10},
    "payload, acknowledging what was never sent": {"flags": "PA", "payload": 10, "ack_ahead": 1},
    "payload, acknowledging what was sent long ago": {"flags": "PA", "payload": 10, "ack_ahead": -200_000},
    "payload cut short": {"flags": "PA", "payload": 100, "cut": 1},
    "ACK of what was never sent": {"flags": "A", "ack_ahead": 5},
    "ACK outside the window": {"flags": "A", "ahead": 70_000},
    "SYN and FIN": {"flags": "SF"},
    "nothing at all": {"flags": ""},
}


@VERSIONS
@pytest.mark.parametrize("back", [False, True], ids=["of the client", "of the server"])
@pytest.mark.parametrize("name", IGNORED)
def test_what_its_receiver_ignores_changes_nothing(wire, name, back, version):
    said = dict(IGNORED[name])
    cut = said.pop("cut", 0)
    ends = wire.opened(version=version)
    ends.send("PA", 100)
    ends.send("PA", 200, back=True)
    ends.send("A")
    before = wire.state()
    if cut:
        ends.deliver = lambda frame, back: wire.deliver(frame[:-cut], back)
    assert ends.send(**said, back=back)
    assert wire.state() == before


@VERSIONS
@pytest.mark.parametrize("ahead", [-1, 1, 1_000_000])
def test_who_does_not_see_the_answer_establishes_nothing(wire, version, ahead):
    ends = wire.ends(version=version)
    ends.send("S")
    ends.send("SA", back=True)
    before = wire.state()
    assert ends.send("A", ack_ahead=ahead)
    assert ends.send("PA", 10, ack_ahead=ahead)
    assert ends.send("R", ahead=ahead)
    assert wire.state() == before
    assert ends.send("A")
    assert wire.counted() == 1


@pytest.mark.parametrize("flags", ["A", "PA", "SA", "RA", "FA"])
def test_an_answer_must_acknowledge_the_syn(wire, flags):
    ends = wire.ends()
    ends.send("S")
    before = wire.state()
    for ack_ahead in (-1, 1, 1 << 31):
        ends.send(flags, back=True, ack_ahead=ack_ahead)
    assert wire.state() == before


def test_a_syn_with_a_wrong_checksum_opens_nothing(wire):
    before = wire.state()
    wire.ends().send("S", wrong=True)
    wire.ends().send("S", wrong=True, trailer=bytes(6))
    assert wire.state() == before


@VERSIONS
def test_what_pads_a_frame_does_not_go_round_the_limit(wire, version):
    """A receiver doesn't look behind the datagram."""
    for client in range(LIMIT):
        wire.opened(client, version=version, trailer=b"\xee" * 6)
    assert not wire.ends(9, version=version, trailer=b"\xee" * 6).send("S")
    assert wire.counted() == LIMIT


@pytest.mark.parametrize("fill", [b"\0", b"\xee"])
def test_a_padded_fin_and_a_padded_rst_close(wire, fill):
    """Frames of Ethernet have 60 bytes at least, and bare segments over IPv4 have 54."""
    first, second = (wire.opened(client, trailer=fill * 6) for client in range(2))
    first.close()
    second.reset()
    assert wire.counted() == 0


def test_a_segment_with_a_wrong_checksum_is_forwarded_and_one_with_a_wrong_header_is_not(wire):
    for version in (4, 6):
        for flags in ("S", "R", "FA", "A"):
            assert wire.deliver(segment((1, 81), flags, version=version, wrong=True))
    frame = bytearray(segment((1, 81), "R"))
    for wrong in (False, True):
        for at in (15, 24):  # the ToS octet and the checksum itself
            frame = bytearray(segment((1, 81), "R", wrong=wrong))
            frame[at] ^= 1
            assert not wire.deliver(bytes(frame))
    assert wire.switch.read_counter("PhbIngress.drops", DropReason.BAD_CHECKSUM, 1)[0][0] == 4


def test_a_rst_ahead_of_what_was_acknowledged_closes_if_the_receiver_falls_silent(wire):
    """Whether its receiver has got what was sent before, nobody knows here."""
    ends = wire.opened()
    ends.send("PA", 100)
    ends.reset()
    assert wire.counted() == 1
    wire.now_us += (TRANSITORY_S + 1) * 1_000_000
    wire.sweep()
    assert wire.counted() == 0


def test_a_rst_that_the_receiver_does_not_take_leaves_the_connection_as_it_was(wire):
    """Payload that never arrives, and a RST behind it; the receiver challenges it (RFC 5961 section 3.2)."""
    ends = wire.opened()
    ends.send("PA", 100, ahead=0)
    ends.reset()
    ends.reached[True] -= 100
    ends.send("A", back=True)
    wire.now_us += (ESTABLISHED_S - 1) * 1_000_000
    wire.sweep()
    assert wire.counted() == 1


def test_a_fin_that_is_not_acknowledged_closes_nothing(wire):
    """The receiver may miss what was sent before it, and takes more until it has that."""
    ends = wire.opened()
    ends.send("FA", ahead=500)
    ends.send("A", back=True)
    ends.send("PA", 100)
    ends.send("A", back=True)
    assert wire.counted() == 1


# --------------------------------------------------------------------------------------------------------------------
# Idle connections, and floods
# --------------------------------------------------------------------------------------------------------------------


def test_what_nobody_closed_is_given_up_after_the_idle_time(wire):
    first, *_ = [wire.opened(client) for client in range(LIMIT)]
    wire.now_us += (ESTABLISHED_S - 1) * 1_000_000
    assert first.send("A")
    assert not wire.ends(9).send("S")
    wire.now_us += 2 * 1_000_000
    wire.sweep()
    assert [wire.ends(client).open() for client in range(10, 14)] == [True, True, False, False]


def test_who_is_too_late_may_enter_when_another_leaves(wire):
    """Handshakes that began while there was room: all but so many end in a drop."""
    every = [wire.ends(client) for client in range(LIMIT + 2)]
    for ends in every:
        assert ends.send("S")
        assert ends.send("SA", back=True)
    assert [ends.send("A") for ends in every] == [True] * LIMIT + [False] * 2
    assert not every[LIMIT].send("PA", 100)
    every[0].close()
    assert every[LIMIT].send("PA", 100)
    assert wire.counted() == LIMIT


def flood(wire, seed, count, *, version=4, gap_us=0):
    """SYNs from addresses that are made up."""
    random = Random(seed)
    size = 4 if version == 4 else 16
    for _ in range(count):
        wire.now_us += gap_us
        ends = [random.randbytes(size), b"\x0a\0\2\1" if version == 4 else bytes(15) + b"\1"]
        said = {"seq": random.getrandbits(32), "addresses": ends, "version": version}
        frame = segment((random.randrange(65536), 80), "S", **said)
        assert wire.deliver(frame)


@VERSIONS
def test_a_flood_of_syns_counts_for_nothing_and_displaces_nobody(wire, version):
    established = [wire.opened(client) for client in range(LIMIT - 1)]
    flood(wire, 1, 2 * SLOTS, version=version)
    assert wire.counted() == LIMIT - 1
    # Every slot is taken now, and yet there is one for who comes.
    assert sum(1 for seen in wire.switch.read_register("connection_seen") if seen) > SLOTS * 0.95
    wire.opened(8)
    assert wire.untracked() == 0
    assert not wire.ends(9).send("S")
    for ends in established:
        assert ends.send("PA", 10)
        assert ends.close()
    assert wire.counted() == 1


def test_handshakes_during_a_flood_are_seldom_lost(program):
    """A handshake of 50 ms, and 20,000 SYNs a second."""
    wire = Wire(program(POLICY.replace(f"max-connections: {LIMIT}", "max-connections: 1000"), PORTS))
    flood(wire, 2, SLOTS, gap_us=48)
    started = 50
    for client in range(started):
        ends = wire.ends(client)
        ends.send("S")
        ends.send("SA", back=True)
        flood(wire, client, 1000, gap_us=48)
        ends.send("A")
    assert wire.counted() >= started - 1


def test_a_syn_without_a_slot_passes_and_is_counted(wire):
    """Only connections that are established keep others out."""
    random = Random(1)
    tracked = 0
    for _ in range(12_000):
        ends = wire.ends(server_port=81, version=6)
        ends.ports = (random.randrange(65536), 81)
        ends.said["addresses"] = [random.randbytes(16), bytes(15) + b"\1"]
        before = wire.untracked()
        assert ends.open()
        tracked += wire.untracked() == before
    assert wire.untracked() + tracked == 12_000
    assert wire.untracked() > 0
    assert wire.counted() == tracked


# --------------------------------------------------------------------------------------------------------------------
# A model of two hosts
# --------------------------------------------------------------------------------------------------------------------


class Host:
    """A receiver by RFC 9293 section 3.10.7 and RFC 5961, and what it sends; numbers wrap.

    It keeps what overtakes other segments, takes a RST only at the number that it waits for, and answers what doesn't
    fit with an acknowledgement.
    """

    def __init__(self, first, window, shift):
        self.una = self.next = first
        self.window, self.shift = window, shift
        self.waits = None
        self.held = {}
        self.most_window = 0
        self.alive = True

    def takes(self):
        return self.window << self.shift

    def would_take(self, seq, length, flags, ack):
        """Whether it acts on a segment of a connection that is established."""
        offset = (seq - self.waits + HALF) % CIRCLE - HALF
        if "R" in flags:
            return offset == 0
        if "S" in flags or "A" not in flags:
            return False
        in_window = 0 <= offset < self.takes() or (0 < offset + length <= self.takes() and length) or offset == 0
        behind = (self.next - ack + HALF) % CIRCLE - HALF
        return bool(in_window) and 0 <= behind <= self.next_span()

    def next_span(self):
        return (self.next - self.una) % CIRCLE + self.most_window


CIRCLE, HALF = 1 << 32, 1 << 31


class Pair:
    """Two hosts that talk through the switch over a line that loses and delays; the switch sees what leaves a host."""

    def __init__(self, wire, client, numbers, shifts, version):
        self.wire, self.version, self.ports = wire, version, (2000 + client, 80)
        self.hosts = {False: Host(numbers[0], 60_000, shifts[0]), True: Host(numbers[1], 60_000, shifts[1])}
        self.shifts = shifts

    def options(self, back):
        return b"\2\4\5\xb4\1\3\3" + bytes([self.shifts[back]])

    def emit(self, back, flags, seq, payload=0, *, lost=False, early=False, window=None):
        """A segment of one host; `early` is lost before the switch, `lost` behind it."""
        host, other = self.hosts[back], self.hosts[not back]
        ack = host.waits if "A" in flags and host.waits is not None else 0
        said = {"options": self.options(back)} if "S" in flags else {}
        window = host.window if window is None else window
        frame = segment(
            self.ports,
            flags,
            seq=seq,
            ack=ack,
            window=min(window << host.shift, 65535) if "S" in flags else window,
            payload=bytes(payload),
            back=back,
            version=self.version,
            **said,
        )
        if early or not self.wire.deliver(frame, back) or lost or not other.alive:
            return
        self.arrive(not back, flags, seq, payload, ack)

    def arrive(self, at, flags, seq, payload, ack):
        host = self.hosts[at]
        length = payload + ("S" in flags) + ("F" in flags)
        if "S" in flags:
            host.waits = (seq + length) % CIRCLE
        elif not host.would_take(seq, length, flags, ack):
            return
        elif "R" in flags:
            host.alive = False
        else:
            host.held[seq] = max(length, host.held.get(seq, 0))
            for start in sorted(host.held, key=lambda each: (each - host.waits + HALF) % CIRCLE):
                behind = (host.waits - start + HALF) % CIRCLE - HALF
                if 0 <= behind <= host.held[start]:
                    host.waits = (start + host.held[start]) % CIRCLE
        if "A" in flags and (ack - host.una + HALF) % CIRCLE >= HALF:
            host.una = ack

    def open(self):
        self.emit(False, "S", self.hosts[False].next)
        self.step(False, 1)
        self.emit(True, "SA", self.hosts[True].next)
        self.step(True, 1)
        self.emit(False, "A", self.hosts[False].next)
        for back, host in self.hosts.items():
            host.most_window = self.hosts[not back].takes()

    def step(self, back, length):
        self.hosts[back].next = (self.hosts[back].next + length) % CIRCLE

    def talk(self, back, payload, fates):
        """Payload that is lost and sent again until it arrives, and acknowledgements that may be lost."""
        host, other = self.hosts[back], self.hosts[not back]
        start = host.next
        self.step(back, payload)
        for fate in fates:
            self.emit(back, "PA", start, payload, lost=fate == "lost", early=fate == "early")
            self.emit(not back, "A", other.next, lost=fate == "unheard", early=fate == "unsaid")
        self.emit(back, "PA", start, payload)
        self.emit(not back, "A", other.next)

    def finish(self, back, fates):
        """A FIN from either end, sent until it is acknowledged."""
        for end in (back, not back):
            start = self.hosts[end].next
            self.step(end, 1)
            for fate in fates:
                self.emit(end, "FA", start, lost=fate == "lost", early=fate == "early")
                self.emit(not end, "A", self.hosts[not end].next, lost=fate == "unheard", early=fate == "unsaid")
            self.emit(end, "FA", start)
            self.emit(not end, "A", self.hosts[not end].next)


FATES = st.lists(st.sampled_from(["lost", "early", "unheard", "unsaid", "arrives"]), max_size=3)
NUMBERS = st.sampled_from([0, 1, 5, 0x7FFFFFF0, 0xFFFFFFFF, 0xFFFFFF00, 0x12345678])
TALK = st.tuples(st.booleans(), st.sampled_from([1, 3, 536, 1460]), FATES)
MADE_UP = st.tuples(
    st.booleans(),
    st.sampled_from(["R", "RA", "FA", "PA", "A", "S", "SA", "F", ""]),
    st.one_of(st.integers(0, CIRCLE - 1), st.integers(-3, 3), st.integers(-70_000, 140_000)),
    st.one_of(st.integers(0, CIRCLE - 1), st.integers(-3, 3), st.integers(-140_000, 70_000)),
    st.sampled_from([0, 1, 100]),
    st.booleans(),
)


@given(
    st.tuples(NUMBERS, NUMBERS),
    st.tuples(st.integers(0, 14), st.integers(0, 14)),
    st.sampled_from([4, 6]),
    st.lists(st.one_of(TALK, MADE_UP), max_size=12),
    st.tuples(st.booleans(), FATES, st.sampled_from(["finish", "reset"])),
)
@settings(max_examples=share(80), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_state_is_what_two_hosts_make_it(wire, numbers, shifts, version, drawn, end):
    """A segment that a host would ignore changes nothing, and the end frees the slot, whatever is lost."""
    assert wire.counted() == 0
    pair = Pair(wire, 0, numbers, shifts, version)
    pair.open()
    assert wire.counted() == 1
    for each in drawn:
        if len(each) == 3:
            pair.talk(*each)
            continue
        back, flags, ahead, ack_ahead, payload, wrong = each
        sender, receiver = pair.hosts[back], pair.hosts[not back]
        seq, ack = (receiver.waits + ahead) % CIRCLE, (receiver.next + ack_ahead) % CIRCLE
        length = payload + ("F" in flags) + ("S" in flags)
        checked = wrong and set(flags) & set("SFR")
        if not checked and receiver.would_take(seq, length, flags, ack):
            continue
        if flags == "A" and length == 0 and (ahead == -1):
            continue  # a keepalive is answered, so somebody lives
        if _old_but_plausible(receiver, ahead, length, ack_ahead):
            continue
        before = wire.state()
        wire.deliver(
            segment(
                pair.ports,
                flags,
                seq=seq,
                ack=ack,
                window=sender.window,
                payload=bytes(payload),
                back=back,
                version=version,
                wrong=wrong and bool(checked),
            ),
            back,
        )
        assert wire.state() == before, each
        assert wire.counted() == 1
    back, fates, how = end
    if how == "finish":
        pair.finish(back, fates)
    else:
        pair.emit(back, "R", pair.hosts[back].next)
    assert wire.counted() == 0


def _old_but_plausible(receiver, ahead, length, ack_ahead):
    """Where the switch takes what a receiver by the letter doesn't, as RFC 5961 section 5.2 knows its largest window.

    Both let an acknowledgement be too old by so much; the switch by 65,535 more. And a segment that begins right where
    the window ends is a probe (RFC 9293 section 3.8.6.1).
    """
    window = receiver.takes()
    in_window = ahead + length >= -1 and ahead <= window
    return in_window and -(receiver.next_span() + 65_535 + 1) <= ack_ahead <= 0
