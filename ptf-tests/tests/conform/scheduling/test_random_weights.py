"""The bounds hold for weights and traffic that nobody chose, through the real switch."""

from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb_conform import fair_queueing
from phb_conform.measures.delay import session_delays
from phb_conform.measures.service import service_gaps
from phb_conform.numbered import offer
from phb_conform.scheduling import LINE_BPS
from phb_device import Line
from phb_model.packets import Job
from phb_model.packets import Line as ModelLine
from phb_model.service_order import SelfClocked, serve
from tests.examples import share

# Of three classes; each divides 720, so that the compiler's whole numbers say them exactly.
weights = st.lists(st.sampled_from([1, 2, 3, 5, 8, 10, 16, 24, 45, 90, 144, 720]), min_size=3, max_size=3)


@given(weights, st.integers(0, 1000), st.floats(0.5, 1.5), st.integers(1, 40))
@settings(max_examples=share(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_service_delay_and_order(device, weights, seed, load, longest_burst):
    names = ["a", "b", "class-default"]
    shares = {name: Fraction(weight) for name, weight in zip(names, weights, strict=True)}
    scheduler = fair_queueing.class_scheduler(
        "drawn", shares, [f"{{class: {name}, bandwidth: {{weight: {share}}}}}" for name, share in shares.items()]
    )
    device.reset()
    device.push(scheduler.policy)
    flows = list(scheduler.flows.values())
    offered = fair_queueing.bursty(flows, 250, seed, line_bps=LINE_BPS, load=load, longest_burst=longest_burst)
    outcome = offer(device, offered, Line(LINE_BPS))
    packets = [Job(each.time_ns, each.flow.session, 8 * each.length) for each in offered]
    assert outcome.order == [each.number for each in serve(packets, SelfClocked(shares), ModelLine(LINE_BPS))]
    assert all(gap.within for gap in service_gaps(outcome.passages, shares, LINE_BPS))
    assert all(delay.within for delay in session_delays(outcome.passages, shares, LINE_BPS))
