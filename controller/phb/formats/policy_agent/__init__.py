"""Policy Agent configuration files: OS/390 V2R7's, and today's of the z/OS Communications Server.

The statements of V2R7 are those of the joint IBM and Cisco test (its appendix D): TcpImage, SetSubnetPrioTosMask,
ServiceCategories, ServicePolicyRules. Today PolicyAction and PolicyRule stand for the last two. A service category or
policy action becomes an action, a service policy rule or policy rule a rule.

    blocks > attributes > collection > statements, images, actions, rules > this reader; writer
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.formats.format import READING, ReadOptions
from phb.formats.policy_agent import actions, collection, rules, statements
from phb.formats.policy_agent.actions import Service, read_service
from phb.formats.policy_agent.blocks import Block, StatementLine, read_blocks, read_lines
from phb.formats.policy_agent.images import image, subnet_priority
from phb.formats.policy_agent.rules import Ranked, read_rule
from phb.formats.policy_agent.writer import write
from phb.model import Action, Image, PolicySet, Rule, SubnetPriority
from phb.notice import Notice
from phb.origin import Origin

__all__ = ["build", "read", "write"]

_KEYWORDS = (
    actions.KEYWORDS | rules.KEYWORDS | collection.KEYWORDS | {"subnetaddr", "subnettosmask", "prioritytosmapping"}
)


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a Policy Agent file."""
    return build(list(read_blocks(read_lines(text, file), statements.ALL, _KEYWORDS, statements.refuse)), file)


def build(blocks: Sequence[Block], file: str) -> PolicySet:
    """Build the policy of statements, from a file or a directory's entries."""
    notices: list[Notice] = []
    images: list[Image] = []
    priorities: list[SubnetPriority] = []
    services: dict[str, Service] = {}
    stated: list[tuple[Block, rules.RuleSpelling]] = []
    made: list[Action] = []
    versions: dict[str, Block] = {}
    interval: StatementLine | None = None
    for block in blocks:
        notice = statements.harmless(block)
        if notice is not None:
            notices.append(notice)
            continue
        _one_version(block, versions)
        match block.head.keyword.lower():
            case "tcpimage" | "pepinstance":
                images.append(image(block.head, file, notices))
            case "policyperformancecollection":
                interval = collection.read_interval(block, notices) or interval
            case "setsubnetpriotosmask":
                priorities.append(subnet_priority(block))
            case "servicecategories":
                made += _remember(block, read_service(block, actions.CATEGORY, 64, notices), services)
            case "policyaction":
                made += _remember(block, read_service(block, actions.ACTION, rules.TODAY.longest, notices), services)
            case "servicepolicyrules":
                stated.append((block, rules.FIRST_VERSION))
            case _:
                stated.append((block, rules.TODAY))
    ranked = [read_rule(block, words, services, notices) for block, words in stated]
    names = {action.name for action in made}
    for one in ranked:
        made += [action for action in one.actions if action.name not in names]
        names |= {action.name for action in one.actions}
    policy = PolicySet(
        images=tuple(images),
        subnet_priorities=tuple(priorities),
        actions=tuple(collection.with_interval(made, interval, notices)),
        rules=_in_order(ranked, stated[0][1] if stated else None),
    )
    return policy.at(Origin(file, 1)).noting(notices)


def _remember(block: Block, service: Service, services: dict[str, Service]) -> tuple[Action, ...]:
    if service.name in services:
        first = services[service.name].origin
        block.head.fail(f"{block.head.keyword} {service.name} again", f"it once; it also stands at {first}")
    services[service.name] = service
    return service.actions


def _one_version(block: Block, versions: dict[str, Block]) -> None:
    for version in (statements.FIRST_VERSION, statements.TODAY):
        if block.head.keyword.lower() in (name.lower() for name in version):
            other = next((seen for key, seen in versions.items() if key != version[0]), None)
            if other is not None:
                block.head.fail(
                    f"{block.head.keyword} beside {other.head.keyword} ({other.head.origin})",
                    "statements of one version: rules of the first are asked in their order, today's by priority",
                )
            versions.setdefault(version[0], block)


def _in_order(ranked: Sequence[Ranked], words: rules.RuleSpelling | None) -> tuple[Rule, ...]:
    """Sort rules in the order they are asked.

    Without priorities, rules of the first version are asked as they stand. Today's are asked by priority, the highest
    number first, and those without one after them, the most particular first; equal ones as they stand.
    """
    if words is rules.FIRST_VERSION and not any(one.rank[0] for one in ranked):
        return tuple(one.rule for one in ranked)
    return tuple(one.rule for one in sorted(ranked, key=lambda one: one.rank, reverse=True))
