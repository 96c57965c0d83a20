"""A policy as a behaviour, read from the model alone: nothing of this knows the compiler.

    references < conditions, marks, meters < treatments < rules
    references < forwarding, priorities
    shares, detection < queueing

Where the pipeline keeps rounded numbers, these are rounded alike, by what docs/inside/scheduling.md says of it.
"""

from __future__ import annotations

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.policy.forwarding import forwarding
from phb.behaviour.policy.priorities import user_priorities
from phb.behaviour.policy.queueing import buffer_origins, buffers, services
from phb.behaviour.policy.references import Node
from phb.behaviour.policy.rules import steps
from phb.behaviour.policy.treatments import Treatments
from phb.model import DEFAULT_CLASS, PolicySet
from phb.packets.epochs import Epochs


def behaviour_of_policy(policy: PolicySet, epochs: Epochs) -> Behaviour:
    """Give what a policy says is done with every packet, in every epoch.

    Raises:
        InputError: A reference to something that isn't there. The compiler refuses more; a policy that it refuses
            has a behaviour that no switch has.
    """
    node = Node(policy)
    treatments = Treatments(node)
    entering, leaving = steps(node, treatments, epochs)
    priorities, priority_origins = user_priorities(node)
    return Behaviour(
        input=tuple(entering),
        forwarding=tuple(forwarding(node, epochs)),
        output=tuple(leaving),
        user_priorities=priorities,
        priority_origins=priority_origins,
        services=services(node),
        buffers=buffers(node, treatments.streams),
        buffer_origins=buffer_origins(node),
        class_names={
            None: DEFAULT_CLASS,
            **{each.name: each.name for each in policy.classes if each.name != DEFAULT_CLASS},
        },
        stream_names=treatments.streams,
    )
