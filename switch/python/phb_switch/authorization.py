"""Who may do what: client certificates bound to roles and devices.

P4Runtime trusts a client to name its own role. With TLS and client certificates the server need not: each is bound
to the roles it may name and the devices it may speak with.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import grpc

from phb_switch.errors import PERMISSION_DENIED, StatusError


@dataclass(frozen=True, slots=True)
class Binding:
    """What the holder of a certificate may do.

    Attributes:
        name: the certificate's common name, or one of its alternative names (DNS name, URI, IP address, e-mail).
        roles: which it may name; "" is the default role, None any.
        device_ids: which it may speak with; None any.
        read_only: neither writes nor configures nor becomes primary.

    """

    name: str
    roles: frozenset[str] | None = None
    device_ids: frozenset[int] | None = None
    read_only: bool = False


class Authorization:
    """The bindings of a server. A client whose certificate has none may do nothing."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self._bindings: dict[str, list[Binding]] = {}
        for binding in bindings:
            self._bindings.setdefault(binding.name, []).append(binding)

    def client(self, context: grpc.ServicerContext) -> "Permit":
        """What the client at the other end of a call may do, by all bindings of its certificate."""
        # The type stubs know of one value per attribute; there is a list of them.
        attributes = cast(Mapping[str, Sequence[bytes]], context.auth_context())
        names = [
            value.decode(errors="replace")
            for attribute in ("x509_common_name", "x509_subject_alternative_name")
            for value in attributes.get(attribute, ())
        ]
        return Permit(names, [binding for name in names for binding in self._bindings.get(name, ())])


class Permit:
    """What one client may do."""

    def __init__(self, names: list[str], bindings: list[Binding]) -> None:
        self._names = names
        self._bindings = bindings

    def require(self, device_id: int, role: str | None = None, *, write: bool = False) -> None:
        """Checks a request.

        Args:
            device_id: which device it is for.
            role: as which role it comes, None if that does not matter.
            write: whether it changes the switch, or is to become primary.

        Raises:
            StatusError: PERMISSION_DENIED.

        """
        left = self._bindings
        who = f"the certificate of {self._names[0]!r}" if self._names else "a client without certificate"
        if not left:
            raise StatusError(PERMISSION_DENIED, f"{who} is not bound to anything here")
        left = [each for each in left if each.device_ids is None or device_id in each.device_ids]
        if not left:
            raise StatusError(PERMISSION_DENIED, f"{who} is not bound to device {device_id}")
        if role is not None:
            left = [each for each in left if each.roles is None or role in each.roles]
            if not left:
                raise StatusError(PERMISSION_DENIED, f"{who} is not bound to role {role!r}")
        if write and all(each.read_only for each in left):
            raise StatusError(PERMISSION_DENIED, f"{who} is bound for reading only")


class _Anybody(Permit):
    def require(self, device_id: int, role: str | None = None, *, write: bool = False) -> None:
        """Allows everything."""


ANYBODY = _Anybody([], [])
"""What every client may do where there are no bindings."""
