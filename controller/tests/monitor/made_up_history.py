"""A small history: what accounts are tested and shown with."""

from pathlib import Path

from phb.device.session import CounterValue
from phb.monitor.history.file import Closed, Gap, HistoryFile
from phb.monitor.history.position import subjects_of
from phb.monitor.observation import Subject, SubjectKind
from phb.monitor.sample import ClassCount, PolicyCount, Sample, StreamCount

MINUTE_NS = 60 * 10**9
FIRST = 1_793_487_600 // 60
"""The first minute of November 2026 in Berlin, an hour before London's."""


def sample(switch: str, minute: int, packets: int, rules: tuple[str, ...] = ("voice", "web")) -> Sample:
    """Give a switch whose class and rules have had so many packets, of which a tenth was dropped."""
    dropped = packets // 10
    drops = {"WRED": dropped} if dropped else {}
    sent = packets - dropped
    delays = {60: sent - sent // 50, 100: sent // 50} if packets else {}
    gold = ClassCount("gold", 1, CounterValue(sent, sent * 500), delays, drops, packets // 20, 0, dropped * 500)
    colours = {"green": CounterValue(packets // len(rules), packets // len(rules) * 500)}
    policies = {
        (rule, "outgoing" if number else ""): PolicyCount(
            rule, "outgoing" if number else "", number + 1, "gold", colours
        )
        for number, rule in enumerate(rules)
    }
    streams = {"metered": StreamCount("metered", 1, "gold", colours)}
    return Sample(switch, minute * MINUTE_NS + 1, minute * MINUTE_NS + 1, 1, 1, {"gold": gold}, policies, streams)


def write(file: HistoryFile, *several: Closed) -> None:
    """Write minutes, in a transaction."""
    everyone = file.everyone()
    for each in several:
        file.name(everyone, {each.switch: [*subjects_of(each.start), *subjects_of(each.latest)]})
    file.put(file.rows((everyone[each.switch], each) for each in several))


def write_history(
    path: Path | str, switches: tuple[str, ...] = ("edge",), rules: tuple[str, ...] = ("voice", "web")
) -> None:
    """Write ten minutes of November and of October, 1,000 packets in each, and a gap after each of the two."""
    with HistoryFile(path) as file, file.transaction():
        for switch in switches:
            start, packets = sample(switch, FIRST - 30, 0, rules), 0
            several = []
            for first in (FIRST - 30, FIRST):
                for minute in range(first, first + 10):
                    packets += 1000
                    ended = (minute * MINUTE_NS) if minute == first + 9 else 0
                    gaps = (Gap(ended - 30 * 10**9, ended, counted=first == FIRST),) if ended else ()
                    several.append(Closed(switch, minute, start, sample(switch, minute, packets, rules), gaps))
            write(file, *several)
            subject = Subject(SubjectKind.POLICY, rules[0], "")
            file.networks([(file.everyone()[switch].subjects[subject], "10.1.0.0/16", "10.2.0.0/16")])
