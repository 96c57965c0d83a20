"""``--timeout`` is for reading, too: where even that takes too long, everything is open."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
BRANCH = EXAMPLES / "policies" / "branch-router.yaml"
EXPECTATIONS = EXAMPLES / "expectations" / "branch-router.yaml"


def forever(*_, **__):
    while True:
        pass


@pytest.fixture(autouse=True)
def nothing_is_read(monkeypatch):
    for name in ("phb.comparing.sources.read_documents", "phb.sources.read_sources", "phb.sources.read_documents"):
        monkeypatch.setattr(name, forever)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["diff", BRANCH, BRANCH], 1, "open: every packet: not answered in the time that was allowed\n"),
        (["search", BRANCH], 2, "open, not looked at in time: every packet\n"),
        (["verify", EXPECTATIONS, BRANCH], 1, " open\n"),
        (["check", "--prove", BRANCH], 1, "not proven in the time that was allowed"),
    ],
)
def test_everything_is_open(phb, words, code, said):
    found, out, _ = phb(*words, "--timeout", "0.2")
    assert found == code
    assert said in out
    assert "ok" not in out.split()


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["diff", BRANCH, BRANCH], lambda told: told["comparisons"][0]["open"]),
        (["search", BRANCH], lambda told: told["open"]),
        (["verify", EXPECTATIONS, BRANCH], lambda told: [told["open"]]),
        (["check", "--prove", BRANCH], lambda told: told["proof"]["open"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_json_says_so(phb, words, key):
    _, out, _ = phb(*words, "--timeout", "0.2", "--json")
    assert key(json.loads(out))
