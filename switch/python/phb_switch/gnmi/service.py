"""The gNMI service: Capabilities, Get, Set and Subscribe of one switch."""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Final

import grpc
from finsy.proto import gnmi, gnmi_grpc

from phb_switch._native import Switch
from phb_switch.authorization import ANYBODY, Authorization, Permit
from phb_switch.errors import INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, StatusError, abort
from phb_switch.gnmi import encoding, paths, schema
from phb_switch.gnmi.encoding import Datum
from phb_switch.gnmi.paths import Path
from phb_switch.gnmi.subscribe import subscribe
from phb_switch.gnmi.tree import Counters, Tree

VERSION: Final = "0.10.0"
"""Of the gNMI specification."""

SUBSCRIPTIONS: Final = 32
"""At one time; each holds a thread of the server."""

_Types = gnmi.GetRequest.DataType


class GnmiService(gnmi_grpc.gNMIServicer):
    """Answers for one switch.

    Reading and setting need the device in the binding of the client's certificate, where there are bindings; setting
    needs one with the default role that is not for reading only.
    """

    def __init__(
        self,
        switch: Switch,
        *,
        device_id: int,
        names: Mapping[int, str] | None = None,
        attachments: Counters = dict,
        authorization: Authorization | None = None,
    ) -> None:
        """Prepares a service; `add_to` puts it on a server.

        Args:
            switch: what it reads and sets.
            device_id: that certificates are bound to.
            names: of the interfaces, by port number.
            attachments: what a runner counts at each port.
            authorization: what clients may do by their certificates; without it anybody may do anything.

        """
        self._tree = Tree(switch, names or {}, attachments)
        self._device_id = device_id
        self._authorization = authorization
        self._subscriptions = threading.BoundedSemaphore(SUBSCRIPTIONS)

    def add_to(self, server: grpc.Server) -> None:
        """Puts the service on a server that is not started yet."""
        gnmi_grpc.add_gNMIServicer_to_server(self, server)

    def _require(self, context: grpc.ServicerContext, *, write: bool = False) -> None:
        permit: Permit = ANYBODY if self._authorization is None else self._authorization.client(context)
        # Setting is for those who may take P4Runtime's default role, which may do everything there, too.
        permit.require(self._device_id, "" if write else None, write=write)

    # The service's methods have the names that the protocol gives them.

    def Capabilities(  # noqa: N802
        self, request: gnmi.CapabilityRequest, context: grpc.ServicerContext
    ) -> gnmi.CapabilityResponse:
        """Says which models, encodings and version these are."""
        try:
            self._require(context)
        except StatusError as error:
            abort(context, error)
        return gnmi.CapabilityResponse(
            supported_models=schema.MODELS, supported_encodings=encoding.ENCODINGS, gNMI_version=VERSION
        )

    def Get(self, request: gnmi.GetRequest, context: grpc.ServicerContext) -> gnmi.GetResponse:  # noqa: N802
        """Gives values, one notification for each path."""
        try:
            self._require(context)
            encoding.check(request.encoding)
            if request.type not in _Types.values():
                raise StatusError(INVALID_ARGUMENT, f"there is no type {request.type}")
            known = {model.name for model in schema.MODELS}
            for model in request.use_models:
                if model.name not in known:
                    raise StatusError(INVALID_ARGUMENT, f"there is no model {model.name!r} here")
            data = self._data(request.type)
            response = gnmi.GetResponse()
            for each in request.path or [gnmi.Path()]:
                path = paths.read(each, request.prefix)
                notification = response.notification.add(timestamp=time.time_ns())
                if request.prefix.target:
                    notification.prefix.target = request.prefix.target
                notification.update.extend(_values(path, data, request.encoding))
        except StatusError as error:
            abort(context, error)
        return response

    def _data(self, kind: int) -> list[Datum]:
        if kind == _Types.CONFIG:
            return [datum for datum in self._tree.everything() if datum[1].writable]
        if kind in (_Types.STATE, _Types.OPERATIONAL):
            return [datum for datum in self._tree.everything() if not datum[1].writable]
        return self._tree.everything()

    def Set(self, request: gnmi.SetRequest, context: grpc.ServicerContext) -> gnmi.SetResponse:  # noqa: N802
        """Changes settings, all that the request names or none."""
        try:
            self._require(context, write=True)
            self._tree.set(request)
        except StatusError as error:
            abort(context, error)
        response = gnmi.SetResponse(timestamp=time.time_ns())
        if request.HasField("prefix"):
            response.prefix.CopyFrom(request.prefix)
        for deleted in request.delete:
            response.response.add(path=deleted, op=gnmi.UpdateResult.DELETE)
        for replaced in request.replace:
            response.response.add(path=replaced.path, op=gnmi.UpdateResult.REPLACE)
        for updated in request.update:
            response.response.add(path=updated.path, op=gnmi.UpdateResult.UPDATE)
        return response

    def Subscribe(  # noqa: N802
        self, request_iterator: Iterator[gnmi.SubscribeRequest], context: grpc.ServicerContext
    ) -> Iterator[gnmi.SubscribeResponse]:
        """Tells values once, when asked, at intervals or when they change."""
        if not self._subscriptions.acquire(blocking=False):
            abort(
                context,
                StatusError(RESOURCE_EXHAUSTED, f"there are {SUBSCRIPTIONS} subscriptions, which is the limit"),
            )
        try:
            self._require(context)
            yield from subscribe(self._tree, request_iterator, context)
        except StatusError as error:
            abort(context, error)
        except grpc.RpcError:
            pass  # the client has gone
        finally:
            self._subscriptions.release()


def _values(path: Path, data: list[Datum], how: int) -> Iterator[gnmi.Update]:
    """The values at and below a path: leaf by leaf, or one JSON document for each node that the path stands for."""
    found = [datum for datum in data if paths.covers(path, datum[0])]
    if not found and not paths.is_pattern(path) and not schema.leaves_keys_out(path):
        if schema.names(path) not in {*schema.LEAVES, *schema.CONTAINERS}:
            raise StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: the models here have no such node")
        raise StatusError(NOT_FOUND, f"{paths.text(path)}: there is nothing")
    any_depth = any(element.name == paths.ANY_DEPTH for element in path)
    if how == gnmi.Encoding.PROTO or any_depth:
        for place, leaf, value in found:
            yield gnmi.Update(path=paths.write(place), val=encoding.typed(leaf, value, how))
        return
    nodes: dict[Path, list[Datum]] = {}
    for datum in found:
        nodes.setdefault(datum[0][: len(path)], []).append(datum)
    for node, below in nodes.items():
        content = encoding.document(encoding.nested(below, len(node), how), how)
        yield gnmi.Update(path=paths.write(node), val=content)
