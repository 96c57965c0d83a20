"""Prometheus itself: promtool finds nothing to say, and a real server scrapes, answers and ends series."""

import asyncio
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from made_up import BEGAN_NS, busy, observations, observe
from metrics_pages import MONITORING, OBJECTIVES, queries

from phb.monitor.metrics import serve
from phb.monitor.observation import Observation


def program(name: str) -> str:
    if (found := shutil.which(name)) is None:
        pytest.skip(f"{name} is not installed (Debian: prometheus)")
    return found


def promtool(*arguments, **options):
    done = subprocess.run([program("promtool"), *arguments], capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", MONITORING / "prometheus.yaml"),
        ("check", "rules", MONITORING / "alerts.yaml"),
        ("test", "rules", Path(__file__).parent / "alerts-test.yaml"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_promtool_takes_the_files(arguments):
    code, words = promtool(*arguments)
    assert (code, "SUCCESS" in words) == (0, True), words


async def test_promtool_finds_nothing_to_say_of_the_page():
    async with serve("127.0.0.1:0", ["edge"]) as taker:
        for observation in observations(5, objectives=OBJECTIVES):
            taker.take(observation)
        page = await asyncio.to_thread(fetched, f"http://{taker.address}/metrics")
    assert promtool("check", "metrics", input=page) == (0, "")


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Daemon:
    """A Prometheus that scrapes `target` five times a second."""

    def __init__(self, target: int, port: int) -> None:
        self.target = target
        self._url = f"http://127.0.0.1:{port}/api/v1/query"

    def ask(self, query: str):
        """Give the labels' values and the value of each result."""
        with urllib.request.urlopen(f"{self._url}?{urllib.parse.urlencode({'query': query})}", timeout=60) as answer:
            result = json.load(answer)["data"]["result"]
        return {
            tuple(sorted((name, word) for name, word in each["metric"].items() if name not in _SCRAPE)): float(
                each["value"][1]
            )
            for each in result
        }

    async def answers(self, query: str, expected) -> None:
        """Wait until a query is answered so."""
        answer = None
        for _ in range(200):
            answer = await asyncio.to_thread(self.ask, query)
            if answer == expected:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{query}: {answer}")


_SCRAPE = ("__name__", "instance", "job")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prometheus")
    target, port = free_port(), free_port()
    text = (MONITORING / "prometheus.yaml").read_text()
    text = text.replace("15s", "200ms").replace("127.0.0.1:9464", f"127.0.0.1:{target}")
    (folder / "prometheus.yaml").write_text(text)
    shutil.copy(MONITORING / "alerts.yaml", folder)
    command = [program("prometheus"), f"--config.file={folder / 'prometheus.yaml'}"]
    command += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        for _ in range(200):
            try:
                fetched(f"http://127.0.0.1:{port}/-/ready")
                break
            except (urllib.error.URLError, ConnectionError):
                assert running.poll() is None, (folder / "log").read_text()
                time.sleep(0.05)
        yield Daemon(target, port)
    finally:
        running.terminate()
        running.wait(timeout=60)


def of(**labels: str):
    return tuple(sorted((name.rstrip("_"), word) for name, word in labels.items()))


FIRST = of(switch="edge", class_="class-1")


async def test_prometheus_answers_with_the_figures_of_the_switch(daemon):
    async with serve(f"127.0.0.1:{daemon.target}", ["edge"]) as taker:
        for observation in observations(6, objectives=OBJECTIVES):
            taker.take(observation)
        await daemon.answers("up", {(): 1})
        await daemon.answers('phb_class_sent_bytes_total{class="class-1"}', {FIRST: 500_000})
        # Three quarters of the frames have less than this bound, and it is the lowest of those that say so.
        quantile = 'histogram_quantile(0.75, phb_class_delay_seconds_bucket{class="class-1"})'
        await daemon.answers(quantile, {FIRST: 0.003072})
        await daemon.answers(
            'count by (state) (phb_objective_state{state="not-achieved"} == 1)', {of(state="not-achieved"): 4}
        )
        fired = 'count by (alertname) (ALERTS{alertstate="firing"})'
        await daemon.answers(fired, {of(alertname="PhbObjectiveNotAchieved"): 4})
        for query in queries():
            if not query.startswith("label_values"):
                for name, word in (
                    ("$__rate_interval", "10s"),
                    ("$__interval", "10s"),
                    ("$switch", ".*"),
                    ("$class", ".*"),
                ):
                    query = query.replace(name, word)
                await asyncio.to_thread(daemon.ask, query)


async def test_series_of_a_switch_that_is_away_end_at_once(daemon):
    sent = 'phb_class_sent_packets_total{class="class-1"}'
    async with serve(f"127.0.0.1:{daemon.target}", ["edge"]) as taker:
        for observation in observe([busy(1), busy(2)]):
            taker.take(observation)
        await daemon.answers(sent, {FIRST: 200})
        taker.take(Observation("edge", BEGAN_NS, None))
        await daemon.answers(sent, {})
        assert await asyncio.to_thread(daemon.ask, "phb_switch_up") == {of(switch="edge"): 0}
        taker.take(Observation("edge", BEGAN_NS, busy(3)))
        await daemon.answers(sent, {FIRST: 300})
