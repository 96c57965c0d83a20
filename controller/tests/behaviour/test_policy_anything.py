"""Whatever the model can hold has a behaviour or is refused by one error; what compiles to the same is alike."""

from contextlib import suppress
from datetime import datetime

from hypothesis import HealthCheck, given, settings
from strategies import policies

from controller.tests.decompiler.strategies import policies as compiled_policies
from phb.behaviour.policy import behaviour_of_policy
from phb.compiler import compile_policy
from phb.decompiler import decompile
from phb.errors import InputError
from phb.names import Names
from phb.packets.epochs import Epochs
from tests.examples import share

AT = datetime(2026, 11, 23, 12, 0)


def behaviour(policy):
    return behaviour_of_policy(policy, Epochs.at(AT))


@settings(max_examples=share(40), suppress_health_check=list(HealthCheck))
@given(policies)
def test_nothing_else_is_raised(policy):
    with suppress(InputError):
        assert behaviour(policy).class_names[None] == "class-default"


@settings(max_examples=share(60), suppress_health_check=list(HealthCheck))
@given(compiled_policies())
def test_ports_of_a_policy_read_back_serve_alike(artifact, policy):
    intent = compile_policy(policy, artifact, at=AT)
    said = behaviour(policy)
    back = behaviour(decompile(intent.entries, Names.of(intent, policy), intent.shapers))
    assert set(said.services) == set(back.services)
    for port in said.services:
        for key in said.class_names:
            assert said.service(port, key) == back.service(port, key)
    assert said.user_priorities == {port: back.user_priorities[port] for port in said.user_priorities}
    assert sorted(said.buffers.values()) == sorted(back.buffers.values())
