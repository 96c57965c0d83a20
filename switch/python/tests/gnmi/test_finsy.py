"""A gNMI client that is not ours: finsy's, over real gRPC, at the port of P4Runtime."""

import json

from finsy import GNMIClient, GNMIPath
from finsy.proto import gnmi

from phb_switch import PortConfig

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
            assert switch.ports()[1].shaper is None


async def test_a_burst_passes_after_a_pause_and_over_time_it_is_the_rate() -> None:
    """`shape average 512000 512000` on a line of 2 Mbit/s, counting IP."""
    from ..support import PROGRAMS

    ports = {1: PortConfig(rate_bps=2_000_000), 2: PortConfig()}
    with serving(ports) as (switch, client):
        switch.load((PROGRAMS / "ranked.json").read_text())
        async with GNMIClient(f"127.0.0.1:{client.port}") as finsy:
            shaper = SHAPER.lstrip("/")
            await finsy.set(
                update=[
                    (GNMIPath(f"{shaper}/cir"), 512_000),
                    (GNMIPath(f"{shaper}/bc"), 64_000),
                    (GNMIPath(f"{shaper}/overhead"), gnmi.TypedValue(int_val=-14)),
                    (GNMIPath(BINDING.lstrip("/")), "slow"),
                ]
            )
            found = await finsy.get(GNMIPath(shaper.replace("config", "state")))
            assert {update.path.last: update.value for update in found} == {
                "cir": 512_000,
                "bc": 64_000,
                "overhead": -14,
            }
        frame = (bytes(4) + (1).to_bytes(2, "big") + bytes(8)).ljust(1014, b"x")
        on_line, shaped = 1014 * 8 * 1000 // 2, 1000 * 8 * 1_000_000 // 512
        for start in (10**9, 100 * 10**9):
            # All at once.
            sent = []
            while len(sent) < 400:
                sent += [each[0] - start for each in switch.process(2, frame, start)]
            # While the burst passes, tokens of 512 kbit/s come: the n-th frame finds it as long as
            # 1000 n <= 64,000 + what has come when the one before has left.
            burst = next(n for n in range(1, 400) if n * shaped > 64 * shaped + (n - 1) * on_line)
            assert sent[: burst - 1] == [on_line * n for n in range(1, burst)]
            assert sent[burst - 1 :] == [(n - 64) * shaped + on_line for n in range(burst, 401)]
