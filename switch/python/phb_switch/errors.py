"""How a refusal travels: a canonical code with words, and for batches one such pair per member.

Codes are those of google.rpc.Code; the packing is that of the P4Runtime specification, "Error Reporting Messages".
"""

from collections.abc import Sequence
from typing import NoReturn

import grpc
from finsy.proto import p4r, rpc_code, rpc_status

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

Outcome = tuple[int, str]
"""A canonical code and, unless it is OK, a message."""

SUCCESS: Outcome = (OK, "")


class StatusError(Exception):
    """A request, or one member of a batch, that is refused."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def outcome(self) -> Outcome:
        """The pair that stands for this error in a batch."""
        return self.code, self.message


def invalid(message: str) -> StatusError:
    """An INVALID_ARGUMENT error."""
    return StatusError(INVALID_ARGUMENT, message)


def abort(context: grpc.ServicerContext, error: StatusError) -> NoReturn:
    """Ends an RPC with `error`."""
    context.abort(GRPC_CODES[error.code], error.message)
    raise AssertionError("abort returned")  # pragma: no cover


def abort_batch(context: grpc.ServicerContext, outcomes: Sequence[Outcome], operation: str) -> NoReturn:
    """Ends the RPC of a batch of which at least one member failed.

    The status is UNKNOWN; its details are one p4.v1.Error per member, in their order. The message repeats
    the first cause, for clients that do not unpack details.
    """
    failures = [(index, words) for index, (code, words) in enumerate(outcomes) if code != OK]
    causes = [(index, words) for index, (code, words) in enumerate(outcomes) if code not in (OK, ABORTED)]
    index, words = (causes or failures)[0]
    message = f"{operation}: {len(failures)} of {len(outcomes)} failed; number {index}: {words}"
    status = rpc_status.Status(code=UNKNOWN, message=message)
    for code, text in outcomes:
        status.details.add().Pack(p4r.Error(canonical_code=code, message=text))
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort returned")  # pragma: no cover
