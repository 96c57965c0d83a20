r"""Messages of different precedence over 512 kbit/s behind a Cisco 2811 (Isode, for NATO).

::

    naples ------------------------------ sar2811 ============= WAN ============= act
    MTA 10.10.64.10                       queues, shaper        2 Mbit/s          MTA 10.10.80.10
    loads .31 and .11 (CS1), .40 (CS2)

A message transfer agent (MTA) in Naples sends messages to one at ACT, over one connection for each precedence, whose
packets it marks itself. A dummy load of 1 Mbit/s, which nothing slows down, comes from the same LAN; the router marks
it by its source address. The tests differ in how the router queues, in whether the load runs, and in what is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.table import Table

import phb_examples
from phb_lab import data_files
from phb_lab.analysis import isode as analysis
from phb_lab.analysis.isode import Asked, Sending
from phb_lab.description import Datagrams, Host, Messages, Network, Port, Switch, Wire
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Study, Test

PUBLISHED_KEY = "isode_nato"

SECOND = 1_000_000_000

EXAMPLES = Path(phb_examples.__file__).parent
PORTS = EXAMPLES / "ios" / "sar2811-ports.yaml"
LOAD = EXAMPLES / "isode" / "load.ios"
UNSHAPED = (EXAMPLES / "isode" / "unshaped.ios", PORTS)
SHAPED = (EXAMPLES / "isode" / "shaped.ios", LOAD, PORTS)
THREE_QUEUES = (EXAMPLES / "ios" / "sar2811-queues.ios", LOAD, PORTS)
DEFAULTS = (EXAMPLES / "isode" / "wred-defaults.ios", LOAD, PORTS)
PRINTED = (EXAMPLES / "ios" / "sar2811.ios", PORTS)
AGGRESSIVE = (EXAMPLES / "isode" / "wred-aggressive.ios", LOAD, PORTS)
ANSWER = (EXAMPLES / "isode" / "answer.ios", PORTS)
# The source's, as the published data calls them.
_ROUTERS = {
    UNSHAPED: "default",
    SHAPED: "shaper",
    THREE_QUEUES: "three queues",
    DEFAULTS: "one queue",
    PRINTED: "one queue",
}

# IEEE 802.3: preamble and delimiter (8), FCS (4), inter-frame gap (12).
ETHERNET_OVERHEAD = 8 + 4 + 12
LAN_BPS = 100_000_000  # "speed 100" of FastEthernet0/1
WAN_BPS = 2_000_000  # "provided JFC Naples with access to 2 MBit/second throughput"

# No host is described. 17,520 bytes, 12 segments of 1,460, is what Windows 2000 to 2003 offer on Ethernet.
MTU_BYTES = 1500
WINDOW_BYTES = 17_520
DELAYED_ACK_NS = 200_000_000
ANSWER_BYTES = 100  # the receiving MTA's acknowledgement of a message; its length is not given

MTA_NAPLES = "10.10.64.10"
MTA_ACT = "10.10.80.10"  # not given
# The hosts that the printed access lists know, by the class selector that the router gives their packets.
LOAD_ADDRESSES = {1: ("10.10.64.31", "10.10.64.11"), 2: ("10.10.64.40", "10.10.64.40")}
LOAD_PORT = 6000
LOAD_BPS = 1_000_000
# "override" appears in the first round's tables; its port is cut from the source: the next one after flash.
OVERRIDE_PORT = 5004

# Class selector n is precedence n of the ToS octet (RFC 2474, section 4.2.2).
PRECEDENCE_SHIFT = 5

# Calibrated, see docs/networks/isode.md: the WAN's one-way delay from the 1 kByte row of the unshaped table, the frames
# that it loses from the 10 MByte row.
DELAY_US = 13_300
LOSS_PER_MILLION = 30_000

# "Note that overlap is not perfect, due to the time taken to start off the subsequent messages": how much is not given.
PARALLEL_STAGGER_S = 5
# What a message's submission is drawn from: a person clicks.
SUBMISSION_SPREAD_NS = SECOND


@dataclass(frozen=True)
class Setting(Test):
    """One test of the source, or one of ours for the question that it left open.

    Attributes:
        published: path of the test's figures in the published data.
        policies: of the router.
        sendings: messages in order of time.
        load_s: from when on the dummy load runs; None is without it.
        lossy: whether the WAN loses frames. It does not where the published unloaded rate leaves no room for losses.
        captured: whether the router's ports are captured; not where hours of load would fill a disk and say nothing.

    """

    published: str = ""
    policies: tuple[Path, ...] = PRINTED
    sendings: tuple[Sending, ...] = ()
    load_s: float | None = None
    lossy: bool = True
    captured: bool = True


# What is asked of the policy that the source did not find: 90 % of the unloaded rate for CS2 ...
KEPT = Asked(low=0.9)
# ... and progress of CS0 and CS1: more than the 3 kbit/s that CS0 had beside the source's reserved queues.
PROGRESS = Asked(low=3.0)

# Under which the answer to the open question is run as well: where it holds, and where it does not.
CIRCUMSTANCES: tuple[Mapping[str, int], ...] = (
    {"load_class": 2},
    {"loads": 2},
    {"load_bytes": 200},
    {"load_bytes": 1_472},
    {"window_bytes": 8_760},
    {"window_bytes": 65_535},
    {"loss_one_queue": 5_000},
    {"loss_one_queue": LOSS_PER_MILLION},
)
_VARIED = ("one-queue-load-printed", "aggressive", "answer")

_ROUND_1 = "round1_unshaped_2mbps"
_ROUND_2 = "round2_shaped_512k"
_QUEUES = f"{_ROUND_2}.two_queues_cs1_50_cs2_50"
_ONE_QUEUE = f"{_ROUND_2}.single_queue_ordered_dropping"


def _parallel(number: int) -> Setting:
    """Test of the first round with so many 10 MByte messages; 1 MByte ones before, for runs of a minute."""
    published = data_files.published()[PUBLISHED_KEY][_ROUND_1]["parallel_10M_s"][number - 2]
    sent = [key for key in published if not key.endswith(".kbps")]
    precedences = sorted(sent, key=list(data_files.published()[PUBLISHED_KEY]["connections"])[::-1].index)
    return Setting(
        name=f"parallel-{number}",
        title=f"{number} messages of 10 MByte at once, unshaped",
        duration_s=450,
        published=f"{_ROUND_1}.parallel_10M_s.{number - 2}",
        policies=UNSHAPED,
        sendings=tuple(
            Sending(precedence, size, start_s + place * stagger_s, quantity.format(precedence))
            for size, start_s, stagger_s, quantity in (
                ("1M", 1, 0, "{}_1M"),
                ("10M", 100, PARALLEL_STAGGER_S, "{}"),
            )
            for place, precedence in enumerate(precedences)
        ),
    )


def _settings() -> tuple[Setting, ...]:
    return (
        Setting(
            name="unshaped",
            title="one message at a time over 2 Mbit/s, 1 kByte to 10 MByte",
            duration_s=1050,
            published=f"{_ROUND_1}.single",
            policies=UNSHAPED,
            # "The best result is shown over a small number of tests": how small is not given.
            sendings=tuple(
                Sending("flash", size, start_s + number * spacing_s, size)
                for size, start_s, spacing_s, best_of in (
                    ("1k", 1, 2, 5),
                    ("10k", 11, 5, 5),
                    ("100k", 36, 10, 5),
                    ("1M", 90, 50, 5),
                    ("10M", 350, 350, 2),
                )
                for number in range(best_of)
            ),
        ),
        *(_parallel(number) for number in range(2, 6)),
        Setting(
            name="shaped",
            title="one message at a time, shaped to 512 kbit/s",
            duration_s=330,
            published=f"{_ROUND_2}.single",
            policies=SHAPED,
            sendings=(Sending("immediate", "1M", 1, "1M"), Sending("immediate", "10M", 60, "10M")),
        ),
        Setting(
            name="load-alone",
            title="the dummy load alone, shaped to 512 kbit/s",
            duration_s=60,
            published=_ROUND_2,
            policies=SHAPED,
            load_s=1,
        ),
        Setting(
            name="queues-messages",
            title="three queues: CS3 message during a CS0 message in the same queue",
            duration_s=600,
            published=f"{_QUEUES}.message_vs_message",
            policies=THREE_QUEUES,
            sendings=(
                Sending("flash", "1M", 1, "flash_1M_alone"),
                Sending("routine", "10M", 45, "routine_10M_alone"),
                Sending("routine", "10M", 320, "routine_10M", base="routine_10M_alone"),
                Sending("flash", "1M", 360, "flash_1M", base="flash_1M_alone"),
            ),
        ),
        Setting(
            name="queues-load-immediate",
            title="three queues: CS2 messages beside the CS1 load",
            duration_s=1000,
            published=f"{_QUEUES}.with_cs1_background",
            policies=THREE_QUEUES,
            sendings=(
                Sending("immediate", "1M", 1, "immediate_1M_alone"),
                Sending("immediate", "10M", 45, "immediate_10M_alone"),
                Sending("immediate", "1M", 330, "immediate_1M", base="immediate_1M_alone"),
                Sending("immediate", "10M", 400, "immediate_10M", base="immediate_10M_alone"),
            ),
            load_s=320,
        ),
        Setting(
            name="queues-load-routine",
            title="three queues: a CS0 message beside the CS1 load",
            duration_s=600,
            published=f"{_QUEUES}.with_cs1_background",
            policies=THREE_QUEUES,
            sendings=(Sending("routine", "10k", 5, "routine_10k"),),
            load_s=1,
        ),
        Setting(
            name="queues-load-routine-1M",
            title="three queues: a CS0 message of 1 MByte beside the CS1 load, for hours",
            duration_s=13_000,
            published=f"{_QUEUES}.with_cs1_background",
            policies=THREE_QUEUES,
            sendings=(Sending("routine", "1M", 5, "routine_1M"),),
            load_s=1,
            captured=False,
        ),
        Setting(
            name="queues-load-priority",
            title="three queues: a CS1 message beside the CS1 load",
            duration_s=600,
            published=f"{_QUEUES}.with_cs1_background",
            policies=THREE_QUEUES,
            sendings=(Sending("priority", "10k", 5, "priority_10k"),),
            load_s=1,
        ),
        Setting(
            name="one-queue",
            title="one queue, ordered dropping: one message at a time",
            duration_s=240,
            published=f"{_ONE_QUEUE}.single",
            policies=PRINTED,
            sendings=(Sending("immediate", "1M", 1, "1M"), Sending("immediate", "10M", 30, "10M")),
            lossy=False,
        ),
        *(
            Setting(
                name=f"one-queue-load-{name}",
                title=f"one queue, ordered dropping, {thresholds}: a CS2 message beside the CS1 load",
                duration_s=900,
                published=f"{_ONE_QUEUE}.cs1_background_vs_cs2_1M",
                policies=policies,
                sendings=(
                    Sending("immediate", "1M", 1, f"{quantity}_alone"),
                    Sending("immediate", "1M", 30, quantity, base=f"{quantity}_alone"),
                ),
                load_s=20,
                lossy=False,
            )
            for name, thresholds, policies, quantity in (
                ("defaults", "Cisco's thresholds", DEFAULTS, "first_settings"),
                ("printed", "printed thresholds", PRINTED, "standard_wred"),
            )
        ),
        Setting(
            name="aggressive",
            title="one queue, CS0 and CS1 dropped from two packets on: messages beside the CS1 load",
            duration_s=900,
            published="aggressive",
            policies=AGGRESSIVE,
            sendings=(
                Sending("immediate", "1M", 1, "immediate_1M_alone"),
                Sending("immediate", "1M", 22, "immediate_1M", base="immediate_1M_alone", asked=KEPT),
                Sending("routine", "10k", 60, "routine_10k"),
                Sending("priority", "10k", 460, "priority_10k"),
            ),
            load_s=20,
            lossy=False,
        ),
        Setting(
            name="answer",
            title="one queue, the load's excess marked down: messages beside the CS1 load",
            duration_s=150,
            published="answer",
            policies=ANSWER,
            sendings=(
                Sending("immediate", "1M", 1, "immediate_1M_alone"),
                Sending("immediate", "1M", 22, "immediate_1M", base="immediate_1M_alone", asked=KEPT),
                Sending("routine", "10k", 45, "routine_10k", asked=PROGRESS),
                Sending("priority", "10k", 52, "priority_10k", asked=PROGRESS),
                Sending("routine", "1M", 60, "routine_1M", asked=PROGRESS),
                Sending("priority", "1M", 100, "priority_1M", asked=PROGRESS),
            ),
            load_s=20,
            lossy=False,
        ),
        Setting(
            name="answer-10M",
            title="the same policy: a CS2 message of 10 MByte beside the CS1 load",
            duration_s=440,
            published="answer",
            policies=ANSWER,
            sendings=(
                Sending("immediate", "1M", 1, "immediate_1M_before"),
                Sending("immediate", "10M", 25, "immediate_10M_alone"),
                Sending("immediate", "10M", 210, "immediate_10M", base="immediate_10M_alone", asked=KEPT),
            ),
            load_s=205,
            lossy=False,
        ),
    )


class Isode(Study):
    """See the module."""

    name = "isode"
    title = "messages of different precedence beside an unresponsive load over 512 kbit/s"
    published_key = PUBLISHED_KEY
    source = "Isode, precedence-marked X.400 messaging over a Cisco 2811 (tests for NATO, JFC Naples to ACT)"
    tests = _settings()
    options = (
        Option(
            "loss_per_million", LOSS_PER_MILLION, 0, 500_000, "frames of a million that the WAN loses, where it does"
        ),
        Option("loss_one_queue", 0, 0, 500_000, "the same in the tests with one queue"),
        Option("delay_us", DELAY_US, 0, 10_000_000, "one-way delay of the WAN in microseconds"),
        Option("window_bytes", WINDOW_BYTES, 1_460, 1_048_576, "send and receive buffer of each connection"),
        Option("load_bytes", 1_000, 16, 1_472, "payload of each datagram of the dummy load"),
        Option("load_class", 1, 1, 2, "class selector that the router gives the dummy load: 1 (CS1) or 2 (CS2)"),
        Option("loads", 1, 1, 2, "dummy loads of 1 Mbit/s each"),
    )

    def network(self, test: Test, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one test."""
        setting = _setting(test)
        random = Random(seed)
        loss = options["loss_per_million" if setting.lossy else "loss_one_queue"]
        switch = Switch("sar2811", 1, (Port(1, LAN_BPS, ETHERNET_OVERHEAD), Port(2, WAN_BPS)), setting.policies)
        naples = Host(
            "naples",
            (MTA_NAPLES, *dict.fromkeys(address for group in LOAD_ADDRESSES.values() for address in group)),
            mtu_bytes=MTU_BYTES,
            window_bytes=options["window_bytes"],
            delayed_ack_ns=DELAYED_ACK_NS,
        )
        act = Host(
            "act",
            (MTA_ACT,),
            mtu_bytes=MTU_BYTES,
            window_bytes=options["window_bytes"],
            delayed_ack_ns=DELAYED_ACK_NS,
        )
        return Network(
            name=f"isode/{test.name}",
            switches=(switch,),
            hosts=(naples, act),
            adapters=(),
            wires=(
                Wire(("naples", 0), ("sar2811", 1)),
                Wire(("sar2811", 2), ("act", 0), delay_ns=options["delay_us"] * 1000, loss_per_million=loss),
            ),
            flows=(*_messages(setting, random), *_loads(setting, options, random)),
            assumptions=ASSUMPTIONS,
        )

    def taps(self, test: Test, network: Network) -> Mapping[str, tuple[str, int]]:
        """Both ports of the router."""
        return {"lan": ("sar2811", 1), "wan": ("sar2811", 2)} if _setting(test).captured else {}

    def evaluate(
        self, test: Test, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Time and rate of each message, what the router's captures say of it, and the load's rate."""
        setting = _setting(test)
        return analysis.evaluate(
            setting.published,
            setting.sendings,
            network,
            outcome,
            captures=(captures / "lan.pcap", captures / "wan.pcap") if setting.captured else None,
            destination=MTA_ACT,
            duration_s=duration_s,
        )

    def configuration(self, test: Test, network: Network) -> Mapping[str, object]:
        """How the router queues, and whether the dummy load runs."""
        router = _ROUTERS.get(network.switches[0].policy_files)
        return {"router": router, "load": any(isinstance(flow, Datagrams) for flow in network.flows)}

    def extra_runs(self, tests: Sequence[Test], options: Mapping[str, int]) -> Sequence[tuple[Test, Mapping[str, int]]]:
        """The policies for the open question, and what they are compared with, under other circumstances."""
        return [(test, {**options, **changed}) for changed in CIRCUMSTANCES for test in tests if test.name in _VARIED]

    def tables(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[Table]:
        """Every message, and what the router's captures say of it; what else was tried."""
        varied = [run for run in runs if run.test.name in _VARIED]
        others = [analysis.circumstances_table([*varied, *extra], self.defaults())] if extra else []
        return [analysis.transfer_table(runs), *others]

    def conclusions(self, runs: Sequence[Run], extra: Sequence[Run]) -> Sequence[str]:
        """Why the source's settings failed and ours do not."""
        return analysis.conclusions(runs)

    def pictures(self, runs: Sequence[Run], extra: Sequence[Run], folder: Path) -> Sequence[Path]:
        """Throughput over time of each test, and the published rates beside ours."""
        shaped_bps = self.published()["router"]["shape_bps"]
        limits_bps = [WAN_BPS if _setting(run.test).policies == UNSHAPED else shaped_bps for run in runs]
        return analysis.pictures(runs, [limit / 1000 for limit in limits_bps], folder)


ASSUMPTIONS = (
    f"hosts: {WINDOW_BYTES:,}-byte windows, {DELAYED_ACK_NS // 1_000_000} ms delayed acknowledgement, Nagle, Reno as "
    "smoltcp has it",
    f"the WAN: {DELAY_US / 1000:g} ms one way (calibrated: the 1 kByte row of the unshaped table), and "
    f"{LOSS_PER_MILLION / 10_000:g} % of the frames lost in either direction (calibrated: its 10 MByte row), which the "
    "source does not speak of; none lost in the tests with one queue, whose published unloaded rate leaves no room",
    "2 Mbit/s are the rate of the router's WAN port; towards Naples nothing is limited",
    "the load: datagrams of 1,000 bytes payload, 1 Mbit/s of payload",
    f"a message is its bytes in one piece, answered by {ANSWER_BYTES} bytes; no header of X.400",
    f"parallel messages are submitted {PARALLEL_STAGGER_S} s after each other; each submission is up to "
    f"{SUBMISSION_SPREAD_NS // SECOND} s late, drawn by the seed",
    "the share of the unloaded rate is of our message alone, before the load, in the same test; the source's is of the "
    "messages that it sent through the shaper alone",
    f"override uses port {OVERRIDE_PORT} and a permanent connection",
)


def _setting(test: Test) -> Setting:
    assert isinstance(test, Setting), test
    return test


def _messages(setting: Setting, random: Random) -> list[Messages]:
    """A connection for each precedence that the test sends messages of."""
    connections = data_files.published()[PUBLISHED_KEY]["connections"]
    flows = []
    for precedence, connection in connections.items():
        schedule = [
            (round(sending.at_s * SECOND) + random.randrange(SUBMISSION_SPREAD_NS), sending.size_bytes)
            for sending in setting.sendings
            if sending.precedence == precedence
        ]
        if schedule:
            flows.append(
                Messages(
                    name=precedence,
                    group=precedence,
                    client="naples",
                    client_address=MTA_NAPLES,
                    server="act",
                    server_address=MTA_ACT,
                    server_port=connection.get("port", OVERRIDE_PORT),
                    permanent=connection.get("connection") != "on-demand",
                    schedule=tuple(schedule),
                    answer_bytes=ANSWER_BYTES,
                    tos=int(connection["dscp"].removeprefix("CS")) << PRECEDENCE_SHIFT,
                )
            )
    return flows


def _loads(setting: Setting, options: Mapping[str, int], random: Random) -> list[Datagrams]:
    if setting.load_s is None:
        return []
    interval_ns = options["load_bytes"] * 8 * SECOND // LOAD_BPS
    return [
        Datagrams(
            name=f"load-{number + 1}",
            group="load",
            client="naples",
            client_address=LOAD_ADDRESSES[options["load_class"]][number],
            server="act",
            server_address=MTA_ACT,
            server_port=LOAD_PORT + number,
            payload_bytes=options["load_bytes"],
            interval_ns=interval_ns,
            start_ns=round(setting.load_s * SECOND) + random.randrange(interval_ns),
        )
        for number in range(options["loads"])
    ]


STUDY = Isode()
