"""``phb diff --html``: the page is written, and says who compared what."""

import getpass
from hashlib import sha256

import pytest

OLD = "phb: 1\nports: [{number: 1, name: a}, {number: 2, name: b}]\ncross-connects: [{between: [a, b]}]\n"
NEW = OLD + "rules: [{name: closed, permission: blocked, match: {protocol: udp}}]\n"


@pytest.fixture
def files(write_file):
    return str(write_file("old.yaml", OLD)), str(write_file("new.yaml", NEW))


def test_a_page_beside_the_answer(phb, files, tmp_path):
    path = tmp_path / "change.html"
    code, out, err = phb("diff", *files, "--html", str(path))
    assert (code, err) == (1, "")
    assert "1 region differs" in out
    text = path.read_text()
    assert "1 region of packets is treated differently" in text
    assert f"by {getpass.getuser()}@" in text
    digest = sha256(NEW.encode()).hexdigest()
    assert all(digest[start : start + 16] in text for start in range(0, 64, 16))
    assert f"phb explain {files[0]} --packet" in text.replace("&#39;", "'")


def test_a_page_that_cannot_be_written(phb, files):
    code, _, err = phb("diff", *files, "--html", "/nowhere/x.html")
    assert code == 2
    assert err.startswith("phb: --html: found '/nowhere/x.html' (no such file or directory), expected a file to write")
