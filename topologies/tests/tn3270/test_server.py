"""The server, with the emulator that people use."""

import asyncio
import shutil

import pytest

from phb_lab.tn3270.server import Server, Session

needs_s3270 = pytest.mark.skipif(shutil.which("s3270") is None, reason="needs s3270 (Debian: apt-get install s3270)")


@needs_s3270
async def test_s3270_connects_shows_a_screen_enters_a_field_and_gets_the_reply():
    server = await asyncio.start_server(Server(reply_octets=1400).serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    script = [
        f"Connect(127.0.0.1:{port})",
        "Wait(30,InputField)",
        "Ascii()",
        'String("HELLO")',
        "Enter()",
        "Wait(30,InputField)",
        "Ascii(0,0,1,40)",
        "Disconnect()",
        "Quit()",
    ]
    emulator = await asyncio.create_subprocess_exec(
        "s3270", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(emulator.communicate("\n".join(script).encode()), 60)
    server.close()
    lines = said.decode().splitlines()
    assert any("READY" in line for line in lines), said
    assert any("000001 HELLO" in line for line in lines), said
    assert "error" not in lines, said


def test_a_session_survives_what_is_no_enter_and_refuses_what_is_no_tn3270e():
    session = Session(1)
    session.begin()
    shown = session.receive(bytes([255, 250, 40, 3, 4, 255, 240]))
    assert "READY".encode("cp037") in shown
    clear = session.receive(bytes([0, 0, 0, 0, 0, 0x6D, 255, 239]))
    assert "READY".encode("cp037") in clear
    assert session.receive(bytes([2, 0, 0, 0, 0, 0, 255, 239])) == b"", "a response asks for nothing"
    with pytest.raises(ValueError, match="a record of 1 octets"):
        session.receive(bytes([0, 255, 239]))
