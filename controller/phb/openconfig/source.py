"""The OpenConfig settings of a switch as a document, asked by gNMI."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from finsy.proto import gnmi

from phb.device.tls import Tls
from phb.errors import InputError, SwitchError
from phb.origin import Origin

SCHEME: Final = "gnmi://"
INTERVAL_S: Final = 0.5
TIMEOUT_S: Final = 10.0
_LARGEST: Final = 64 << 20
_PATHS: Final = (("interfaces",), ("qos",), ("controller", "state", "wanted"))


def address_of(name: str) -> str:
    """Give the address that a source's name has.

    Raises:
        InputError: It has none.
    """
    address = name[len(SCHEME) :].rstrip("/")
    if ":" not in address:
        raise InputError(Origin(name), f"the address '{address}'", "one with a port, such as gnmi://192.0.2.1:9559")
    return address


def read_tls(environment: Mapping[str, str] = os.environ) -> Tls | None:
    """Read ``PHB_GNMI_CA``, ``_CERTIFICATE``, ``_KEY`` and ``_SERVER_NAME``; without any of them it is plain text."""
    given = {name: environment.get(f"PHB_GNMI_{name}") or None for name in ("CA", "CERTIFICATE", "KEY", "SERVER_NAME")}
    if not any(given.values()):
        return None
    files = {name: Path(value) for name, value in given.items() if value is not None and name != "SERVER_NAME"}
    return Tls(files.get("CA"), files.get("CERTIFICATE"), files.get("KEY"), given["SERVER_NAME"])


@dataclass
class SwitchSource:
    """The settings of one switch; a connection is kept from one look to the next."""

    name: str
    tls: Tls | None
    interval_s: float = INTERVAL_S
    _channel: grpc.Channel | None = field(default=None, repr=False)

    def fetch(self) -> bytes:
        """Read them: the same octets for the same settings.

        Raises:
            InputError: A file of a certificate is wrong.
            SwitchError: The switch doesn't answer, or speaks no gNMI.
        """
        address = address_of(self.name)
        if self._channel is None:
            self._channel = _open(address, self.tls)
        request = gnmi.GetRequest(encoding=gnmi.Encoding.JSON)
        for names in _PATHS:
            request.path.add().elem.extend(gnmi.PathElem(name=name) for name in names)
        get = self._channel.unary_unary(
            "/gnmi.gNMI/Get",
            request_serializer=gnmi.GetRequest.SerializeToString,
            response_deserializer=gnmi.GetResponse.FromString,
        )
        try:
            answer = get(request, timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            words = error.details() or error.code().name
            raise SwitchError(address, f"gNMI: {self.tls.explain(words) if self.tls else words}") from None
        updates = [notification.update for notification in answer.notification]
        if len(updates) != len(_PATHS) or not all(updates):
            raise SwitchError(address, "gNMI: an answer without all that was asked for")
        interfaces, qos, wanted = (_content(each[0].val) for each in updates)
        return written(interfaces, qos, int(wanted))


def written(interfaces: Any, qos: Any, wanted: int) -> bytes:
    """Write settings as a document, without state: numbers of ports become settings, the rest of state goes."""
    ports = [
        {
            "name": each["name"],
            "config": {"name": each["name"], "openconfig-p4rt:id": each["state"]["id"]},
            **({"openconfig-if-ethernet:ethernet": _settings(each["ethernet"])} if "ethernet" in each else {}),
        }
        for each in interfaces.get("interface", ())
    ]
    document = {
        "phb-controller:controller": {"state": {"wanted": str(wanted)}},
        "openconfig-interfaces:interfaces": {"interface": ports},
        "openconfig-qos:qos": _settings(qos),
    }
    return json.dumps(document, indent=1, sort_keys=True).encode()


def wanted_of(content: bytes) -> int:
    """Give the number of the settings in a document of `written`."""
    return int(json.loads(content)["phb-controller:controller"]["state"]["wanted"])


def _settings(value: Any) -> Any:
    """Leave state out, and entries of lists that have nothing else."""
    if isinstance(value, list):
        kept = [_settings(each) for each in value]
        return [each for each in kept if not isinstance(each, dict) or "config" in each]
    if isinstance(value, dict):
        return {name: _settings(each) for name, each in value.items() if name != "state"}
    return value


def _content(value: gnmi.TypedValue) -> Any:
    return json.loads(value.json_val or value.json_ietf_val or b"null")


def _open(address: str, tls: Tls | None) -> grpc.Channel:
    options: list[tuple[str, int | str]] = [("grpc.max_receive_message_length", _LARGEST)]
    if tls is None:
        return grpc.insecure_channel(address, options=options)
    if tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return grpc.secure_channel(address, tls.credentials().to_client_credentials(), options=options)
