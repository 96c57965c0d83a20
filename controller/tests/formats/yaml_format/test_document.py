"""YAML into plain values: what words mean, where they stand, and what isn't taken."""

import pytest

from phb.errors import InputError
from phb.formats.yaml_format.document import DEEPEST, MOST_REPEATED, load

# YAML 1.2, chapter 10.3: the core schema. YAML 1.1 has many more words.
MEANINGS = {
    "5": 5,
    "-5": -5,
    "+5": 5,
    "010": 10,
    "0o10": 8,
    "0x1F": 31,
    "1.5": 1.5,
    ".5": 0.5,
    "1e3": 1000.0,
    "-.inf": float("-inf"),
    "9" * 50: float("9" * 50),
    "": None,
    "~": None,
    "null": None,
    "NULL": None,
    "true": True,
    "False": False,
    "yes": "yes",
    "On": "On",
    "n": "n",
    "nULL": "nULL",
    "12:30": "12:30",
    "8:00-17:30": "8:00-17:30",
    "1_000": "1_000",
    "0b11": "0b11",
    "0x": "0x",
    "1.2.3.4": "1.2.3.4",
    "2026-01-01": "2026-01-01",
    "02:00:00:00:00:01": "02:00:00:00:00:01",
    "=": "=",
    "+": "+",
    ".": ".",
    "'5'": "5",
    '"true"': "true",
    "'~'": "~",
    "<<": "<<",
}


@pytest.mark.parametrize("word", MEANINGS)
def test_meaning(word):
    value = load(f"key: {word}\n", "f")["key"]
    assert value == MEANINGS[word]
    assert type(value) is type(MEANINGS[word])


def test_keys_are_text():
    assert list(load("5: a\ntrue: b\n~: c\n", "f")) == ["5", "true", "~"]


def test_lines():
    data = load("# comment\na:\n  - x\n  - b: 1\n    c: {d: 1,\n         e: 2}\nf: [1,\n  2]\n", "f")
    assert data.line == 2
    assert data.lines == {"a": 2, "f": 7}
    assert data["a"].lines == [3, 4]
    assert data["a"][1].lines == {"b": 4, "c": 5}
    assert data["a"][1]["c"].lines == {"d": 5, "e": 6}
    assert data["f"].lines == [7, 8]


def test_nothing():
    assert load("", "f") is None
    assert load("# only a comment\n", "f") is None


def test_one_document_with_markers():
    assert load("%YAML 1.2\n--- # here\na: 1\n...\n", "f") == {"a": 1}


def test_an_alias_is_the_value_of_its_anchor():
    data = load("a: &x {b: 1}\nc: *x\nd: [*x, &y 7, *y]\n", "f")
    assert data == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, 7, 7]}
    assert data.lines["c"] == 2
    assert data["c"].lines["b"] == 1
    assert data["d"].lines == [3, 3, 3]


def test_a_later_anchor_of_the_same_name_counts_from_there():
    assert load("[&a 1, *a, &a 2, *a]", "f") == [1, 1, 2, 2]


def bomb(levels):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


REFUSED = {
    "billion laughs": (
        bomb(10),
        f"f:6: found aliases that repeat more than {MOST_REPEATED} values, expected fewer of them",
    ),
    "alias in its anchor": (
        "a: 1\nb: &x [*x]\n",
        "f:2: found the alias '*x' inside its own anchor, expected values that end",
    ),
    "alias without anchor": ("a: 1\nb: *x\n", "f:2: found the alias '*x', expected an anchor '&x' before it"),
    "alias as key": ("a: &x b\n*x : 1\n", "f:2: found a key that isn't plain text, expected text as a key"),
    "list as key": ("a: 1\n[b]: 1\n", "f:2: found a key that isn't plain text, expected text as a key"),
    "tag": ("a: 1\nb: !!python/name:os.system x\n", "f:2: found the tag 'tag:yaml.org,2002:python/name:os.system'"),
    "tag of a mapping": ("a: !x {}\n", "f:1: found the tag '!x', expected values without tags"),
    "key again": ("a: 1\nb:\n  c: 1\n  c: 2\n", "f:4: found key 'c' again, expected it once; it also stands in line 3"),
    "second document": ("a: 1\n---\nb: 1\n", "f:2: found a second document, expected one document in a file"),
    "depth": ("a:\n " + "[" * 5000, f"f:2: found more than {DEEPEST} mappings and lists in each other"),
    "tab": ("a:\n\tb: 1\n", "f:2: found broken YAML (found character that cannot start any token"),
    "control character": ("a: 1\nb: \x01\n", "f:2: found broken YAML (control characters are not allowed: #x01)"),
    "open quote": ("a: 'b\n", "f:2: found broken YAML (found unexpected end of stream while scanning a quoted scalar)"),
    "two values": ("a: b: c\n", "f:1: found broken YAML (mapping values are not allowed in this context)"),
    "version": ("%YAML 3.0\n---\na: 1\n", "f:1: found broken YAML (found incompatible YAML document)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    text, message = REFUSED[case]
    with pytest.raises(InputError) as caught:
        load(text, "f")
    # libyaml's own messages end in more context.
    assert str(caught.value).startswith(message)


def test_nested_aliases_within_the_bound():
    assert len(load(bomb(5), "f")["a4"]) == 10
