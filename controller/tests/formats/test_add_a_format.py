"""The examples of docs/inside/add-a-format.md do what the page says."""

import re
import subprocess
import sys
from pathlib import Path

from phb.formats import FORMATS, Format
from phb.formats.format import ReadOptions

PAGE = Path(__file__).resolve().parents[3] / "docs" / "inside" / "add-a-format.md"
FORMAT, ROW, STATEMENT = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


def test_format():
    marks = {}
    exec(FORMAT, marks)
    row = eval(ROW.replace("marks.read", "read"), {"Format": Format, "re": re, "read": marks["read"]})
    text = "port 80 dscp AF21\nport 22 dscp CS2\n"
    policy = row.read(text, "f.marks", ReadOptions())
    assert [(action.name, action.set_dscp) for action in policy.actions] == [("port 80", 18), ("port 22", 16)]
    assert policy.rules[1].origin().line == 2
    assert row.signature.search(text)
    assert not any(form.signature.search(text) for form in FORMATS)


def test_ios_statement():
    # In a process of its own: the statement stays in the table.
    program = f"""{STATEMENT}
from phb.formats import ReadOptions
from phb.formats.ios import read
from phb.model import Dialect

text = "interface Fa0/0\\n fair-queue\\n output-q 60\\n"
print(read(text, "f", ReadOptions(Dialect.IOS_12)).queueing[0].hold_queue)
try:
    read(text.replace("60", "5000"), "f", ReadOptions(Dialect.IOS_12))
except Exception as error:
    print(error)
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[0] == "60"
    assert "found '5000', expected packets from 1 to 4096" in printed
    assert "found '5000', expected packets from 1 to 4096" in PAGE.read_text()
