import csv
import json
import logging
import os
import signal
import subprocess
import sys
import time
from io import StringIO

import pytest

from phb_lab import registry
from phb_lab.intervals import Interval
from phb_lab.sweeping import summary
from phb_lab.sweeping.job import OWN_POLICIES, Job, PolicyChoice, Sample, jobs, run_job

S390 = registry.find("s390")
WFQ = S390.find_test("diffserv-wfq-cip")


def phb_lab(*arguments, cwd):
    command = [sys.executable, "-m", "phb_lab", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=180)


def test_jobs_are_every_combination():
    made = jobs(
        [(S390, WFQ)], [OWN_POLICIES, PolicyChoice("b", ())], {"transmit_ring": [0, 6], "other": [1]}, (1, 2), 9
    )
    assert len(made) == len(set(made)) == 2 * 2 * 2
    assert {job.options for job in made} == {(("transmit_ring", 0),), (("transmit_ring", 6),)}


def test_a_job_carries_its_policy_files_along(tmp_path):
    fifo = S390.network(S390.find_test("diffserv-fifo-cip"), seed=1, options=S390.defaults())
    files = next(switch.policy_files for switch in fifo.switches if switch.name == "c7513")
    copies = []
    for path in files:
        copies.append(tmp_path / path.name)
        copies[-1].write_text(path.read_text())
    choice = PolicyChoice.read("fifo", {"c7513": copies})
    for copy in copies:
        copy.unlink()
    sample = run_job(Job("s390", WFQ.name, choice, (), 1, 12))
    own = run_job(Job("s390", WFQ.name, OWN_POLICIES, (), 1, 12))
    assert sample.error is None
    assert sample.values["interactive"]["response_mean_s"] > 4 * own.values["interactive"]["response_mean_s"]


def test_a_wrong_policy_is_the_samples_error_with_the_files_own_name(tmp_path):
    (tmp_path / "bad.yaml").write_text("phb: 1\nnode: c7513\nnonsense: 1\n")
    choice = PolicyChoice.read("bad", {"c7513": [tmp_path / "bad.yaml"]})
    sample = run_job(Job("s390", WFQ.name, choice, (), 1, 12))
    assert sample.values == {}
    assert "bad.yaml:3" in sample.error
    assert "/tmp" not in sample.error


def test_rows_are_means_over_seeds_and_failures_stay_out():
    job = Job("s390", WFQ.name, OWN_POLICIES, (), 1, None)
    samples = [Sample(job, {"g": {"n": float(n)}}, {}) for n in (1, 2, 3)] + [Sample(job, {}, {}, "broken")]
    (row,) = summary.rows(samples)
    assert (row.group, row.quantity, row.interval) == ("g", "n", Interval.of([1, 2, 3]))
    assert summary.as_json(samples)["failed"] == [{"job": str(job), "error": "broken"}]
    assert len(list(csv.reader(StringIO(summary.as_csv(samples))))) == 1 + 3


def test_a_sweep_on_a_local_cluster_gives_what_single_runs_give(tmp_path):
    done = phb_lab(
        "sweep", "s390:diffserv-wfq-cip", "--set", "transmit_ring=0,6", "--seeds", "2", "--duration", "25",
        "--workers", "2", "--json", "s.json", "--csv", "s.csv", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "s390 diffserv-wfq-cip, policies own, transmit_ring 6: 2 seeds" in done.stdout
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    alone = run_job(Job("s390", WFQ.name, OWN_POLICIES, (("transmit_ring", 6),), 2, 25))
    for row in rows:
        if row["seed"] == "2" and row["options"] == "transmit_ring=6":
            assert float(row["value"]) == alone.values[row["group"]][row["quantity"]]
    assert {row["seed"] for row in rows} == {"1", "2"}
    assert all(row["samples"] == 2 for row in json.loads((tmp_path / "s.json").read_text())["rows"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s391"], "phb-lab: network s391: expected one of: s390"),
        (["s390:x"], "phb-lab: --test x: expected one of: diffserv-fifo-cip"),
        (["s390", "--policy", "x"], "phb-lab: --policy x: expected LABEL:SWITCH=FILE[,FILE]"),
        (["s390", "--policy", "a:c7513=none.yaml"], "phb-lab: --policy c7513=none.yaml: none.yaml: found no file"),
        (["s390", "--no-own"], "phb-lab: --no-own: expected --policy"),
        (["s390", "--set", "transmit_ring=1,x"], "phb-lab: --set transmit_ring=1,x: found 'x', expected whole numbers"),
        (["s390", "--scheduler", "tcp://127.0.0.1:1"], "phb-lab: --scheduler tcp://127.0.0.1:1: "),
        (["s390", "--scheduler", "127.0.0.1:1", "--workers", "1"], "phb-lab: --workers and --scheduler"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    done = phb_lab("sweep", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def is_gone(group):
    """Whether a process group ends within seconds: multiprocessing's own helper outlives the sweep by a moment."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("after_s", [1.5, 4.0, 8.0])
def test_ctrl_c_ends_a_sweep_and_its_workers(tmp_path, after_s):
    command = [sys.executable, "-m", "phb_lab", "sweep", "s390:diffserv-wfq-cip", "--seeds", "400", "--workers", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(after_s)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the sweep and to each of its workers
    try:
        _, errors = process.communicate(timeout=30)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode in {130, -signal.SIGINT}  # the latter before anything was begun
    assert "Traceback" not in errors
    assert is_gone(process.pid)


def test_what_is_named_twice_is_run_once(tmp_path):
    done = phb_lab(
        "sweep", "s390:diffserv-wfq-cip", "s390:diffserv-wfq-cip", "--set", "transmit_ring=1,1", "--seeds", "1",
        "--duration", "12", "--workers", "1", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "transmit_ring 1: 1 seed\n" in done.stdout


def test_a_running_scheduler_takes_the_jobs(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR) as real:
        done = phb_lab(
            "sweep", "s390:diffserv-wfq-cip", "--seeds", "1", "--duration", "12",
            "--scheduler", real.scheduler_address, "--csv", "s.csv", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 seed\n" in done.stdout
