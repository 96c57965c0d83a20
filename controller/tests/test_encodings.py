"""What the octets of a policy file are, as editors and hosts save it."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb import cli
from phb.encodings import decode
from phb.errors import InputError
from phb.formats import read_content
from phb.model import Dialect

IOS = """! phb: dialect ios-hqf
! Z\u00fcrich
policy-map p
 class class-default
  fair-queue
interface Serial0/0
 description Z\u00fcrich
 bandwidth 64
 service-policy output p
"""
AGENT = """# Z\u00fcrich
PolicyAction a
{
    OutgoingTOS 10100000
}
PolicyRule r
{
    PolicyActionReference a
}
"""
YAML = "# Z\u00fcrich\nphb: 1\nactions: []\n"
LDIF = "# Z\u00fcrich\ndn: cn=r,o=x\nobjectClass: pcimRuleInstance\ncn: r\n"
TEXTS = {"x.ios": IOS, "x.conf": AGENT, "x.yaml": YAML, "x.ldif": LDIF}
MARKED = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}


@pytest.mark.parametrize("encoding", MARKED)
@pytest.mark.parametrize("name", TEXTS)
def test_a_byte_order_mark(name, encoding):
    plain = read_content(TEXTS[name].encode(), name)
    marked = read_content(MARKED[encoding] + TEXTS[name].encode(encoding), name)
    assert marked == plain
    assert marked.notices == plain.notices


def test_a_mark_does_not_hide_the_dialect():
    policy = read_content(codecs.BOM_UTF8 + IOS.encode(), "x.ios")
    assert policy.queueing[0].schedule.queues[0].fair_queue.dialect is Dialect.IOS_HQF


@pytest.mark.parametrize(("name", "line"), [("x.ios", 2), ("x.conf", 1)])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_windows_1252(name, line, encoding):
    policy = read_content(TEXTS[name].encode(encoding), name)
    assert policy == read_content(TEXTS[name].encode(), name)
    assert str(policy.notices[0]) == (
        f"{name}:{line}: octets that aren't UTF-8 are read as Windows-1252, of which ISO 8859-1 is a part"
    )


@pytest.mark.parametrize("name", ["x.yaml", "x.ldif"])
def test_formats_that_are_utf_8(name):
    expected = f"^{name}:1: found a byte that isn't UTF-8 at offset 3, expected UTF-8 text$"
    with pytest.raises(InputError, match=expected):
        read_content(TEXTS[name].encode("latin-1"), name)
    with pytest.raises(InputError, match=f"^{name}:3: found a byte that isn't UTF-8 at offset 5, expected"):
        read_content(b"#\r\n#\n" + TEXTS[name].encode("latin-1")[3:], name)


@pytest.mark.parametrize("page", ["cp037", "cp500", "cp1140"])
@pytest.mark.parametrize("name", TEXTS)
def test_ebcdic(name, page):
    with pytest.raises(InputError) as caught:
        read_content(TEXTS[name].encode(page), name)
    assert str(caught.value) == (
        f"{name}: found text in EBCDIC, expected UTF-8: transfer it as text, or iconv -f IBM-1047 -t UTF-8"
    )


@pytest.mark.parametrize("name", TEXTS)
def test_lines_of_ebcdic_behind_iconv(name):
    """IBM-1047's line end is NEL, and what iconv makes of it is U+0085."""
    assert read_content(TEXTS[name].replace("\n", "\x85").encode(), name) == read_content(TEXTS[name].encode(), name)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("name", TEXTS)
def test_zeros_between_the_letters(name, encoding):
    with pytest.raises(InputError) as caught:
        read_content(TEXTS[name].replace("\u00fc", "u").encode(encoding), name)
    expected = f"{name}: found octets of zero between the letters, expected UTF-8, or UTF-16 with a byte-order mark"
    assert str(caught.value) == expected


def test_half_of_a_character():
    with pytest.raises(InputError, match="found octets that aren't UTF-16 at offset 4, expected the text that its"):
        read_content(codecs.BOM_UTF16_LE + b"a\0b", "x.ios")


def test_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "r.conf"
    file.write_bytes(AGENT.encode("latin-1"))
    assert cli.run(["convert", "--to", "yaml", str(file)]) == 0
    assert "read as Windows-1252" in capsys.readouterr().err


@given(st.binary(max_size=200))
def test_any_octets_are_text_or_an_error(content):
    try:
        text = decode(content, "f").text
    except InputError as error:
        text = str(error)
    assert "\r" not in text
