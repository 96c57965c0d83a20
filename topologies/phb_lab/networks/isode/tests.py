"""The tests: how the router queues, whether the load runs, and what is sent."""

from dataclasses import dataclass
from pathlib import Path

import phb_examples
from phb_lab.figures import read_published
from phb_lab.study import Test

PUBLISHED = read_published(__file__)

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
# "Note that overlap is not perfect, due to the time taken to start off the subsequent messages": how much is not given.
PARALLEL_STAGGER_S = 5

# The source's sizes are powers of ten: its 10 kByte at 734 kbit/s take 0.109 s.
_SUFFIXES = {"k": 1_000, "M": 1_000_000}


@dataclass(frozen=True)
class Asked:
    """Limits of a figure; None asks nothing."""

    low: float | None = None
    high: float | None = None


NOTHING = Asked()


@dataclass(frozen=True)
class Sending:
    """One message of a test.

    Attributes:
        precedence: of the message; chooses its connection.
        size: as the source writes it: ``1k`` is 1,000 bytes, ``10M`` 10,000,000.
        at_s: when it is submitted.
        quantity: name of its figures. Of several messages with the same one, the fastest counts.
        base: quantity of the message whose rate is the unloaded one.
        asked: of its rate as a share of the unloaded one, where it has a base; else of its rate in kbit/s.
    """

    precedence: str
    size: str
    at_s: float
    quantity: str
    base: str | None = None
    asked: Asked = NOTHING

    @property
    def size_bytes(self) -> int:
        """Length of the message in bytes."""
        return int(self.size[:-1]) * _SUFFIXES[self.size[-1]]


@dataclass(frozen=True)
class Setting(Test):
    """One test of the source, or one of ours for the question that it left open.

    Attributes:
        published: path of the test's figures in the published data.
        policies: of the router.
        sendings: messages in order of time.
        load_s: when the dummy load begins; None is without it.
        lossy: whether the WAN loses frames. It does not where the published unloaded rate leaves no room for losses.
        captured: whether the router's ports are captured; not where hours of load would fill a disk.
    """

    published: str = ""
    policies: tuple[Path, ...] = PRINTED
    sendings: tuple[Sending, ...] = ()
    load_s: float | None = None
    lossy: bool = True
    captured: bool = True


# Asked of the policy that the source did not find: 90 % of the unloaded rate for CS2 ...
KEPT = Asked(low=0.9)
# ... and progress of CS0 and CS1: more than the 3 kbit/s that CS0 had beside the source's reserved queues.
PROGRESS = Asked(low=3.0)
_ROUND_1 = "round1_unshaped_2mbps"
_ROUND_2 = "round2_shaped_512k"
_QUEUES = f"{_ROUND_2}.two_queues_cs1_50_cs2_50"
_ONE_QUEUE = f"{_ROUND_2}.single_queue_ordered_dropping"


def _parallel(number: int) -> Setting:
    """Test of the first round with so many 10 MByte messages; 1 MByte ones before, for runs of a minute."""
    published = PUBLISHED[_ROUND_1]["parallel_10M_s"][number - 2]
    sent = [key for key in published if not key.endswith(".kbps")]
    precedences = sorted(sent, key=list(PUBLISHED["connections"])[::-1].index)
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


TESTS = (
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
