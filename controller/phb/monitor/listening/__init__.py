"""The operations page's server: live figures as server-sent events, and answers to what a page asks.

    async with serve("127.0.0.1:8010", live) as address:
        ...

routes (what is answered), asked (what only a session with a switch or its policy tells) > serving
"""

from phb.monitor.listening.routes import Asked, NotKnownError
from phb.monitor.listening.serving import serve

__all__ = ["Asked", "NotKnownError", "serve"]
