"""deploy/monitoring/snmpd.conf: a real snmpd takes it, and lets in whom it says."""

from pathlib import Path

import pytest
from made_up import observations

from phb.monitor.snmp import serve

from .daemons import running, until
from .test_agent import NAMES, TWO, values
from .test_setting import BASE, refused

EXAMPLE = Path(__file__).parents[4] / "deploy" / "monitoring" / "snmpd.conf"
SECRETS = "createUser {} SHA-256 a-long-secret AES another-secret"


@pytest.fixture
def example(tmp_path):
    """The daemon with the example, but for its addresses, its owner, and with users."""

    def own(daemons):
        text = EXAMPLE.read_text()
        for what, instead in (
            ("agentAddress udp:127.0.0.1:161", f"agentAddress udp:127.0.0.1:{daemons.port}"),
            ("agentXSocket /var/agentx/master", f"agentXSocket {daemons.socket}"),
            ("agentXPerms 0660 0750 Debian-snmp phb", "agentXPerms 0660 0750"),
            ("127.0.0.1:162 ", f"127.0.0.1:{daemons.trap_port} "),
        ):
            assert text.count(what) == 1
            text = text.replace(what, instead)
        return text + "\n".join(SECRETS.format(user) for user in ("reader", "writer")) + "\n"

    with running(tmp_path, own) as daemons:
        yield daemons


async def test_who_may_do_what(example):
    async with serve(example.socket, TWO, print) as taker:
        await until(lambda: taker.connected)
        for name in ("edge", "core"):
            for observation in observations(2, switch=name, policies=1, classes=1, streams=0):
                taker.take(observation)
        counts = {}
        for community in ("phb-all", "phb-edge", "phb-core"):
            counts[community] = len(values(await example.ask("snmpwalk", NAMES, community=community)))
        assert counts == {"phb-all": 4, "phb-edge": 2, "phb-core": 2}
        spin = f"{BASE}.1.0"
        assert await refused(example, spin, "i", "0", community="phb-edge") == "noAccess"

        def as_user(user):
            secret = ["-l", "authPriv", "-a", "SHA-256", "-A", "a-long-secret", "-x", "AES", "-X", "another-secret"]
            return ["-v3", "-u", user, *secret, "-n", "core"]

        own = values(await example.ask("snmpwalk", NAMES, identity=as_user("reader")))
        assert len(own) == 2
        system = values(await example.ask("snmpwalk", ".1.3.6.1.2.1.1.5", identity=as_user("reader")))
        assert list(system.values()) == ["core"]
        assert await refused(example, spin, "i", "0", identity=as_user("reader")) == "noAccess"
        await example.ask("snmpset", spin, "i", "0", identity=as_user("writer"))
        assert taker.base.spin_lock == 1
        assert await refused(example, f"{BASE}.7.0", "i", "1", identity=as_user("writer")) == "noAccess"
