"""The operations page's server: live figures as server-sent events, and answers to what a page asks.

    async with serve("127.0.0.1:8010", live) as address:
        ...

routes (what is answered) > serving;  asking (what only a policy or a session with a switch tells), marking (pushes)
"""

from phb.monitor.listening.asking import Asking
from phb.monitor.listening.marking import Marking
from phb.monitor.listening.routes import Asked, NotKnownError
from phb.monitor.listening.serving import serve

__all__ = ["Asked", "Asking", "Marking", "NotKnownError", "serve"]
