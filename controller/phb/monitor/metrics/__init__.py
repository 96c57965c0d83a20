"""Prometheus: `/metrics` of the newest observation of each switch, and `/healthz`.

    async with serve("127.0.0.1:9464", ["edge-1", "edge-2"]) as taker:
        taker.take(observation)

Taking an observation keeps it; what a page costs, its reader causes.

families > delays, chosen, pushes > newest > telling > pages > serving
"""

from phb.monitor.metrics.newest import STALE_AFTER_S
from phb.monitor.metrics.pushes import Pushes
from phb.monitor.metrics.serving import Metrics, serve

__all__ = ["STALE_AFTER_S", "Metrics", "Pushes", "serve"]
