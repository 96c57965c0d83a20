"""Cases: a random policy, and random packets through it one after the other."""

from hypothesis import strategies as st

from .packets import sequences
from .policies import ANYTHING, Shape, policies


class Case:
    """One case. Its words are those of the error that it ends with: Hypothesis needn't tell it again.

    Attributes:
        policy: As YAML would give it.
        sent: The packets.
        reported: Reasons for which the controller gets packets.
    """

    def __init__(self, policy, sent, reported=()):
        self.policy, self.sent, self.reported = policy, sent, reported

    def __repr__(self):
        return "<what the error tells>"


@st.composite
def on_idle_ports(draw, shape=ANYTHING, most=10, controller=True):
    """Packets of which each has left before the next one comes."""
    policy = draw(policies(shape))
    reported = ("TTL_EXPIRED", "NO_ROUTE") if controller and draw(st.integers(0, 3)) == 0 else ()
    return Case(policy, draw(sequences(policy, most, controller=controller)), reported)


@st.composite
def on_full_ports(draw):
    """Packets of few flows to one or two ports that send one of them and no more."""
    policy = draw(policies(Shape(conversations=(256,), queues=3, hold_queue_one_in=5)))
    macs = {"source-mac": "02:00:00:00:03:01", "destination-mac": "02:00:00:00:03:02"}
    ports = st.sampled_from(["one", "two", "three"])
    policy["routes"] = [{"destination": prefix, "port": draw(ports), **macs} for prefix in ("0.0.0.0/0", "::/0")]
    return Case(policy, draw(sequences(policy, 16, controller=False, least=8, repeats=0.7)))
