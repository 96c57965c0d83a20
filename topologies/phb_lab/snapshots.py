"""``phb show queue`` of a switch during a run, as at a shell."""

from datetime import datetime

import phb
from phb import inventory
from phb.cli.show import queue
from phb.deploying import prepare
from phb.show.looking import look
from phb.show.queues import PortQueues, read_queues
from phb.show.reading import Reading
from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.study import Snapshot


async def show_queue(network: Network, snapshot: Snapshot, address: str, at: datetime) -> str:
    """Give what ``phb show queue --port PORT`` prints; ``at`` is when rules' validity is judged.

    Raises:
        UsageError: the switch has no such port.
    """
    described = next(switch for switch in network.switches if switch.name == snapshot.switch)
    where = inventory.Switch(
        name=described.name,
        address=address,
        device_id=described.device_id,
        policies=tuple(str(path) for path in described.policy_files),
    )
    artifact = phb.Artifact.load()
    prepared = prepare(where, artifact, at=at)
    port = prepared.policy.find_port(snapshot.port)
    if port is None or port.number is None:
        raise UsageError(f"snapshot {snapshot.label}: {snapshot.switch} has no port named {snapshot.port}")
    number = port.number

    async def read(looked: Reading) -> list[PortQueues]:
        return await read_queues(looked, frozenset([number]))

    return str(queue.render(await look(where, artifact, prepared, read), every=False))
