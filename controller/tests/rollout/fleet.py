"""A small fleet of switches that remember who wrote what, and rollouts to them."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import grpc
from finsy.proto import p4r, rpc_code

from controller.tests.conftest import FakeSwitch
from phb import Artifact
from phb.deploying import prepare_all
from phb.inventory import Switch
from phb.rollout.records import Rollouts, Settings
from phb.rollout.work import Work, version
from phb.state import State

AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
SETTINGS = Settings(
    canary=False,
    soak_s=0.0,
    most_failures=0,
    take_back=True,
    wait_s=0.0,
    at=AT.isoformat(),
    program=Artifact.load().cookie,
    version=version(),
)
POLICY = """\
phb: 1
ports: [{number: 1, name: a, address: 10.0.1.1}, {number: 2, name: b, address: 10.0.2.1}]
routes:
  - {destination: 10.0.%d.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
  - {destination: 10.1.%d.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
"""


@dataclass
class FencedSwitch(FakeSwitch):
    """Takes writes from its primary only, the session with the highest election id."""

    streams: dict[object, int] = field(default_factory=dict)
    highest: int = 0
    loaded: int = 0
    denied: int = 0

    def StreamChannel(self, requests, context):  # noqa: N802
        ours = object()
        context.add_callback(lambda: self.streams.pop(ours, None))
        for request in requests:
            asked = request.arbitration.election_id.low
            if any(other is not ours and held == asked for other, held in self.streams.items()):
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, "Election id already exists")
            self.streams[ours] = asked
            self.highest = max(self.highest, asked)
            response = p4r.StreamMessageResponse(arbitration=request.arbitration)
            response.arbitration.election_id.low = self.highest
            if asked < self.highest:
                somebody = self.highest in self.streams.values()
                code = rpc_code.ALREADY_EXISTS if somebody else rpc_code.NOT_FOUND
                response.arbitration.status.code = code
            yield response

    def SetForwardingPipelineConfig(self, request, context):  # noqa: N802
        self._check(request, context)
        self.loaded += 1
        return super().SetForwardingPipelineConfig(request, context)

    def Write(self, request, context):  # noqa: N802
        self._check(request, context)
        return super().Write(request, context)

    def _check(self, request, context):
        if request.election_id.low != self.highest or self.highest not in self.streams.values():
            self.denied += 1
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "Not primary")

    def updates(self):
        """How often each update was written."""
        return Counter(
            (update.type, update.entity.SerializeToString(deterministic=True))
            for write in self.writes
            for update in write.updates
        )


def route(switch):
    """Which version of the policy a switch holds, by the third byte of its routes; None where it has none."""
    values = {part.lpm.value[2] for entry in switch.of_policies for part in entry.match if part.HasField("lpm")}
    return values.pop() if len(values) == 1 else values or None


def prepared(folder, switches, version, artifact):
    """The policy of that version for each switch, compiled."""
    path = folder / f"policy{version}.yaml"
    path.write_text(POLICY % (version, version))
    made = [
        Switch.model_validate({"name": f"s{number}", "address": switch.address, "policies": [str(path)]})
        for number, switch in enumerate(switches)
    ]
    return prepare_all(made, artifact, at=AT)


def begun(state, switches, sizes, **settings):
    """Begin a rollout in waves of these sizes; give its number."""
    left = list(switches)
    waves = [[left.pop(0) for _ in range(size)] for size in sizes]
    return Rollouts(state).begin(waves, replace(SETTINGS, **settings), token=str(id(waves)) + str(settings))


async def worked(state, number, artifact, **options):
    """Work on a rollout until it has ended; give how it stands then."""
    with state.joined(f"rollout {number}") as member:
        async with asyncio.timeout(60):
            return await Work(state, number, artifact, member, **options).run()


def work(place, number, artifact, **options):
    """`worked` in a loop and with a state of its own."""
    with State(place) as state:
        return asyncio.run(worked(state, number, artifact, **options))
