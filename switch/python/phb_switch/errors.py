"""How a refusal travels: a canonical code (google.rpc.Code) with words."""

from typing import NoReturn

import grpc
from finsy.proto import rpc_code

from phb_switch._native import RefusedError

OK = int(rpc_code.OK)
INVALID_ARGUMENT = int(rpc_code.INVALID_ARGUMENT)
NOT_FOUND = int(rpc_code.NOT_FOUND)
ALREADY_EXISTS = int(rpc_code.ALREADY_EXISTS)
PERMISSION_DENIED = int(rpc_code.PERMISSION_DENIED)
RESOURCE_EXHAUSTED = int(rpc_code.RESOURCE_EXHAUSTED)
FAILED_PRECONDITION = int(rpc_code.FAILED_PRECONDITION)
ABORTED = int(rpc_code.ABORTED)
OUT_OF_RANGE = int(rpc_code.OUT_OF_RANGE)
UNIMPLEMENTED = int(rpc_code.UNIMPLEMENTED)
INTERNAL = int(rpc_code.INTERNAL)
UNKNOWN = int(rpc_code.UNKNOWN)

GRPC_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


class StatusError(Exception):
    """A request, or one member of a batch, that is refused."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> StatusError:
    """An INVALID_ARGUMENT error."""
    return StatusError(INVALID_ARGUMENT, message)


def abort(context: grpc.ServicerContext, error: StatusError | RefusedError) -> NoReturn:
    """Ends an RPC with `error`."""
    context.abort(GRPC_CODES[error.code], error.message)
    raise AssertionError("abort returned")  # pragma: no cover


def abort_batch(context: grpc.ServicerContext, message: str, status: bytes) -> NoReturn:
    """Ends the RPC of a batch of which at least one member failed.

    Args:
        context: of the RPC.
        message: what a client reads that does not unpack details.
        status: a serialized google.rpc.Status, whose details are one p4.v1.Error per member.

    """
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort returned")  # pragma: no cover
