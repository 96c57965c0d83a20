from textwrap import dedent

import pytest

pytest_plugins = ("pytester",)

FIVE_LINES = """
    def test_terminals_stay_fast_while_30_transfers_run(qos):
        run = qos.run("s390", "{test}", duration_s=60)
        assert run["interactive"].p95_s < 1
        assert run["ftp"].n > 10
"""


def run(pytester, text, *arguments):
    pytester.makepyfile(dedent(text))
    # In a process of its own: gRPC, and the options of this very run, stay out of it.
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_a_qos_test_of_five_lines_passes_under_fair_queueing(pytester):
    run(pytester, FIVE_LINES.format(test="diffserv-wfq-cip")).assert_outcomes(passed=1)


def test_it_fails_under_fifo_and_tells_what_every_group_got_and_how_to_see_it(pytester):
    done = run(pytester, FIVE_LINES.format(test="diffserv-fifo-cip"), "--phb-seed", "5")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*p95_s*",
            "*phb-lab*",
            "phb-lab run s390 --test diffserv-fifo-cip --seed 5 --duration 60",
            "  ftp: n *, per_s *, response_mean_s *",
            "  interactive: n *response_p95_s *",
        ]
    )


def test_policies_and_options_are_taken_and_equal_runs_run_once(pytester):
    pytester.makefile(
        ".yaml",
        wfq="""
            phb: 1
            node: c7513
            queueing:
              - port: Serial5/0/0
                length-basis: ppp
                hold-queue: 150
                schedule: {kind: fair-queue, dialect: ios-11.3, dynamic-conversations: 4096}
        """,
    )
    done = run(
        pytester,
        """
        from pathlib import Path

        import phb_examples

        FOLDER = Path(phb_examples.__file__).parent / "s390"
        FILES = [FOLDER / "c7513.yaml", FOLDER / "c7513-routes-cip.yaml", "wfq.yaml"]

        def test_a_policy_of_ones_own(qos):
            def ask(ring):
                policies = {"c7513": FILES}
                return qos.run("s390", "diffserv-fifo-cip", policies=policies, duration_s=12, transmit_ring=ring)

            assert ask(0) is ask(0)
            assert ask(0)["interactive"].mean_s < ask(6)["interactive"].mean_s < 2
        """,
    )
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('qos.run("s391", "x")', "network s391: expected one of: s390"),
        ('qos.run("s390", "x")', "--test x: expected one of: diffserv-fifo-cip"),
        ('qos.run("s390", "diffserv-fifo-cip", ring=1)', "option ring: expected one of: transmit_ring"),
        (
            'qos.run("s390", "diffserv-fifo-cip", transmit_ring=-5)',
            "option transmit_ring: found -5, expected a whole number from 0 to 100000",
        ),
        (
            'qos.run("s390", "diffserv-fifo-cip", duration_s=9, policies={"c1": []})',
            "switch c1: expected one of: c3640",
        ),
    ],
)
def test_what_is_not_known_is_said(pytester, call, message):
    done = run(pytester, f"def test_it(qos):\n    {call}\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([f"*UsageError: {message}*"])


def test_a_network_of_ones_own(pytester):
    done = run(
        pytester,
        """
        from phb_lab.description import Host, Network, RequestResponse, Wire

        def test_two_hosts_and_a_wire(qos):
            hosts = tuple(
                Host(name, (address,), mtu_bytes=1500, window_bytes=16384, delayed_ack_ns=None)
                for name, address in (("client", "192.0.2.1"), ("server", "192.0.2.2"))
            )
            flow = RequestResponse(
                "pair", "asked", "client", "192.0.2.1", "server", "192.0.2.2", 7, 100, 800, 1000, start_ns=0
            )
            wire = Wire(("client", 0), ("server", 0), delay_ns=5_000_000)
            run = qos.run_network(Network("two", (), hosts, (), (wire,), (flow,)), duration_s=1)
            assert run["asked"].mean_s == 0.01
        """,
    )
    done.assert_outcomes(passed=1)
