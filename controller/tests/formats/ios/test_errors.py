"""Everything that is refused, by file, line and statement."""

import pytest

from phb.errors import InputError
from phb.formats.format import ReadOptions
from phb.formats.ios import read
from phb.model import Dialect

HEAD = {Dialect.IOS_11_3: "11.3", Dialect.IOS_12: "12", Dialect.IOS_HQF: "hqf"}


def policy(
    statements, direction="output", before="", interface="FastEthernet0/0\n bandwidth 1000", name="class-default"
):
    """A policy map at an interface; its class's first statement stands on line 4."""
    body = "\n".join(f"  {statement}" for statement in statements.splitlines())
    return f"policy-map p\n class {name}\n{body}\n{before}interface {interface}\n service-policy {direction} p\n"


def classed(statements, **how):
    """The same with a class map, whose policy map begins on line 3."""
    return "class-map a\n match dscp 1\n" + policy(statements, name="a", **how)


# What is wrong counts where an interface has it.
FILTERED = "interface Fa0/9\n ip access-group a in\n"
POLICED = policy("set dscp 1", name="a")


def acl(entry):
    return f"ip access-list extended a\n {entry}\n{FILTERED}"


def matched(term):
    return f"class-map a\n match {term}\n{POLICED}"


PORT = "a port: a number from 0 to 65535 or one of"
COS = "a class of service from 0 to 7"

IPV6 = "ipv6 access-list a\n"
FILTERED_6 = "interface FastEthernet0/0\n ipv6 traffic-filter a in\n"

# name: (text, message or its beginning); pre-HQF unless the name begins with another dialect.
ERRORS = {
    # lines and modes
    "unknown statement of QoS": ("\nmls qos\n", "f:3: found 'mls qos', expected a statement of global configuration"),
    "unknown statement of a class map": (
        matched("dscp 1\n flurb 1"),
        "f:4: found 'flurb 1', expected a statement of a class map",
    ),
    "unknown statement where nobody sees its block": (
        "interface Fa0/0\nflurb 1\nbandwidth 5\n",
        "f:3: found 'flurb 1', expected a statement of an interface",
    ),
    "misspelt statement": (
        "polcy-map p\n",
        "f:2: found 'polcy-map p', expected a statement that phb knows, such as 'policy-map'",
    ),
    "misspelt in an interface": (
        "interface Fa0/0\n servce-policy output p\n",
        "f:3: found 'servce-policy output p', expected a statement that phb knows, such as 'service-policy output'",
    ),
    "statement outside of its mode": (" random-detect\n", "f:2: found 'random-detect', expected it in an interface"),
    "ambiguous": ("interface Fa0/0\n ip p\n", "f:3: found 'ip p', expected one of pim, policy, proxy-arp in full"),
    "no form": ("no policy-map p\n", "f:2: found 'no policy-map', expected the configuration without 'policy-map'"),
    "no end of a banner": ("banner motd #\n", "f:2: found a banner without an end"),
    "superfluous word": ("policy-map a b\n", "f:2: found 'b', expected the end of the statement"),
    "missing word": ("policy-map\n", "f:2: found 'policy-map' and no more, expected a policy map's name"),
    "long name": (f"policy-map {'x' * 65}\n", f"f:2: found '{'x' * 65}', expected a policy map's name of at most 64"),
    # dialects
    "11.3 class map": (
        "class-map a\n",
        "f:2: found 'class-map', expected a statement of ios-11.3; it came with 12.0(5)T",
    ),
    "11.3 policy map": ("policy-map a\n", "f:2: found 'policy-map', expected a statement of ios-11.3"),
    "11.3 service policy": (
        "interface Fa0/0\n service-policy input p\n",
        "f:3: found 'service-policy input', expected a statement of ios-11.3",
    ),
    "11.3 random-detect": (
        "interface Fa0/0\n random-detect\n",
        "f:3: found 'random-detect', expected a statement of ios-11.3; it came with 12.0",
    ),
    "priority level": (
        classed("priority level 1"),
        "f:6: found 'priority level', expected a statement of ios-12; it came with 12.4(20)T",
    ),
    "bandwidth remaining ratio": (
        classed("bandwidth remaining ratio 3"),
        "f:6: found 'bandwidth remaining ratio', expected a statement of ios-12",
    ),
    "fair-queue in a class": (classed("fair-queue"), "f:6: found 'fair-queue', expected it in class-default only"),
    "version": ("version 15.1\n", "f:2: found version 15.1 read as ios-12, expected ios-hqf"),
    "version of old": ("version 11.3\n", "f:2: found version 11.3 read as ios-12, expected ios-11.3"),
    "version unknown": ("version 9\n", "f:2: found version 9, expected a release of IOS: 11, 12, 15, 16 or 17"),
    # values
    "interface kind": ("interface Foo0/1\n", "f:2: found interface kind 'Foo', expected one of"),
    "interface kinds": (
        "interface T0\n",
        "f:2: found interface kind 'T', expected one of TenGigabitEthernet, TokenRing, Tunnel",
    ),
    "interface name": ("interface 0/1\n", "f:2: found '0/1', expected an interface such as FastEthernet0/1"),
    "interface number": ("interface Serial x\n", "f:2: found 'Serial x', expected an interface such as"),
    "address": ("interface Fa0/0\n ip address 1.2.3 255.0.0.0\n", "f:3: found '1.2.3', expected an IPv4 address"),
    "netmask": (
        "interface Fa0/0\n ip address 1.2.3.4 255.0.255.0\n",
        "f:3: found '255.0.255.0', expected a netmask: ones, then zeros",
    ),
    "bandwidth 0": ("interface Fa0/0\n bandwidth 0\n", "f:3: found '0', expected kbit/s from 1 to 400000000"),
    "bandwidth word": ("interface Fa0/0\n bandwidth fast\n", "f:3: found 'fast', expected kbit/s from 1 to"),
    "speed": ("interface Fa0/0\n speed 0\n", "f:3: found '0', expected Mbit/s from 1 to 100000"),
    "hold queue 5000": (
        "interface Fa0/0\n hold-queue 5000 out\n",
        "f:3: found a hold queue of 5000 packets, expected at most 4096",
    ),
    "hold queue way": ("interface Fa0/0\n hold-queue 9 up\n", "f:3: found 'up', expected one of in, out"),
    "queues no power": (
        "interface Serial0\n fair-queue 64 100\n",
        "f:3: found '100', expected a power of two from 16 to 4096",
    ),
    "class queues no power": (
        policy("fair-queue 100"),
        "f:4: found '100', expected a power of two from 16 to 4096",
    ),
    "encapsulation of another": (
        "interface Fa0/0\n encapsulation ppp\n",
        "f:3: found encapsulation 'ppp' on FastEthernet0/0, expected one that the interface has",
    ),
    "encapsulation of a line": (
        "interface Serial0\n encapsulation arpa\n",
        "f:3: found encapsulation 'arpa' on Serial0, expected one that the interface has",
    ),
    # access lists
    "access list number": (
        "access-list 3000 permit any\n",
        "f:2: found '3000', expected an IP access list's number from 1 to 2699",
    ),
    "access list of another kind": (
        f"ip access-list standard a\nip access-list extended a\n{FILTERED}",
        "f:3: found an extended access list 'a', expected a standard one as at f:2",
    ),
    "sequence number": (
        f"ip access-list extended a\n 10 permit ip any any\n 10 deny ip any any\n{FILTERED}",
        "f:4: found sequence number 10 again, expected one that no other entry has",
    ),
    "access list action": (
        "access-list 101 allow ip any any\ninterface Fa0/0\n ip access-group 101 in\n",
        "f:2: found 'allow', expected one of permit, deny, remark",
    ),
    "protocol": (
        acl("permit foo any any"),
        "f:3: found 'foo', expected a protocol: a number from 0 to 255 or one of ip,",
    ),
    "source": (acl("permit ip anyone any"), "f:3: found 'anyone', expected 'any', 'host ADDRESS' or"),
    "wildcard": (acl("permit ip 10.0.0.0 any"), "f:3: found 'any', expected a wildcard mask such as 0.0.0.255"),
    "scattered wildcard": (
        acl("permit ip 10.0.0.0 170.170.170.170 any"),
        "f:3: found wildcard mask '170.170.170.170', expected one that stands for at most 256 address ranges",
    ),
    "port name": (acl("permit tcp any any eq foo"), f"f:3: found 'foo', expected {PORT}"),
    "ports without tcp": (
        acl("permit ip any any eq 80"),
        "f:3: found 'eq' without ports, expected it after tcp or udp",
    ),
    "no port": (acl("permit tcp any any lt 0"), "f:3: found a port condition that no port meets, expected one"),
    "no port above": (acl("permit tcp any any gt 65535"), "f:3: found a port condition that no port meets"),
    "established without tcp": (
        acl("permit ip any any established"),
        "f:3: found 'established', expected dscp, precedence, tos, log or the end of the statement",
    ),
    "a flag both ways": (acl("permit tcp any any match-all +syn -syn"), "f:3: found a flag that is set and clear"),
    "flags without a sign": (acl("permit tcp any any match-any syn"), "f:3: found 'syn', expected flags such as"),
    "no such flag": (
        acl("permit tcp any any match-all +ece"),
        "f:3: found '+ece', expected + or - and one of ack, fin",
    ),
    "established and a flag": (acl("permit tcp any any established syn"), "f:3: found 'syn' beside other TCP flags"),
    "fragments": (acl("permit ip any any fragments"), "f:3: found 'fragments', expected an entry without it"),
    "time range": (
        acl("permit ip any any time-range x"),
        "f:3: found 'time-range', expected an entry without it: 'valid'",
    ),
    "icmp type": (acl("permit icmp any any ping"), "f:3: found 'ping', expected an ICMP message by name or number"),
    "icmp code": (acl("permit icmp any any 3 256"), "f:3: found '256', expected an ICMP code from 0 to 255"),
    "igmp type": (acl("permit igmp any any 5"), "f:3: found '5', expected no IGMP message"),
    "entry option": (acl("permit ip any any fast"), "f:3: found 'fast', expected dscp, precedence, tos, log or"),
    "dscp and tos": (
        acl("permit ip any any dscp ef tos 8"),
        "f:3: found 'tos' beside dscp, expected the ToS octet asked once",
    ),
    "dynamic": (acl("dynamic x permit ip any any"), "f:3: found 'dynamic', expected permit, deny or remark"),
    "evaluate": (acl("evaluate x"), "f:3: found 'evaluate', expected permit, deny or remark"),
    # class maps
    "class map the other way": (
        f"class-map match-any a\nclass-map match-all a\n{POLICED}",
        "f:3: found 'match-all', expected the other way, as for class map 'a' at f:2",
    ),
    "match": (matched("colour red"), "f:3: found 'colour', expected one of access-group, any, class-map, cos, dscp,"),
    "match nbar": (
        matched("protocol http"),
        "f:3: found 'match protocol http', expected ip or ipv6: phb doesn't look into",
    ),
    "match rtp": (
        matched("ip rtp 16384 100"),
        "f:3: found 'match ip rtp', expected a match that phb has; this one asks",
    ),
    "match qos-group 100": (matched("qos-group 100"), "f:3: found '100', expected a QoS group from 0 to 99"),
    "match qos-group on input": (
        "class-map a\n match qos-group 1\n" + policy("set dscp 1", name="a", direction="input"),
        "f:3: found 'match qos-group 1' in an input policy, expected it in an output policy",
    ),
    "match mac": (
        matched("source-address mac 1.2.3"),
        "f:3: found 'match source-address', expected a match that phb has",
    ),
    "match dscp": (matched("dscp 64"), "f:3: found '64', expected a DSCP from 0 to 63"),
    "match dscp name": (matched("dscp af14"), "f:3: found 'af14', expected a DSCP: a number from 0 to 63 or one of"),
    "match cos": (matched("cos 8"), f"f:3: found '8', expected {COS}"),
    "rename": (f"class-map a\n rename b\n{POLICED}", "f:3: found 'rename', expected the class map under its new name"),
    "class map of nothing": (policy("set dscp 0", name="b"), "f:3: found class map 'b', expected one of class-default"),
    "access list of nothing": (
        "class-map a\n match access-group name x\n" + policy("set dscp 0", name="a"),
        "f:3: found access list 'x', expected an access list of the file; there is none",
    ),
    "access group of nothing": (
        "access-list 1 permit any\ninterface Fa0/0\n ip access-group 2 in\n",
        "f:4: found access list '2', expected one of 1",
    ),
    "circle": (
        "class-map a\n match class-map b\nclass-map b\n match class-map a\n" + policy("set dscp 0", name="a"),
        "f:5: found class map 'a' within itself, expected class maps without a circle",
    ),
    # policy maps
    "policy map of nothing": (
        "interface Fa0/0\n service-policy input x\n",
        "f:3: found policy map 'x', expected a policy map of the file",
    ),
    "two policy maps": (
        "interface Fa0/0\n service-policy input x\n service-policy input y\n",
        "f:4: found policy map 'y' for input, expected one policy map; 'x' stands at f:3",
    ),
    "insert before": (
        "policy-map p\n class a insert-before b\ninterface Fa0/0\n service-policy input p\n",
        "f:3: found 'insert-before', expected the classes in",
    ),
    "set": (
        policy("set colour 1"),
        "f:4: found 'colour', expected one of dscp, precedence, cos, ip dscp, ip precedence",
    ),
    "set qos-group": (policy("set qos-group 100"), "f:4: found '100', expected a QoS group from 0 to 99"),
    "set cos by table map": (policy("set cos dscp table t"), "f:4: found 'table', expected no table map"),
    "set dscp qos-group": (
        policy("set dscp qos-group"),
        "f:4: found 'set dscp qos-group', expected a QoS group set to",
    ),
    "copied and set": (policy("set dscp cos\nset precedence 1"), "f:5: found 'set precedence 1', expected one mark"),
    "set twice": (
        policy("set dscp 0\nset precedence 1"),
        "f:5: found 'set precedence 1', expected one mark; another one stands at f:4",
    ),
    "set ip and police": (
        policy("set ip dscp 0\npolice 8000"),
        "f:4: found 'set ip dscp 0' beside a policer in a class that takes IPv6 packets, expected 'set dscp'",
    ),
    "twice": (policy("priority 10\npriority 20"), "f:5: found priority again, expected it once; it also stands at f:4"),
    "queue limit twice": (
        policy("queue-limit 9\nqueue-limit 8"),
        "f:5: found queue-limit again, expected it once; it also",
    ),
    "queue limit in bytes": (policy("queue-limit 9 ms"), "f:4: found 'queue-limit' in ms, expected packets in ios-12"),
    "bandwidth of a class": (policy("bandwidth much"), "f:4: found 'much', expected kbit/s, 'percent' or 'remaining'"),
    "drop": (policy("drop"), "f:4: found 'drop', expected 'police 8000"),
    "shape max-buffers": (policy("shape max-buffers 9"), "f:4: found 'shape max-buffers', expected 'queue-limit'"),
    "shape in ms": (policy("shape average percent 9 20 ms"), "f:4: found '20', expected no burst in ms"),
    "compression": (policy("compression header ip"), "f:4: found 'compression', expected a class without it"),
    # policers
    "police twice": (
        policy("police 8000\npolice 9000"),
        "f:5: found police again, expected it once; it also stands at f:4",
    ),
    "police rate": (policy("police 800"), "f:4: found '800', expected a rate in bit/s from 8000"),
    "police burst": (policy("police 8000 10"), "f:4: found a burst of 10 bytes, expected at least 1000"),
    "three bursts": (policy("police 8000 1500 1500 1500"), "f:4: found '1500', expected at most two bursts"),
    "police no burst": (policy("police cir 8000 bc x"), "f:4: found 'x', expected a burst in bytes, or in ms"),
    "police event": (
        policy("police 8000 when-action drop"),
        "f:4: found 'when-action', expected one of conform-action,",
    ),
    "police action": (policy("police 8000 conform-action pass"), "f:4: found 'pass', expected one of drop, transmit,"),
    "police mark": (
        policy("police 8000 conform-action set-frde-transmit 1"),
        "f:4: found 'set-frde-transmit', expected one of drop, transmit, set-dscp-transmit, set-prec-transmit, "
        "set-cos-transmit, set-qos-transmit: phb has no such mark",
    ),
    "police drop and mark": (
        policy("police 8000\nexceed-action drop\nexceed-action set-dscp-transmit 0"),
        "f:6: found 'exceed-action set-dscp-transmit' beside another action, expected actions that go together",
    ),
    "police colours": (
        policy("police 8000\nconform-color x"),
        "f:5: found 'conform-color', expected a policer without it",
    ),
    "peak below": (
        policy("police cir 16000 pir 8000"),
        "f:4: found a peak rate of 8000 bit/s below the committed 16000, expected it above",
    ),
    "no violate-action": (
        policy("police cir 8000 pir 16000 exceed-action set-dscp-transmit 0"),
        "f:4: found a peak rate and an exceed-action without a violate-action, expected the violate-action, too",
    ),
    "priority and police": (
        classed("priority 100\npolice 100000"),
        "f:7: found 'police' beside 'priority' with a rate, expected one policer for a class",
    ),
    "percent of the unknown": (
        policy("police cir percent 10", interface="Channel1/0"),
        "f:3: found a percentage of Channel1/0, expected 'bandwidth' in interface Channel1/0",
    ),
    # policy maps at interfaces
    "queueing at an input": (
        policy("bandwidth 10", direction="input"),
        "f:4: found queueing in policy map 'p', which is an input policy at f:7, expected set and police",
    ),
    "shape at an input": (
        policy("shape average 8000", direction="input"),
        "f:4: found 'shape' in an input policy, expected it in an output policy",
    ),
    "shape of a class at an input": (
        classed("shape average 8000", direction="input"),
        "f:6: found queueing in policy map 'p', which is an input policy at f:9, expected set and police",
    ),
    "shape beside priority": (
        classed("priority\nshape average 8000"),
        "f:7: found 'shape' beside 'priority' in class 'a', expected one of them",
    ),
    "policy map in a class beside others": (
        classed("shape average 8000\nservice-policy q", before="policy-map q\n class class-default\n"),
        "f:7: found a policy map inside class 'a' of policy map 'p', expected it beside 'shape' in class-default",
    ),
    "policy map in a class": (
        policy("service-policy q", before="policy-map q\n class class-default\n"),
        "f:4: found a policy map inside a class without 'shape', expected it beside 'shape' in class-default",
    ),
    "marks beside a policy map": (
        policy("set dscp 0\nshape average 8000\nservice-policy q", before="policy-map q\n class class-default\n"),
        "f:6: found a policy map inside a class that also marks, polices or queues, expected these in the inner one",
    ),
    "input interface at an output": (
        "class-map a\n match input-interface FastEthernet0/1\n" + policy("set dscp 0", name="a"),
        "f:3: found 'match input-interface FastEthernet0/1' in an output policy, expected it in an input policy",
    ),
    "three policy maps": (
        policy(
            "shape average 8000\nservice-policy q", before="policy-map q\n class class-default\n  service-policy p\n"
        ),
        "f:8: found a policy map inside class 'class-default' of policy map 'q', expected it beside",
    ),
    "long names": (
        f"policy-map {'p' * 60}\n class class-default\n  set dscp 0\n"
        f"interface Fa0/0\n service-policy input {'p' * 60}\n",
        f"f:3: found '{'p' * 60}/class-default', which has 74 characters, expected names of policy map and class",
    ),
    # queueing
    "bandwidth beside priority": (
        classed("priority 10\nbandwidth 10"),
        "f:7: found 'bandwidth' beside 'priority' in class 'a', expected one of them",
    ),
    "random-detect beside priority": (
        classed("priority\nrandom-detect"),
        "f:7: found 'random-detect' beside 'priority' in class 'a', expected one of them",
    ),
    "queue without bandwidth": (
        classed("queue-limit 9"),
        "f:5: found class 'a' with a queue, but without 'bandwidth' or 'priority', expected one of them",
    ),
    "bandwidth in two ways": (
        classed("bandwidth 10\nclass class-default\nbandwidth percent 10"),
        "f:8: found bandwidth in percent, expected it in kbit/s as at f:6",
    ),
    "too much bandwidth": (
        classed("bandwidth 760"),
        "f:6: found 760 kbit/s for a class at FastEthernet0/0, expected at most the 750 kbit/s that are left of 75",
    ),
    "hqf too much priority": (
        classed("priority 600\nclass class-default\nbandwidth 500"),
        "f:8: found 500 kbit/s for a class at FastEthernet0/0, expected at most the 400 kbit/s that are left of 100 %",
    ),
    "fair-queue and classes": (
        policy("bandwidth 10", interface="Serial0\n fair-queue"),
        "f:6: found 'fair-queue' beside policy map 'p', which queues, expected one of them; the policy map is at f:7",
    ),
    "fair-queue and random-detect": (
        "interface Serial0\n fair-queue\n random-detect\n",
        "f:4: found 'random-detect' beside 'fair-queue', expected one of them; see f:3",
    ),
    "thresholds": (
        policy("bandwidth 9\nrandom-detect dscp 8 40 30"),
        "f:5: found '30', expected a maximum threshold in packets from 40",
    ),
    "two ways to tell apart": (
        policy("bandwidth 9\nrandom-detect dscp-based\nrandom-detect precedence 0 1 2"),
        "f:6: found early detection by precedence, expected by DSCP, as at f:5",
    ),
    "random-detect flow": (
        policy("random-detect flow"),
        "f:4: found 'random-detect flow', expected dscp-based or prec-based",
    ),
    # interfaces
    "subinterface": (
        "policy-map p\ninterface Fa0/0.5\n encapsulation dot1Q 5\n service-policy input p\n",
        "f:5: found 'service-policy input p' on FastEthernet0/0.5, expected 'encapsulation dot1Q' in it, and interface",
    ),
    "tunnel": (
        "interface Tunnel0\n random-detect\n",
        "f:3: found 'random-detect' on Tunnel0, expected it on a physical",
    ),
    "policy routing": (
        "route-map m permit 10\n set ip tos 4\ninterface Fa0/0\n ip policy route-map m\n",
        "f:5: found route map 'm', which marks packets: 'set ip tos 4' (f:3), expected 'set' in a class",
    ),
    "rate-limit": (
        "interface Fa0/0\n rate-limit input 8000\n",
        "f:3: found 'rate-limit', expected 'police' in a policy map",
    ),
    "priority-group": ("interface Fa0/0\n priority-group 1\n", "f:3: found 'priority-group', expected classes with"),
    "ip rtp priority": (
        "interface Fa0/0\n ip rtp priority 1 2 3\n",
        "f:3: found 'ip rtp priority', expected a class with",
    ),
    "QoS of a link that is no port": (
        policy("set dscp 1", interface="Serial0\n encapsulation frame-relay"),
        "f:7: found 'service-policy output p' on Serial0, which has 'encapsulation frame-relay' (f:6), expected",
    ),
    "QoS of a bundled link": (
        policy("set dscp 1", interface="Fa0/0\n channel-group 1"),
        "f:7: found 'service-policy output p' on FastEthernet0/0, which has 'channel-group 1' (f:6), expected",
    ),
    "classes of Frame Relay": (
        "interface Serial0\n frame-relay class x\n",
        "f:3: found 'frame-relay class', expected a policy map on the interface",
    ),
    # routes
    "route": (
        "ip route 10.0.0.1 255.0.0.0 Null0\n",
        "f:2: found '10.0.0.1' with the mask of /8, expected '10.0.0.0'",
    ),
    "ipv6 address": (
        IPV6 + " permit tcp 2001:db8::1 any\n" + FILTERED_6,
        "f:3: found '2001:db8::1', expected 'any', 'host",
    ),
    "ipv4 address in an ipv6 list": (
        IPV6 + " permit ipv6 host 10.0.0.1 any\n" + FILTERED_6,
        "f:3: found '10.0.0.1', expected",
    ),
    "ipv6 entry without a protocol": (IPV6 + " permit any any\n" + FILTERED_6, "f:3: found 'any', expected a protocol"),
    "flow label": (
        IPV6 + " permit ipv6 any any flow-label 1\n" + FILTERED_6,
        "f:3: found 'flow-label', expected an entry",
    ),
    "precedence in an ipv6 list": (
        IPV6 + " permit ipv6 any any precedence 1\n" + FILTERED_6,
        "f:3: found 'precedence', expected dscp, sequence, log or the end of the statement",
    ),
    "one name for two versions": (
        "ip access-list extended a\n" + IPV6 + FILTERED_6,
        "f:3: found access list 'a' of IPv6, expected another",
    ),
    "ipv4 list as a traffic filter": (
        "ip access-list extended a\n permit ip any any\n" + FILTERED_6,
        "f:5: found access list 'a' of the other IP version, expected one of IPv6",
    ),
    "ipv6 list as an access group": (
        IPV6 + FILTERED_6.replace("ipv6 traffic-filter", "ip access-group"),
        "f:4: found access list 'a' of the other IP version, expected one of IPv4",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    text, message = ERRORS[case]
    dialect = {"11.3": "ios-11.3", "hqf": "ios-hqf"}.get(case.split()[0], "ios-12")
    with pytest.raises(InputError) as caught:
        read(f"! phb: dialect {dialect}\n{text}", "f")
    assert str(caught.value).startswith(message), str(caught.value)


DIRECTIVES = {
    "none": (
        "interface Serial0\n fair-queue\n",
        "f:1: found a configuration that doesn't say which IOS is meant, although its queues depend on that, expected "
        "a line '! phb: dialect",
    ),
    "refused in one": (
        "policy-map p\n class class-default\n  priority level 1\ninterface Serial0\n service-policy output p\n",
        "f:1: found a configuration that doesn't say",
    ),
    "refused in all": ("hostname a\nhostname b c\n", "f:2: found 'c', expected the end of the statement"),
    "unknown": ("! phb: dialect ios-13\n", "f:1: found dialect 'ios-13', expected one of ios-11.3, ios-12, ios-hqf"),
    "two": (
        "! phb: dialect ios-12\n! phb: dialect ios-hqf\n",
        "f:2: found dialect ios-hqf, expected ios-12, which was said before",
    ),
    "other word": ("! phb: version 12\n", "f:1: found 'phb: version', expected 'phb: dialect DIALECT'"),
}


@pytest.mark.parametrize("case", DIRECTIVES)
def test_directive(case):
    text, message = DIRECTIVES[case]
    with pytest.raises(InputError) as caught:
        read(text, "f")
    assert str(caught.value).startswith(message), str(caught.value)


SAME_IN_ALL = {
    "access list": "access-list 1 permit 10.0.0.0 0.255.255.255\ninterface FastEthernet0/0\n ip access-group 1 in\n",
    "marks, not of 11.3": (
        "policy-map p\n class class-default\n  set dscp 8\ninterface FastEthernet0/0\n service-policy input p\n"
    ),
    "12.4": "version 12.4\ninterface FastEthernet0/0\n",
}


@pytest.mark.parametrize("case", SAME_IN_ALL)
def test_a_dialect_that_does_not_matter(case):
    assert read(SAME_IN_ALL[case], "f") == read(SAME_IN_ALL[case], "f", ReadOptions(Dialect.IOS_HQF))


def test_option_against_the_file(ios):
    with pytest.raises(InputError, match=r"^f:1: found dialect ios-hqf, expected ios-12, which was said before$"):
        ios("! phb: dialect ios-hqf\n", Dialect.IOS_12)
