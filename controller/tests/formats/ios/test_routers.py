"""Whole configurations of routers as `show running-config` prints them: their models, and what is listed or refused.

After an intended change, run the tests with PHB_UPDATE_GOLDEN=1 and read the diff.
"""

import os
from pathlib import Path

import pytest

from phb.errors import InputError, every
from phb.formats import yaml_format
from phb.formats.ios import read

ROUTERS = Path(__file__).resolve().parents[2] / "golden" / "ios"
CONFIGURATIONS = sorted(path.stem for path in ROUTERS.glob("*.ios"))

# What isn't listed though a configuration means the same without it, as it says what is so anyway; and what is no
# statement.
SAID_ANYWAY = (
    "Building configuration",
    "Current configuration",
    "conform-action transmit",
    "deny   ip any any",
    "deny ipv6 any any",
    "description",
    "encapsulation",
    "exceed-action drop",
    "fair-queue",
    "no fair-queue",
    "no ip address",
    "no switchport",
    "random-detect",
    "Using ",
    "version",
)


def taken(text):
    """The model and the notices, or the errors."""
    try:
        policy = read(text, "router")
    except InputError as error:
        return None, [str(each).partition(":")[2] for each in every(error)]
    kinds = ("warning", "note")
    return policy, [f"{kinds[each.aside]} {each.origin.line}: {each.message}" for each in policy.notices]


@pytest.mark.parametrize("router", CONFIGURATIONS)
def test_model_and_what_is_listed(router):
    policy, listed = taken((ROUTERS / f"{router}.ios").read_text())
    compare(f"{router}.listed.txt", "".join(f"{each}\n" for each in listed))
    if policy is not None:
        compare(f"{router}.model.yaml", yaml_format.write(policy))


@pytest.mark.parametrize("router", CONFIGURATIONS)
def test_every_line_is_understood_or_listed(router):
    """What is neither listed nor below a line that is changes the model when it is taken away."""
    text = (ROUTERS / f"{router}.ios").read_text()
    rows = text.splitlines()
    whole, listed = taken(text)
    if whole is None:
        pytest.skip("refused: its golden file has the errors")
    places = {int(each.partition(" ")[2].partition(":")[0]) for each in listed}
    silent = []
    for number in unlisted(rows, places):
        without = "\n".join(["!" if at == number else row for at, row in enumerate(rows, start=1)])
        again, listed_again = taken(without)
        if again == whole and listed_again == listed:
            silent.append(f"{number}: {rows[number - 1]}")
    assert silent == []


def unlisted(rows, listed):
    """Numbers of statements that are neither listed nor below one that is."""
    left_out, banner = None, None
    for number, row in enumerate(rows, start=1):
        indent = len(row) - len(row.lstrip())
        if banner is not None:
            banner = None if banner in row else banner
        elif not row.strip() or row.lstrip().startswith("!") or row.strip() == "end":
            continue
        elif number in listed:
            left_out = indent if left_out is None or indent <= left_out else left_out
            delimiter = next((each for each in ("^C", "^F") if row.count(each) == 1), None)
            banner = delimiter if "banner" in row else None
        elif left_out is None or indent <= left_out:
            left_out = None
            if not row.strip().startswith(SAID_ANYWAY) and " remark " not in row:
                yield number


def compare(name, text):
    path = ROUTERS / name
    if os.environ.get("PHB_UPDATE_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text
