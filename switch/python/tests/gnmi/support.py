"""A switch with gNMI at a port of its own, and requests to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc

from phb_switch import P4RuntimeServer, PortConfig, Switch

DEVICE = 7
NAMES = {1: "eth1", 2: "eth2"}


class Client:
    """Raw stubs, and the boilerplate of requests."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.stub = gnmi_grpc.gNMIStub(self.channel)

    def get(self, *paths: str, encoding: Any = gnmi.Encoding.PROTO, kind: Any = gnmi.GetRequest.ALL) -> list[Any]:
        request = gnmi.GetRequest(path=[path(each) for each in paths], encoding=encoding, type=kind)
        return [update for each in self.stub.Get(request).notification for update in each.update]

    def values(self, *paths: str) -> dict[str, Any]:
        return {text(update.path): scalar(update.val) for update in self.get(*paths)}

    def set(self, **operations: Any) -> gnmi.SetResponse:
        request = gnmi.SetRequest(delete=[path(each) for each in operations.get("delete", [])])
        for name in ("replace", "update"):
            for where, value in operations.get(name, {}).items():
                getattr(request, name).add(path=path(where), val=typed(value))
        return self.stub.Set(request)

    def refused(self, code: grpc.StatusCode, **operations: Any) -> str:
        with pytest.raises(grpc.RpcError) as caught:
            self.set(**operations)
        assert caught.value.code() == code
        return str(caught.value.details())


def typed(value: Any) -> gnmi.TypedValue:
    match value:
        case gnmi.TypedValue():
            return value
        case int():
            return gnmi.TypedValue(uint_val=value)
        case _:
            return gnmi.TypedValue(string_val=value)


def scalar(value: gnmi.TypedValue) -> Any:
    return getattr(value, str(value.WhichOneof("value")))


def path(given: str) -> gnmi.Path:
    """Reads /a/b[k=v]; what keys have is never a slash here."""
    found = gnmi.Path()
    for part in given.strip("/").split("/") if given.strip("/") else []:
        name, *keys = part.replace("]", "").split("[")
        found.elem.add(name=name, key=dict(key.split("=", 1) for key in keys))
    return found


def text(given: gnmi.Path) -> str:
    return "/" + "/".join(
        each.name + "".join(f"[{key}={value}]" for key, value in sorted(each.key.items())) for each in given.elem
    )


@contextmanager
def serving(ports: dict[int, PortConfig] | None = None, **more: Any) -> Iterator[tuple[Switch, Client]]:
    switch = Switch("test", ports or {1: PortConfig(), 2: PortConfig()})
    server = P4RuntimeServer(switch, device_id=DEVICE, names=NAMES, **more)
    port = server.start()
    client = Client(port)
    try:
        yield switch, client
    finally:
        client.channel.close()
        server.stop()
