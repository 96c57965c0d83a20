"""Live figures: observations as messages for pages, `phb top` and recordings, and the last minutes of each switch.

    live = Live([{"name": "edge", "address": "192.0.2.1:9559", "groups": []}])
    monitor.takers.append(live)
    with live.subscribe("edge") as subscription:
        async for message, line in subscription:
            ...

messages > making (of observations), past (packed), subscription (bounded) > live; shapes > recording (files)
"""

from phb.monitor.live.live import PAST_S, Live, line_of
from phb.monitor.live.subscription import Subscription, Told

__all__ = ["PAST_S", "Live", "Subscription", "Told", "line_of"]
