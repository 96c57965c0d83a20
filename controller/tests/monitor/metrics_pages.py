"""What the metrics' tests share: a page of observations, as prometheus_client's own parsers read it."""

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from phb.model import DelayObjective, Objectives, Rate, RateBasis, RateUnit
from phb.monitor.changes import subject
from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.newest import STALE_AFTER_S, Newest
from phb.monitor.metrics.telling import texts
from phb.monitor.observation import Observation, SubjectKind

MONITORING = Path(__file__).parents[3] / "deploy" / "monitoring"
DASHBOARD = json.loads((MONITORING / "grafana.json").read_text())

OBJECTIVES = {
    subject(SubjectKind.CLASS, "class-1"): Objectives(
        minimum_rate=Rate(value=1, unit=RateUnit.MBIT, basis=RateBasis.ETHERNET),
        maximum_delays=(DelayObjective(milliseconds=5, percentile=Decimal("99.5")), DelayObjective(milliseconds=2)),
        maximum_loss_percent=Decimal(2),
        interval_s=2,
    )
}


class Clock:
    """Seconds that only the test sets."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def newest(observations: Iterable[Observation] = (), *, switches=(), policies: int = 100, clock=None) -> Newest:
    """Give what has taken these; without `switches`, it watches theirs."""
    taken = list(observations)
    taker = Newest(
        switches or list(dict.fromkeys(each.switch for each in taken)), policies, STALE_AFTER_S, clock or Clock()
    )
    for observation in taken:
        taker.take(observation)
    return taker


def page_of(taker: Newest, *, fineness: int = 2, openmetrics: bool = False) -> str:
    """Give the switches' part of the page."""
    return "".join(texts(taker.views(), taker.sessions, Bounds(fineness), openmetrics))


def samples(text: str, *, openmetrics: bool = False) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Give the values of a page by name and labels; a series that is there twice fails."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    for family in (parse_openmetrics if openmetrics else parse_text)(text):
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in found, key
            found[key] = sample.value
    return found


def value(text: str, name: str, **labels: str) -> float | None:
    """Give one value; None where there is no such series. The label `class_` is `class`."""
    wanted = {key.rstrip("_"): each for key, each in labels.items()}
    return samples(text).get((name, tuple(sorted(wanted.items()))))


def values(text: str, name: str) -> Iterator[tuple[dict[str, str], float]]:
    """Give all series of a name."""
    return ((dict(labels), each) for (of, labels), each in samples(text).items() if of == name)


def queries() -> list[str]:
    """Give all queries of the dashboard."""
    found = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
    found += [each["expr"] for each in DASHBOARD["annotations"]["list"]]
    return found + [each["query"]["query"] for each in DASHBOARD["templating"]["list"] if each["type"] == "query"]
