"""A deliberately simple model of a packet's way through a node, to compare a switch with.

It reads the policy itself (`phb.model`), not what the compiler makes of it, and goes through it as a person would: from
the first rule to the last, plain integers, dictionaries. One file per stage, in the order in which a packet meets them:

    packet > classify > admit > police > mark > forward > (the same policy stages of the egress port) > user_priority
        > queues

:class:`phb_model.pipeline.node.Node` puts them together. Written from docs/policies/yaml.md, docs/inside/pipeline.md,
docs/inside/scheduling.md, docs/operate/limits.md and the RFCs; speed is of no concern.

Not modelled, so a comparison leaves it out or doesn't ask for it:

- the rank of a packet, and so the order in which a busy port serves its queues (phb_model's fluid server is for that);
- random draws: where early detection would draw, :class:`phb_model.pipeline.queues.UndeterminedError` is raised;
- which idle streams have lent their private buffers: the same, where a packet has room only then;
- the hash of conversations: each flow has a conversation of its own here, until the switch says that two share one;
- the table of TCP connections: it is endless here, and connections are never given up for being idle;
- what keeps TCP connections to their rates (`max-rate`, `min-rate`: windows and drops) and the report of applicability;
- times of day: rules count or don't at the one moment that the node is made for.
"""

from phb_model.pipeline.node import Node, PacketFate
from phb_model.pipeline.queues import UndeterminedError
from phb_model.pipeline.reasons import Reason

__all__ = ["Node", "PacketFate", "Reason", "UndeterminedError"]
