"""A made-up trace with every kind of step, as a line of JSON says it, and how its message is made."""

ETHERNET = "0200000000b20200000000010800"
TCP = "0a0000010a000002" + "00500051000000010000000250100000e5ac0000"
FRAME = ETHERNET + "45000028000100004006" + "26cd" + TCP
LEFT = ETHERNET + "45b80028000100003f06" + "2715" + TCP

TRACE = {
    "number": 7,
    "switch": "s1",
    "time_ns": 1000,
    "steps": [
        {"time_ns": 1000, "part": "port", "arrived": {"port": 1, "length": 54, "frame": FRAME}},
        {"time_ns": 1000, "part": "parser", "state": {"name": "start"}},
        {
            "time_ns": 1000,
            "part": "parser",
            "extract": {"header": "ipv4", "offset": 14, "length": 20, "fields": [{"name": "ttl", "value": "0x40"}]},
        },
        {"time_ns": 1000, "part": "parser", "select": {"keys": ["0x06"], "next": "tcp"}},
        {"time_ns": 1000, "part": "parser", "parser_error": {"error": "HeaderTooShort"}},
        {
            "time_ns": 1000,
            "part": "verify",
            "checksum": {"field": "ipv4.checksum", "computed": "0x1234", "carried": "0x1235"},
        },
        {
            "time_ns": 1000,
            "part": "ingress",
            "source": {"file": "/src/classify.p4", "line": 2, "column": 5, "fragment": "ipv4.isValid()"},
            "condition": {"name": "node_2", "holds": True},
        },
        {
            "time_ns": 1000,
            "part": "ingress",
            "source": {"file": "/src/classify.p4", "line": 3, "column": 9, "fragment": "rules"},
            "table": {
                "name": "In.rules",
                "key": [{"name": "ipv4.source", "value": "0x0a000001"}, {"name": "tos", "value": "0x00"}],
                "entries": 3,
                "hit": {
                    "number": 4,
                    "priority": 30,
                    "matches": [
                        {"kind": "range", "value": "0x0a000000", "second": "0x0a0000ff"},
                        {"kind": "ternary", "value": "0x00", "second": "0xe0"},
                    ],
                    "action": "In.take",
                    "parameters": [{"name": "policy", "value": "0x0001"}],
                },
                "others": [
                    {
                        "number": 2,
                        "priority": 20,
                        "matches": [
                            {"kind": "range", "value": "0x00000000", "second": "0xffffffff"},
                            {"kind": "ternary"},
                        ],
                        "action": "In.take",
                        "parameters": [{"name": "policy", "value": "0x0002"}],
                    }
                ],
                "others_left_out": 1,
                "action": "In.take",
                "parameters": [{"name": "policy", "value": "0x0001"}],
                "direct_counter": {"packets_before": 1, "packets_after": 2, "bytes_before": 54, "bytes_after": 108},
            },
        },
        {"time_ns": 1000, "part": "ingress", "statement": {"primitive": "assign"}},
        {"time_ns": 1000, "part": "ingress", "assign": {"field": "meta.policy", "value": "0x0001"}},
        {"time_ns": 1000, "part": "ingress", "header": {"name": "vlan"}},
        {
            "time_ns": 1000,
            "part": "ingress",
            "table": {
                "name": "In.route",
                "key": [{"name": "ipv4.destination", "value": "0x0a000002"}],
                "entries": 2,
                "hit": {
                    "number": 1,
                    "matches": [{"kind": "prefix", "value": "0x0a000000", "length": 24}],
                    "action": "In.send",
                    "parameters": [{"name": "port", "value": "0x0002"}],
                },
                "others": [
                    {
                        "matches": [{"kind": "prefix", "value": "0x0a000000", "length": 8}],
                        "action": "In.send",
                    }
                ],
                "member_plus_1": 3,
                "action": "In.send",
                "parameters": [{"name": "port", "value": "0x0002"}],
            },
        },
        {"time_ns": 1000, "part": "ingress", "table": {"name": "In.empty", "key": [{"name": "port", "value": "0x01"}]}},
        {"time_ns": 1000, "part": "ingress", "call": {"action": "In.account"}},
        {
            "time_ns": 1000,
            "part": "ingress",
            "register": {
                "name": "In.depth",
                "index": 2,
                "before": "0x00000005",
                "after": "0x00000006",
                "written": True,
            },
        },
        {
            "time_ns": 1000,
            "part": "ingress",
            "counter": {"name": "In.seen", "index": 1, "packets_after": 1, "bytes_after": 54},
        },
        {"time_ns": 1000, "part": "ingress", "counter": {"name": "In.seen", "index": 99, "beyond": True}},
        {
            "time_ns": 1000,
            "part": "ingress",
            "meter": {"name": "In.rate", "index": 1, "colour": "yellow", "committed_before": 10, "second_before": 90},
        },
        {"time_ns": 1000, "part": "ingress", "meter": {"name": "In.free", "colour": "green", "without_rates": True}},
        {"time_ns": 1000, "part": "ingress", "extern": {"name": "hash", "result": "0x2a"}},
        {"time_ns": 1000, "part": "ingress", "request": {"name": "clone", "number": 5}},
        {"time_ns": 1000, "part": "ingress", "copied": {"kind": "clone_ingress", "trace": 8, "group": 5}},
        {
            "time_ns": 1000,
            "part": "queue",
            "enqueued": {
                "port": 2,
                "rank": 1152921504606846976,
                "depth": 5,
                "ahead": 3,
                "ahead_bytes": 3000,
                "behind": [{"trace": 5, "rank": 100, "length": 1500, "ingress_port": 3, "since_ns": 500}],
            },
        },
        {
            "time_ns": 4_813_000,
            "part": "queue",
            "dequeued": {
                "port": 2,
                "waited_ns": 4_812_000,
                "served": 3,
                "served_bytes": 3000,
                "behind": [{"trace": 5, "rank": 100, "length": 1500, "ingress_port": 3, "since_ns": 500}],
                "depth": 2,
            },
        },
        {"time_ns": 4_813_000, "part": "egress", "call": {"action": "Out.nothing"}},
        {"time_ns": 4_813_000, "part": "deparser", "emit": {"header": "ipv4", "offset": 14, "length": 20}},
        {"time_ns": 4_813_000, "part": "port", "sending": {"port": 2, "length": 54, "ends_ns": 4_830_000}},
        {"time_ns": 4_830_000, "part": "port", "departed": {"port": 2, "length": 54, "frame": LEFT}},
    ],
    "steps_left_out": 2,
    "traces_left_out": 4,
}

DROPPED = {
    "number": 8,
    "of": 7,
    "switch": "s1",
    "time_ns": 1000,
    "steps": [
        {"time_ns": 1000, "part": "egress", "dropped": {"reason": "unknown_port", "port": 9}},
    ],
}


def message(value, into):
    """The message of a dict, by protobuf's own means."""
    for name, each in value.items():
        field = into.DESCRIPTOR.fields_by_name[name]
        if field.message_type is not None and isinstance(each, list):
            for one in each:
                message(one, getattr(into, name).add())
        elif field.message_type is not None:
            message(each, getattr(into, name))
            getattr(into, name).SetInParent()
        elif field.type == field.TYPE_BYTES:
            octets = [bytes.fromhex(one.removeprefix("0x")) for one in (each if isinstance(each, list) else [each])]
            if isinstance(each, list):
                getattr(into, name).extend(octets)
            else:
                setattr(into, name, octets[0])
        else:
            setattr(into, name, each)
    return into
