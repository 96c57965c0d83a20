"""Policies for the small program, and changes of one policy into another."""

from hypothesis import strategies as st
from small_program import Policy, Rule

MARKS = st.integers(1, 200)
CLASSES = st.sampled_from(["default", "gold", "silver"])

rules = st.builds(
    lambda low, width, mark, rate, traffic_class: Rule(low, min(low + width, 7), mark, rate, traffic_class),
    st.integers(0, 7),
    st.integers(0, 3),
    MARKS,
    st.none() | st.integers(1, 9),
    CLASSES,
)
queues = st.lists(
    st.tuples(CLASSES, st.integers(1, 50), st.sampled_from([1, 4])), max_size=3, unique_by=lambda queue: queue[0]
).map(tuple)
policies = st.builds(
    Policy,
    st.lists(rules, max_size=6).map(tuple),
    st.lists(queues, max_size=2).map(tuple),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), max_size=3, unique_by=lambda route: route[0]).map(tuple),
)


@st.composite
def successors(draw, policy):
    """A policy with some rules of another one: what engineers' changes look like."""
    order = draw(st.permutations(policy.rules))
    kept = [rule for rule in (order if draw(st.booleans()) else policy.rules) if draw(st.integers(0, 4))]
    for rule in draw(st.lists(rules, max_size=2)):
        kept.insert(draw(st.integers(0, len(kept))), rule)
    other = draw(policies)
    return Policy(tuple(kept), policy.queues if draw(st.booleans()) else other.queues, other.routes)


pairs = policies.flatmap(lambda before: st.tuples(st.just(before), successors(before)))
