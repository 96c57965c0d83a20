"""Follows packets while a network runs in virtual time."""

from collections.abc import Mapping
from typing import Any

from phb_lab.description import Network
from phb_lab.following.flow import Followed
from phb_lab.following.journeys import Journeys, Matcher, Sighting, arrival_of
from phb_switch import Network as NativeNetwork
from phb_switch import Switch, Traces

# Of each frame: all headers of common packets, as sightings have them.
_FRAME_BYTES = 128


class Following:
    """Follows packets of one run, from its beginning on.

    Raises:
        ValueError: the filter isn't understood.
    """

    def __init__(self, native: NativeNetwork, switches: Mapping[str, Switch], followed: Followed) -> None:
        self._native = native
        self._followed = followed
        native.follow(followed.filter, followed.packets)
        self._watched: dict[str, Traces] = {
            name: switch.trace(followed.at_switches, frame_bytes=_FRAME_BYTES) for name, switch in switches.items()
        }
        self._traces: dict[str, list[dict[str, Any]]] = {name: [] for name in switches}
        self._sightings: list[Sighting] = []
        self._arrived: set[tuple[str, int, int]] = set()
        self._left_out = 0
        self._dropped = 0

    def take(self) -> None:
        """Take what was seen and traced since the last time, before the switches leave traces out."""
        told = self._native.followed(len(self._sightings))
        fresh = [Sighting(*seen) for seen in told["sightings"]]
        self._sightings += fresh
        self._arrived.update((seen.node, seen.port, seen.at) for seen in fresh if seen.way == "arrived")
        self._left_out = told["left_out"]
        for name, watched in self._watched.items():
            # Others, too, may be what the filter wants at a switch.
            fresh_traces = [trace for trace in watched.take() if arrival_of(name, trace) in self._arrived]
            self._traces[name] += fresh_traces
            self._dropped += sum("dropped" in trace["steps"][-1] for trace in fresh_traces)
        if told["packets"] == self._followed.packets and told["under_way"] <= self._dropped:
            self._stop()

    def _stop(self) -> None:
        for watched in self._watched.values():
            watched.stop()

    def journeys(self, network: Network) -> Journeys:
        """End following, and put the journeys together."""
        self.take()
        self._stop()
        matcher = Matcher(network, self._sightings, self._traces)
        return Journeys(tuple(matcher.journeys()), self._left_out, self._followed.text)
