"""A gNMI client that is not ours: finsy's, over real gRPC, at the port of P4Runtime."""

import json

from finsy import GNMIClient, GNMIPath

from .support import serving
from .test_service import BINDING, SHAPER


async def test_a_shaper_is_set_and_the_line_is_slower() -> None:
    from ..support import PROGRAMS

    with serving() as (switch, client):
        switch.load((PROGRAMS / "ranked.json").read_text())
        frame = (bytes(4) + (1).to_bytes(2, "big") + bytes(8)).ljust(1000, b"x")
        assert [sent[0] for sent in switch.process(2, frame, 1_000)] == [1_000]
        async with GNMIClient(f"127.0.0.1:{client.port}") as finsy:
            models = (await finsy.capabilities()).supported_models
            assert "openconfig-qos" in {model.name for model in models}
            await finsy.set(
                update=[
                    (GNMIPath(f"{SHAPER.lstrip('/')}/cir"), 256_000),
                    (GNMIPath(f"{SHAPER.lstrip('/')}/queuing-behavior"), "SHAPE"),
                    (GNMIPath(BINDING.lstrip("/")), "slow"),
                ]
            )
            # Four frames of 8000 bits at 256 kbit/s: one every 31.25 ms.
            start = 10_000_000_000
            sent = [each for _ in range(4) for each in switch.process(2, frame, start)]
            assert [time for time, _, _ in sent] == [start + 31_250_000 * number for number in range(1, 5)]
            (counter,) = await finsy.get(GNMIPath("interfaces/interface[name=eth1]/state/counters/out-octets"))
            assert counter.value == 5000
            (rate,) = await finsy.get(GNMIPath(f"{SHAPER.lstrip('/')}/cir"), config=True)
            assert rate.value == 256_000
            once = finsy.subscribe()
            once.once(GNMIPath("interfaces/interface[name=*]/state/counters/in-pkts"))
            assert [json.loads(update.value) async for update in once.synchronize()] == [0, 5]  # its default is JSON
            stream = finsy.subscribe()
            stream.on_change(GNMIPath(BINDING.lstrip("/")))
            assert [json.loads(update.value) async for update in stream.synchronize()] == ["slow"]
            await finsy.set(delete=[GNMIPath(BINDING.lstrip("/"))])
            async for update in stream.updates():
                assert update.typed_value is None
                break
            stream.cancel()
            assert switch.ports()[1].rate_bps is None
