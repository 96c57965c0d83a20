"""A directory as a source: asked on the command line and again and again, away and back."""

import asyncio
from datetime import datetime

import pytest
from directory.slapd import PASSWORD, READER

from phb import cli
from phb.directory import DirectoryError
from phb.errors import InputError
from phb.inventory import Switch
from phb.sources import open_source, read_documents
from phb.watching import Kind, WatchedPolicy, policies

BASE = "ou=mvs074,ou=policy,o=example"


@pytest.fixture
def access(monkeypatch, tmp_path):
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    monkeypatch.setenv("PHB_LDAP_BIND_DN", READER)
    monkeypatch.setenv("PHB_LDAP_PASSWORD_FILE", str(tmp_path / "password"))


def test_polled_while_it_changes_is_away_and_comes_back(slapd, access):
    source = open_source(slapd.url(BASE))
    first = source.poll()
    assert source.poll() == first
    slapd.stop()
    with pytest.raises(DirectoryError, match="can't contact LDAP server"):
        source.poll()
    slapd.start()
    assert source.poll() == first
    slapd.modify(f"cn=rule1,ou=rules,{BASE}", "pcimRuleEnabled", "2")
    changed = source.poll()
    assert changed != first
    assert [rule.name for rule in read_documents([first]).rules] == ["rule1", "rule2", "rule3"]
    assert [rule.name for rule in read_documents([changed]).rules] == ["rule2", "rule3"]


def test_interval(monkeypatch):
    monkeypatch.setenv("PHB_LDAP_INTERVAL", "60")
    assert open_source("ldaps://h/o=x").interval_s == 60


def test_a_broken_entry_is_read_as_an_error_by_name(slapd, access):
    slapd.modify(f"cn=inter1,ou=actions,{BASE}", "phbOutgoingTOS", "11")
    document = open_source(slapd.url(BASE)).poll()
    with pytest.raises(InputError, match=rf"cn=inter1,ou=actions,{BASE}: phbOutgoingTOS: found '11', expected eight"):
        read_documents([document])


def test_on_the_command_line(slapd, access, examples, capsys):
    files = [str(examples / "mvs074.yaml"), str(examples / "mvs074-osa2.yaml")]
    assert cli.run(["check", *files, slapd.url(BASE)]) == 0
    assert cli.run(["convert", "--to", "policy-agent", slapd.url(BASE)]) == 0
    assert "PolicyRule rule3\n" in capsys.readouterr().out
    slapd.stop()
    assert cli.run(["check", *files, slapd.url(BASE)]) == 1
    assert "can't contact LDAP server" in capsys.readouterr().err


async def test_watched_while_it_changes_is_away_and_comes_back(slapd, access, monkeypatch, artifact, examples):
    monkeypatch.setattr(policies, "TICK_S", 0.005)
    monkeypatch.setenv("PHB_LDAP_INTERVAL", "0.01")
    files = (str(examples / "mvs074.yaml"), str(examples / "mvs074-osa2.yaml"))
    events = []
    switch = Switch(name="mvs074", address="a:1", policies=(*files, slapd.url(BASE)))
    policy = WatchedPolicy(switch, artifact, None, events.append, lambda: datetime(2026, 11, 20, 12).astimezone())

    async def until(kind):
        while not any(event.kind is kind for event in events):
            await asyncio.sleep(0.005)
        return events.pop(next(place for place, event in enumerate(events) if event.kind is kind)).message

    def ports():
        return [str(rule.match[0].source_ports) for rule in policy.current.policy.rules]

    await policy.start()
    task = asyncio.create_task(policy.run())
    try:
        await until(Kind.POLICY)
        slapd.modify(f"cn=rule2,ou=rules,{BASE}", "phbSourcePortRange", "600-620")
        await until(Kind.POLICY)
        assert ports() == ["700-719", "600-620", "800-819"]
        slapd.stop()
        assert (await until(Kind.REJECTED)).endswith("the policy before stays")
        assert ports() == ["700-719", "600-620", "800-819"]
        slapd.start()
        await until(Kind.POLICY)
        slapd.modify(f"cn=rule2,ou=rules,{BASE}", "phbSourcePortRange", "600 6/20")
        assert f"cn=rule2,ou=rules,{BASE}: phbSourcePortRange: found '600 6/20'" in await until(Kind.REJECTED)
        assert ports() == ["700-719", "600-620", "800-819"]
    finally:
        task.cancel()
        await asyncio.wait([task])
