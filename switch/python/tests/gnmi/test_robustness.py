"""No request, however odd, does anything but succeed or be refused with a status; a refused one changes nothing."""

import json
from typing import Any

from finsy.proto import gnmi
from hypothesis import given
from hypothesis import strategies as st

from phb_switch import PortConfig, Switch
from phb_switch.errors import INVALID_ARGUMENT, NOT_FOUND, StatusError
from phb_switch.gnmi import encoding, paths, schema
from phb_switch.gnmi.service import _values
from phb_switch.gnmi.tree import Tree

from .support import NAMES

WORDS = sorted({name for leaf in schema.LEAVES for name in leaf})
NAME = st.sampled_from([*WORDS, "*", "...", "x", "openconfig-qos:qos"])
KEY = st.tuples(
    st.sampled_from(["name", "interface-id", "sequence", "x"]), st.sampled_from(["eth1", "0", "007", "*", ""])
)
VALUE = st.one_of(
    st.integers(-(1 << 70), 1 << 70), st.text(max_size=5), st.sampled_from(["SPEED_1GB", "SHAPE", "eth1"])
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | VALUE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def real_paths(draw: st.DrawFn) -> gnmi.Path:
    """A path of the models, with keys where they belong, and now and then a mistake."""
    leaf = draw(st.sampled_from(sorted(schema.LEAVES)))
    found = gnmi.Path()
    for depth in range(1, draw(st.integers(0, len(leaf))) + 1):
        each = found.elem.add(name=leaf[depth - 1])
        key = schema.LISTS.get(leaf[:depth])
        if key is not None and draw(st.integers(0, 9)):
            each.key[key] = draw(st.sampled_from(["eth1", "eth2", "slow", "0", "1"]))
    return found


PATHS = st.one_of(
    real_paths(),
    st.builds(
        lambda elements: gnmi.Path(elem=[gnmi.PathElem(name=name, key=dict(keys)) for name, keys in elements]),
        st.lists(st.tuples(NAME, st.lists(KEY, max_size=2)), max_size=9),
    ),
)
TYPED = st.one_of(
    JSON.map(lambda content: gnmi.TypedValue(json_ietf_val=json.dumps(content).encode())),
    st.binary(max_size=8).map(lambda data: gnmi.TypedValue(json_val=data)),
    st.text(max_size=8).map(lambda text: gnmi.TypedValue(string_val=text)),
    st.integers(0, (1 << 64) - 1).map(lambda number: gnmi.TypedValue(uint_val=number)),
    st.sampled_from([gnmi.TypedValue(), gnmi.TypedValue(bool_val=True), gnmi.TypedValue(double_val=float("nan"))]),
)
UPDATES = st.lists(st.builds(lambda path, value: gnmi.Update(path=path, val=value), PATHS, TYPED), max_size=3)


def tree() -> tuple[Switch, Tree]:
    switch = Switch("test", {1: PortConfig(rate_bps=64_000), 2: PortConfig()})
    return switch, Tree(switch, NAMES, dict)


@given(updates=UPDATES, replaces=UPDATES, deletes=st.lists(PATHS, max_size=2))
def test_set(updates: list[Any], replaces: list[Any], deletes: list[Any]) -> None:
    switch, under_test = tree()
    before, ports = under_test.configuration(), switch.ports()
    refused = None
    try:
        under_test.set(gnmi.SetRequest(update=updates, replace=replaces, delete=deletes))
    except StatusError as error:
        refused = error.code
    assert refused in (None, INVALID_ARGUMENT)
    if refused is not None:
        assert (under_test.configuration(), switch.ports()) == (before, ports)
    # What is there can be told in every encoding, and set again as it is.
    data = under_test.everything()
    content = encoding.nested([datum for datum in data if datum[1].writable], 0, gnmi.Encoding.JSON_IETF)
    settings = under_test.configuration()
    value = gnmi.TypedValue(json_ietf_val=json.dumps(content).encode())
    under_test.set(gnmi.SetRequest(replace=[gnmi.Update(path=gnmi.Path(), val=value)]))
    assert sorted(map(str, under_test.configuration())) == sorted(map(str, settings))


@given(path=PATHS, how=st.sampled_from(encoding.ENCODINGS))
def test_get(path: Any, how: int) -> None:
    _, under_test = tree()
    found: list[gnmi.Update] = []
    refused = None
    try:
        found = list(_values(paths.read(path), under_test.everything(), how))
    except StatusError as error:
        refused = error.code
    assert refused in (None, INVALID_ARGUMENT, NOT_FOUND)
    for update in found:
        field = update.val.WhichOneof("value")
        if field in ("json_val", "json_ietf_val"):
            json.loads(getattr(update.val, field))
