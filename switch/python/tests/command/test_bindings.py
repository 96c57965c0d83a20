"""The file of bindings."""

from pathlib import Path
from typing import Any, cast

import grpc
import pytest

from phb_switch.authorization import Permit
from phb_switch.command.bindings import read
from phb_switch.command.errors import InputError
from phb_switch.errors import StatusError


class Context:
    """What a server knows of a client."""

    def __init__(self, name: str) -> None:
        self._name = name

    def auth_context(self) -> dict[str, list[bytes]]:
        return {"x509_common_name": [self._name.encode()]}


def permit(path: Path, name: str) -> Permit:
    return read(path).client(cast(grpc.ServicerContext, Context(name)))


def allowed(permit: Permit, *arguments: Any, **more: Any) -> bool:
    try:
        permit.require(*arguments, **more)
    except StatusError:
        return False
    return True


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "bindings.toml"
    path.write_text(
        """
        # who may do what
        [[client]]
        name = "a"
        roles = ["", "packets"]
        devices = [1, 2]

        [[client]]
        name = "b"
        read_only = true
        """
    )
    a, b, c = (permit(path, name) for name in "abc")
    assert [allowed(a, 1, role, write=True) for role in ("", "packets", "admin")] == [True, True, False]
    assert [allowed(a, device) for device in (1, 2, 3)] == [True, True, False]
    assert allowed(b, 9, "any")
    assert not allowed(b, 9, "any", write=True)
    assert not allowed(c, 1)


def test_read_inline(tmp_path: Path) -> None:
    path = tmp_path / "bindings.toml"
    path.write_text('client = [{name = "a"}, {name = "b", devices = [1]}]')
    assert allowed(permit(path, "a"), 5)
    assert not allowed(permit(path, "b"), 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[client]\n", ".toml: .*line 1"),
        ("", ".toml: no .*client"),
        ("x = 1", ".toml:1: found 'x', expected"),
        ("\n[server]\n", ".toml:2: found 'server', expected"),
        ("\n[client]\nname = 'a'", ".toml:2: expected .*in double brackets"),
        ("\n[[client]]\nroles = []", ".toml:2: name is missing"),
        ("[[client]]\nname = 7", ".toml:2: name: found 7, expected a string"),
        ("[[client]]\nname = ''", ".toml:2: name: found '', expected a string"),
        ("[[client]]\nname = 'a'\n[[client]]\nname = 'b'\nrole = 'x'", ".toml:5: found 'role', expected one of"),
        ("[[client]]\nname = 'a'\nroles = 'x'", ".toml:3: roles: found 'x', expected a list of strings"),
        ("[[client]]\nname = 'a'\nroles = [1]", ".toml:3: roles: found 1, expected strings"),
        ("[[client]]\nname = 'a'\n\ndevices = [-1]", ".toml:4: devices: found -1, expected device ids"),
        ("[[client]]\nname = 'a'\ndevices = [true]", ".toml:3: devices: found True, expected device ids"),
        ("[[client]]\nname = 'a'\nread_only = 1", ".toml:3: read_only: found 1, expected true or false"),
    ],
)
def test_wrong(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bindings.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read(path)


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent: No such file"):
        read(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not TOML: it is not UTF-8"):
        read(tmp_path / "binary")
