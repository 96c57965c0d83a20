"""What the metrics' tests share: a page of observations, as prometheus_client's own parsers read it."""

from collections.abc import Iterable, Iterator

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.newest import STALE_AFTER_S, Newest
from phb.monitor.metrics.telling import texts
from phb.monitor.observation import Observation


class Clock:
    """Seconds that only the test sets."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def newest(observations: Iterable[Observation] = (), *, switches=(), policies: int = 100, clock=None) -> Newest:
    """Give what has taken these."""
    taker = Newest(switches, policies, STALE_AFTER_S, clock or Clock())
    for observation in observations:
        taker.take(observation)
    return taker


def page_of(taker: Newest, *, fineness: int = 2, openmetrics: bool = False) -> str:
    """Give the switches' part of the page."""
    return "".join(texts(taker.views(), Bounds(fineness), openmetrics))


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
