"""The QoS tests of openconfig/featureprofiles at 10 Mbit/s, in virtual time: configured, and read, by gNMI alone.

Each name has the test's number; docs/operate/gnmi.md says which of its parts are here, and why others are not. Shares
are those of the test's own table, within 2 % of what was sent.
"""

from contextlib import contextmanager
from itertools import islice

import grpc
import pytest
from finsy.proto import gnmi

from . import settings
from .bench import ROUTES, Bench, Flow, frame_tos, network_of, path, run_cases, text

TOLERANCE = 2.0
WRR_OF_BASIC = {"AF4": 48, "AF3": 12, "AF2": 8, "AF1": 4, "BE0": 1, "BE1": 1}
DSCP = {"NC1": 56, "AF4": 32, "AF3": 24, "AF2": 16, "AF1": 8, "BE0": 4, "BE1": 0}


@contextmanager
def bench_of(tmp_path_factory, artifact, qos):
    """A switch whose settings are in force, set as featureprofiles does: /qos replaced as a whole."""
    bench = Bench()
    try:
        bench.replace("/qos", {f"openconfig-qos:{name}": value for name, value in qos.items()})
        routes = tmp_path_factory.mktemp("qos") / "routes.yaml"
        routes.write_text(ROUTES)
        report = bench.put_in_force(routes, artifact)
        assert not [notice for notice in report.notices if "gNMI" in notice.message]
        yield bench
    finally:
        bench.close()


def flows(table, size=512, version=4, ecn=0):
    """Flows of a test's table: percent of the line by queue, into the first and the second port."""
    return [
        Flow(port, DSCP[queue], percent, size, version, ecn)
        for queue, percents in table.items()
        for port, percent in enumerate(percents, start=1)
        if percent
    ]


def check(outcome, expected):
    """What arrived for each queue is as the table says, by both ports alike; the counters say the same."""
    for queue, part in expected.items():
        own = outcome.of_queue(DSCP[queue])
        assert outcome.part(*own) == pytest.approx(part, abs=TOLERANCE), queue
        if sum(outcome.sent[flow] for flow in own) > 500:
            assert [outcome.part(flow) for flow in own] == pytest.approx([part] * len(own), abs=3 * TOLERANCE), queue
    check_counters(outcome)


def check_counters(outcome):
    """Every queue's packets are those that arrived, its drops those that didn't, and octets go with them."""
    for queue, dscp in DSCP.items():
        own = outcome.of_queue(dscp)
        counted = outcome.counted[queue]
        if "transmit-pkts" not in counted:
            # No scheduler serves it.
            assert own == []
            continue
        sent, arrived = (sum(each[flow] for flow in own) for each in (outcome.sent, outcome.arrived))
        assert counted["transmit-pkts"] == arrived
        assert counted["dropped-pkts"] == sent - arrived
        sizes = {flow.size for flow in own}
        if len(sizes) <= 1:
            size = sizes.pop() if sizes else 0
            assert (counted["transmit-octets"], counted["dropped-octets"]) == (arrived * size, (sent - arrived) * size)


def run(tmp_path_factory, artifact, qos, cases, **more):
    with bench_of(tmp_path_factory, artifact, qos) as bench:
        return run_cases(bench, cases, **more)


# -- DP-1.2, DP-1.3: what is set is there ------------------------------------------------------------------------------


def test_dp_1_2_policy_is_in_force(tmp_path_factory, artifact):
    strict, weighted = {"AF4": 100, "NC1": 200}, {"BE1": 1, "BE0": 2, "AF1": 4, "AF2": 8, "AF3": 16}
    qos = settings.traffic_test(strict, weighted)
    with bench_of(tmp_path_factory, artifact, qos) as bench:
        found = bench.document("/qos")
    for container, expected in as_state(qos).items():
        assert contains(found[f"openconfig-qos:{container}"], expected), container


def as_state(value):
    """The same settings where state is expected, lists by their keys."""
    if isinstance(value, list):
        return [as_state(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {("state" if name == "config" else name): as_state(each) for name, each in value.items()}


def contains(found, expected):
    """Whether all that is expected is found; names may have modules, lists be longer and in another order."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and contains(found[name], each) for name, each in expected.items()
        )
    if isinstance(expected, list) and expected and isinstance(expected[0], dict):
        return all(any(contains(one, each) for one in found) for each in expected)
    if isinstance(expected, list):
        return sorted(found) == sorted(expected)
    return found == expected


PROFILES = {
    "same": settings.profile("same", 81920, 81920, drop=False),
    "large": settings.profile("large", 3276800, 6553600, drop=False),
    "percent": {
        "name": "percent",
        "config": {"name": "percent"},
        "wred": {
            "uniform": {
                "config": {
                    "min-threshold-percent": "1",
                    "max-threshold-percent": "2",
                    "enable-ecn": True,
                    "drop": False,
                    "max-drop-probability-percent": 100,
                }
            }
        },
    },
}
OF_QUEUE = "/qos/interfaces/interface[interface-id=eth3]/output/queues/queue[name={}]"


def test_dp_1_3_ecn_profiles(tmp_path_factory, artifact):
    queues = dict(zip(("AF1", "AF2", "AF3"), PROFILES, strict=True))
    qos = {
        **settings.queues_and_groups(),
        **settings.classifiers(),
        **settings.policies(settings.output_policy({"NC1": 1}, WRR_OF_BASIC)),
        **settings.profiles(*PROFILES.values()),
        **settings.interfaces(
            settings.interface("eth1", classified=True), settings.interface("eth3", schedule="out", queues=queues)
        ),
    }
    profiles = "/qos/queue-management-profiles/queue-management-profile"
    with bench_of(tmp_path_factory, artifact, qos) as bench:
        for queue, name in queues.items():
            state = bench.document(f"{profiles}[name={name}]/wred/uniform")["openconfig-qos:state"]
            assert state == PROFILES[name]["wred"]["uniform"]["config"]
            bound = bench.leaves(f"{OF_QUEUE.format(queue)}/state/queue-management-profile")
            assert list(bound.values()) == [name]
        # DP-1.3.4: what is refused, and changes nothing.
        wred = f"{profiles}[name=same]/wred/uniform/config"
        profile_of = f"{OF_QUEUE.format('AF1')}/config/queue-management-profile"
        for place, value, words in (
            (wred, {"min-threshold": "81920", "max-threshold": "40960"}, "above the max-threshold"),
            (f"{wred}/max-drop-probability-percent", 101, "expected a percentage from 0 to 100"),
            (profile_of, "BOGUS", "there is no queue management profile 'BOGUS'"),
        ):
            with pytest.raises(grpc.RpcError) as caught:
                bench.replace(place, value)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert words in caught.value.details()
        with pytest.raises(grpc.RpcError, match="there is no queue management profile 'same'"):
            bench.delete(f"{profiles}[name=same]")
        # DP-1.3.5: taken off, then gone.
        bench.delete(profile_of)
        bench.delete(f"{profiles}[name=same]")
        routes = tmp_path_factory.mktemp("qos") / "routes.yaml"
        routes.write_text(ROUTES)
        bench.put_in_force(routes, artifact)
        for gone in (f"{profiles}[name=same]", f"{OF_QUEUE.format('AF1')}/state/queue-management-profile"):
            with pytest.raises(grpc.RpcError) as caught:
                bench.leaves(gone)
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND


# -- DP-1.4, DP-1.14: counters ----------------------------------------------------------------------------------------


BASIC = [
    {"NC1": (3, 3), "AF4": (24, 24), "AF3": (6, 6), "AF2": (4, 4), "AF1": (2, 2), "BE0": (0.5, 0.5), "BE1": (0.5, 0.5)},
    {
        "NC1": (5, 4),
        "AF4": (30, 30),
        "AF3": (7.5, 7.5),
        "AF2": (4, 4),
        "AF1": (2, 2),
        "BE0": (0.5, 0.5),
        "BE1": (0.5, 0.5),
    },
]


def test_dp_1_4_and_1_14_basic_traffic_and_its_counters(tmp_path_factory, artifact):
    qos = settings.traffic_test({"NC1": 100}, WRR_OF_BASIC)
    cases = [flows(table, version=version) for table in BASIC for version in (4, 6)]
    for outcome in run(tmp_path_factory, artifact, qos, cases):
        check(outcome, dict.fromkeys(DSCP, 100))
        # DP-1.4: all four counters are there, and move.
        assert all(counted["transmit-octets"] > 0 for queue, counted in outcome.counted.items() if queue in DSCP)


def samples(bench, place, interval_ns):
    """Leaves of each sample of a subscription, from the first on."""
    subscription = gnmi.Subscription(path=path(place), mode=gnmi.SubscriptionMode.SAMPLE, sample_interval=interval_ns)
    wanted = gnmi.SubscriptionList(subscription=[subscription], encoding=gnmi.PROTO)
    for answer in bench.stub.Subscribe(iter([gnmi.SubscribeRequest(subscribe=wanted)])):
        yield {text(update.path): update.val.uint_val for update in answer.update.update}


@pytest.mark.parametrize("interval_ms", [10, 15])
def test_dp_1_4_and_1_14_counters_are_sampled(tmp_path_factory, artifact, interval_ms):
    counter = "/qos/interfaces/interface[interface-id=eth3]/output/queues/queue[name=*]/state/transmit-octets"
    step = 200_000_000
    with bench_of(tmp_path_factory, artifact, settings.traffic_test({"NC1": 100}, WRR_OF_BASIC)) as bench:
        network, _ = network_of(bench, [flows(BASIC[0])], 10 * step, 10 * step)
        sampled = samples(bench, counter, interval_ms * 1_000_000)
        before = dict.fromkeys(next(sampled), -1)
        assert sum(f"[name={queue}]" in where for where in before for queue in DSCP) == len(DSCP)
        for number in range(10):
            network.run((number + 1) * step)
            now = bench.leaves(counter)
            # Those on their way say what was before.
            seen = next(sample for sample in islice(sampled, 1000) if sample == now)
            moved = [where for where, value in seen.items() if value > before[where]]
            assert sum(f"[name={queue}]" in where for where in moved for queue in DSCP) == len(DSCP)
            before = seen


# -- DP-1.5, DP-1.15: strict priority alone ---------------------------------------------------------------------------


SIX = {"NC1": 6, "AF4": 5, "AF3": 4, "AF2": 3, "AF1": 2, "BE1": 1}
OF_SIX = {name: dscps for name, dscps in settings.ALL_DSCPS.items() if name != "BE0"} | {"BE1": range(8)}
MOST_LOST = {"BE1": 100, "AF1": 100, "AF2": 50, "AF3": 0, "AF4": 0, "NC1": 0}
STEADY = {"BE1": (12, 12), "AF1": (12, 12), "AF2": (10, 10), "AF3": (12, 12), "AF4": (30, 30), "NC1": (1, 1)}
# DP-1.5: the first port sends evenly, the second in bursts of frames half as long; the table's 50,000 frames are
# more than a second of this line, so a burst is 20.
EVEN = {"BE1": 12, "AF1": 12, "AF2": 15, "AF3": 12, "AF4": 30, "NC1": 1}
BURSTS = {"BE1": 20, "AF1": 13, "AF2": 17, "AF3": 10, "AF4": 20, "NC1": 10}


def test_dp_1_5_and_1_15_strict_priority(tmp_path_factory, artifact):
    # A burst that waits for the other port, and for what is strict ahead.
    qos = settings.traffic_test(SIX, {}, OF_SIX, depth=64)
    bursty = [
        [
            *(Flow(1, DSCP[queue], percent, 512, version) for queue, percent in EVEN.items()),
            *(Flow(2, DSCP[queue], percent, 256, version, burst=20) for queue, percent in BURSTS.items()),
        ]
        for version in (4, 6)
    ]
    steady = [flows(STEADY, version=version) for version in (4, 6)]
    for outcome in run(tmp_path_factory, artifact, qos, [*steady, *bursty], length_s=4.0):
        for queue, most in MOST_LOST.items():
            own = outcome.of_queue(DSCP[queue])
            sent, arrived = (sum(flow.size * each[flow] for flow in own) for each in (outcome.sent, outcome.arrived))
            assert 100 - 100 * arrived / sent <= most + TOLERANCE, queue
        # What is last gets nothing but its queue, when all is over.
        assert outcome.part(*outcome.of_queue(DSCP["BE1"])) <= 2 * TOLERANCE
        check_counters(outcome)


# -- DP-1.7 to DP-1.10: strict priority and weights --------------------------------------------------------------------


def test_dp_1_7_one_strict_queue(tmp_path_factory, artifact):
    cases, expected = [], []
    for other in ("AF4", "AF3", "AF2", "AF1", "BE1", "BE0"):
        cases += [
            flows({"NC1": (0.1, 0.7), other: (45.1, 54.1)}),
            flows({"NC1": (0.1, 0.7), other: (99.9, 99.3)}, version=6 if other == "AF3" else 4),
        ]
        expected += [{"NC1": 100, other: 100}, {"NC1": 100, other: 49.8}]
    qos = settings.traffic_test({"NC1": 100}, WRR_OF_BASIC)
    for outcome, parts in zip(run(tmp_path_factory, artifact, qos, cases), expected, strict=True):
        check(outcome, parts)


def test_dp_1_8_two_strict_queues(tmp_path_factory, artifact):
    cases, expected = [], []
    for other in ("AF4", "AF3", "AF2", "AF1", "BE1", "BE0"):
        cases += [
            flows({"NC1": (0.1, 0.7), other: (45.1, 54.1)}),
            flows({"NC1": (0.1, 0.7), other: (99.9, 99.3)}),
        ]
        expected += [{"NC1": 100, other: 100}, {"NC1": 100, other: 49.8}]
    for other in ("AF3", "AF2", "AF1", "BE1", "BE0"):
        cases += [
            flows({"AF4": (50, 50), other: (50, 50)}),
            flows({"AF4": (20, 30), other: (60, 40)}, version=6 if other == "AF3" else 4),
        ]
        expected += [{"AF4": 100, other: 0}, {"AF4": 100, other: 50}]
    weighted = {"AF3": 12, "AF2": 8, "AF1": 4, "BE1": 2, "BE0": 1}
    qos = settings.traffic_test({"NC1": 200, "AF4": 100}, weighted)
    for outcome, parts in zip(run(tmp_path_factory, artifact, qos, cases), expected, strict=True):
        check(outcome, parts)


def test_dp_1_9_weights(tmp_path_factory, artifact):
    weights = {"AF3": 64, "AF2": 16, "AF1": 4, "BE1": 1, "BE0": 1}
    cases, expected = [], []
    for first, second in (("AF3", "AF2"), ("AF2", "AF1"), ("AF1", "BE1"), ("BE1", "BE0")):
        ahead = 100 * weights[first] / (weights[first] + weights[second])
        # Its fair part, less, and more, as the table has it for 80 and 20 %.
        behind = 100 - ahead
        cases += [
            flows({first: (ahead / 2, ahead / 2), second: (behind / 2, behind / 2)}),
            flows({first: (ahead, ahead), second: (behind / 2, behind / 2)}),
            flows({first: (ahead / 2, ahead / 2), second: (behind, behind)}, version=6 if first == "AF3" else 4),
            flows({first: (50, 50), second: (50, 50)}),
        ]
        expected += [
            {first: 100, second: 100},
            {first: 50, second: 100},
            {first: 100, second: 50},
            {first: ahead, second: behind},
        ]
    qos = settings.traffic_test({}, weights)
    for outcome, parts in zip(run(tmp_path_factory, artifact, qos, cases), expected, strict=True):
        check(outcome, parts)


def test_dp_1_10_strict_queues_and_weights(tmp_path_factory, artifact):
    light = {
        "NC1": (0.1, 0.9),
        "AF4": (18, 20),
        "AF3": (16, 16),
        "AF2": (8, 8),
        "AF1": (4, 4),
        "BE0": (2, 2),
        "BE1": (0.5, 0.5),
    }
    starved = {
        "NC1": (0.1, 0.9),
        "AF4": (50, 49),
        "AF3": (20, 14),
        "AF2": (14, 24),
        "AF1": (12, 4),
        "BE0": (1, 7),
        "BE1": (1, 1),
    }
    heavy = {
        "NC1": (0.1, 0.9),
        "AF4": (18, 20),
        "AF3": (40, 24),
        "AF2": (8, 24),
        "AF1": (12, 4),
        "BE0": (1, 7),
        "BE1": (1, 1),
    }
    weighted = {"AF3": 32, "AF2": 16, "AF1": 8, "BE0": 4, "BE1": 1}
    qos = settings.traffic_test({"NC1": 200, "AF4": 100}, weighted)
    some, none, half = run(tmp_path_factory, artifact, qos, [flows(table) for table in (light, starved, heavy)])
    check(some, dict.fromkeys(DSCP, 100))
    check(none, {"NC1": 100, "AF4": 100})
    for queue in weighted:
        # What is left in a queue that starves is sent when all is over; in two seconds hardly anything before.
        assert sum(none.arrived[flow] for flow in none.of_queue(DSCP[queue])) <= 2 * settings.DEPTH, queue
    check_counters(half)
    for queue in DSCP:
        expected = 100 if queue in ("NC1", "AF4") else 50
        own = half.of_queue(DSCP[queue])
        # A queue that is full at the end counts much where there is little traffic.
        left = 100 * settings.DEPTH / sum(half.sent[flow] for flow in own)
        assert half.part(*own) == pytest.approx(expected, abs=TOLERANCE + left), queue


# -- DP-1.11: bursts ---------------------------------------------------------------------------------------------------


def test_dp_1_11_bursts_are_not_dropped(tmp_path_factory, artifact):
    qos = settings.traffic_test({"NC1": 100}, WRR_OF_BASIC, depth=64)
    cases = [
        [Flow(1, DSCP[queue], 45, burst=8), Flow(2, DSCP[queue], 50, version=version, burst=8)]
        for queue, version in zip(DSCP, (4, 6, 4, 4, 4, 4, 4), strict=True)
    ]
    for outcome in run(tmp_path_factory, artifact, qos, cases):
        assert outcome.arrived == outcome.sent
        check_counters(outcome)


# -- DP-1.12, DP-1.17: ECN ---------------------------------------------------------------------------------------------

ECT, CE = 2, 3


def test_dp_1_12_congestion_is_marked(tmp_path_factory, artifact):
    profile = settings.profile("ecn", 1514, 14 * 1514, weight=1, drop=False)
    qos = settings.traffic_test({"NC1": 100}, WRR_OF_BASIC, ecn=profile)
    cases = [flows({queue: (51, 50)}, ecn=ecn) for ecn in (ECT, 0) for queue in DSCP]
    outcomes = run(tmp_path_factory, artifact, qos, cases)
    for queue, capable, incapable in zip(DSCP, outcomes, outcomes[len(DSCP) :], strict=False):
        marks = [frame_tos(frame) & 3 for frame in capable.frames]
        assert set(marks) == {ECT, CE}
        assert marks.count(CE) == capable.counted[queue]["ecn-marked-pkts"]
        assert capable.counted[queue]["ecn-marked-octets"] == 512 * marks.count(CE)
        # Without ECN packets are dropped instead, and none is marked.
        assert {frame_tos(frame) & 3 for frame in incapable.frames} == {0}
        assert incapable.counted[queue]["dropped-pkts"] > 0
        for outcome in (capable, incapable):
            check_counters(outcome)


def test_dp_1_17_dscps_pass_while_ecn_is_set(tmp_path_factory, artifact):
    equal = dict.fromkeys(("AF4", "AF3", "AF2", "AF1", "BE0", "BE1"), 10)
    profile = settings.profile("ecn", 1514, 14 * 1514, weight=1, drop=False)
    qos = settings.traffic_test({"NC1": 1}, equal, settings.ALL_DSCPS, ecn=profile)

    def all_dscps(percent, ports, dscps=range(64)):
        # The best-effort queues have four DSCPs each, which send twice as much.
        weights = {dscp: 2 if dscp < 8 else 1 for dscp in dscps}
        each = percent / sum(weights.values())
        return [Flow(port, dscp, each * weights[dscp], ecn=ECT) for port in ports for dscp in dscps]

    calm, congested, strict = run(
        tmp_path_factory,
        artifact,
        qos,
        [all_dscps(60, (1,)), all_dscps(60, (1, 2)), all_dscps(60, (1, 2), range(48, 64))],
        length_s=1.0,
    )
    # 1: nothing waits for long, nothing is lost or marked.
    assert calm.arrived == calm.sent
    assert {frame_tos(frame) & 3 for frame in calm.frames} == {ECT}
    assert all(calm.counted[queue]["transmit-octets"] for queue in DSCP)
    # 2: every queue but the strict one is congested, and most of what passes it is marked.
    seen = {(frame_tos(frame) >> 2, frame_tos(frame) & 3) for frame in congested.frames}
    assert {dscp for dscp, _ in seen} == set(range(64))
    assert {ecn for dscp, ecn in seen if dscp >= 48} == {ECT}
    assert congested.counted["NC1"]["dropped-pkts"] == 0
    assert all(congested.counted[queue]["dropped-pkts"] for queue in equal)
    assert {dscp for dscp, ecn in seen if ecn == CE} == set(range(48))
    # 3: the strict queue alone is congested, and nothing else has traffic.
    assert {frame_tos(frame) >> 2 for frame in strict.frames} == set(range(48, 64))
    assert {frame_tos(frame) & 3 for frame in strict.frames} == {ECT, CE}
    assert strict.counted["NC1"]["dropped-pkts"] > 0
    assert all(strict.counted[queue]["transmit-pkts"] == 0 for queue in equal)


# -- DP-1.16, DP-1.19: classification and new marks --------------------------------------------------------------------


MARKED = {"BE1": 0, "AF1": 8, "AF2": 16, "AF3": 24, "AF4": 32, "NC1": 48}
# DP-1.19: queues by the DSCPs that come, while those leave as 0, those of NC1 as 6.
REWRITTEN = dict.fromkeys(("BE1", "BE0", "AF1", "AF2", "AF3", "AF4"), 0) | {"NC1": 6}


def _classified(tmp_path_factory, artifact, qos, dscps):
    with bench_of(tmp_path_factory, artifact, qos) as bench:
        cases = [
            [Flow(1, dscp, 90 / 64, version=version) for each in dscps.values() for dscp in each] for version in (4, 6)
        ]
        outcomes = run_cases(bench, cases)
        matched = bench.leaves("/qos/interfaces/interface[interface-id=eth1]/input/classifiers")
    return outcomes, {where: value for where, value in matched.items() if "matched" in where}


@pytest.mark.parametrize(("dscps", "marks"), [(OF_SIX, MARKED), (settings.DSCPS, REWRITTEN)], ids=["1.16", "1.19"])
def test_dp_1_16_and_1_19_classification_and_rewrite(tmp_path_factory, artifact, dscps, marks):
    weighted = {queue: 1 for queue in dscps if queue != "NC1"}
    qos = settings.traffic_test({"NC1": 1}, weighted, dscps, marks)
    outcomes, matched = _classified(tmp_path_factory, artifact, qos, dscps)
    for version, outcome in zip(settings.VERSIONS, outcomes, strict=True):
        for number, (queue, own) in enumerate(dscps.items()):
            sent = sum(outcome.sent[flow] for flow in outcome.sent if flow.dscp in own)
            assert outcome.counted[queue]["transmit-pkts"] == sent
            term = (
                "/qos/interfaces/interface[interface-id=eth1]/input/classifiers/"
                f"classifier[type={version}]/terms/term[id={number}]/state"
            )
            assert matched[f"{term}/matched-packets"] == sent
            assert matched[f"{term}/matched-octets"] == 512 * sent
        assert len(outcome.frames) == sum(outcome.sent.values())
        assert {frame_tos(frame) >> 2 for frame in outcome.frames} == set(marks.values())


# -- DP-2.2, DP-2.4 to DP-2.6, CPT-1.1: policers at inputs -------------------------------------------------------------


def _policed(tmp_path_factory, artifact, policy, percents, **interface):
    qos = {
        **settings.queues_and_groups(),
        **settings.classifiers({"AF4": range(32, 36), "BE1": None}),
        **settings.policies(policy),
        **settings.interfaces(settings.interface("eth1", police="in", **interface)),
    }
    counters = (
        "/qos/interfaces/interface[interface-id=eth1]/input/scheduler-policy/schedulers/scheduler[sequence=1]/state"
    )
    found = []
    with bench_of(tmp_path_factory, artifact, qos) as bench:
        for outcome in run_cases(bench, [[Flow(1, 34, percent)] for percent in percents], length_s=1.0):
            found.append(outcome)
        leaves = {where.rpartition("/")[2]: value for where, value in bench.leaves(counters).items()}
    assert leaves.pop("sequence") == 1
    return found, leaves


def _total(outcomes, what):
    return sum(sum(getattr(outcome, what).values()) for outcome in outcomes)


@pytest.mark.parametrize("classified", [False, True], ids=["2.4", "2.2"])
def test_dp_2_2_and_2_4_policer_of_one_rate(tmp_path_factory, artifact, classified):
    """7 % of the line below a rate of 10 %, then 20 %: half is lost."""
    policy = settings.one_rate(1_000_000, 5_000, "AF4")
    outcomes, counted = _policed(tmp_path_factory, artifact, policy, (7, 20), classified=classified)
    below, above = outcomes
    assert below.arrived == below.sent
    (flow,) = above.sent
    assert above.part(flow) == pytest.approx(50, abs=TOLERANCE)
    passed, lost = _total(outcomes, "arrived"), _total(outcomes, "sent") - _total(outcomes, "arrived")
    assert counted == {
        "conforming-pkts": passed,
        "conforming-octets": 512 * passed,
        "exceeding-pkts": lost,
        "exceeding-octets": 512 * lost,
    }


@pytest.mark.parametrize("classified", [False, True], ids=["2.5", "2.6"])
def test_dp_2_5_and_2_6_policer_of_two_rates(tmp_path_factory, artifact, classified):
    """15 % between 10 and 20 %: nothing is lost; then 40 %: half is."""
    policy = settings.two_rates(1_000_000, 2_000_000, 5_000, 5_000, "AF4")
    outcomes, counted = _policed(tmp_path_factory, artifact, policy, (15, 40), classified=classified)
    between, above = outcomes
    assert between.arrived == between.sent
    (flow,) = above.sent
    assert above.part(flow) == pytest.approx(50, abs=TOLERANCE)
    passed, lost = _total(outcomes, "arrived"), _total(outcomes, "sent") - _total(outcomes, "arrived")
    assert counted["violating-pkts"] == lost
    assert counted["conforming-pkts"] + counted["exceeding-pkts"] == passed
    # The committed rate of both seconds, and as much again beyond it in the second one.
    second = 1_000_000 / (8 * 512)
    assert counted["conforming-pkts"] == pytest.approx(2 * second, rel=0.05)
    assert all(counted[f"{what}-octets"] == 512 * counted[f"{what}-pkts"] for what in ("conforming", "exceeding"))


REFUSED = {
    "CPT-1.1": ("/qos/classifiers/classifier[name=arp]/terms/term[id=1]/conditions/l2/config/ethertype", 2054),
    "DP-1.5.3, DP-1.15.3, DP-1.16.3": (
        "/qos/classifiers/classifier[name=exp]/terms/term[id=1]/conditions/mpls/config/traffic-class",
        1,
    ),
}


@pytest.mark.parametrize(("place", "value"), REFUSED.values(), ids=REFUSED)
def test_what_no_packet_here_has_is_refused_at_once(tmp_path_factory, artifact, place, value):
    with bench_of(tmp_path_factory, artifact, settings.queues_and_groups()) as bench:
        with pytest.raises(grpc.RpcError, match="the models here have no such node") as caught:
            bench.replace(place, value)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
