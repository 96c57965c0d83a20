// What entries may have besides an action: members and groups, meters, timeouts, wide keys.

#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<8>    chosen;
    bit<32>   address;
    bit<16>   port;
    bit<8>    flow;
    bit<2048> wide;
}

struct headers_t {
    key_t key;
}

struct metadata_t {
    bit<2> colour;
}

parser EntriesParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.key);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control EntriesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_meter<bit<2>>(MeterType.packets) metered_meter;
    direct_counter(CounterType.packets_and_bytes) constant_counter;
    action_selector(HashAlgorithm.crc16, 6, 16) choice;
    action_profile(4) profile;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action mark(bit<9> port) {
        metered_meter.read(meta.colour);
        standard.egress_spec = port;
    }

    action count(bit<9> port) {
        constant_counter.count();
        standard.egress_spec = port;
    }

    table selected {
        key = {
            hdr.key.address: lpm;
            hdr.key.flow: selector;
            hdr.key.port: selector;
        }
        actions = { forward; NoAction; }
        implementation = choice;
    }

    table profiled {
        key = {
            hdr.key.port: exact;
        }
        actions = { forward; NoAction; }
        implementation = profile;
        support_timeout = true;
    }

    table metered {
        key = {
            hdr.key.port: exact;
        }
        actions = { mark; NoAction; }
        meters = metered_meter;
        support_timeout = true;
        default_action = NoAction();
    }

    table constant {
        key = {
            hdr.key.port: ternary;
            hdr.key.address: range;
        }
        actions = { count; NoAction; }
        counters = constant_counter;
        default_action = NoAction();
        const entries = {
            (1, 2 .. 3): count(1);
            (_, 3 .. 9): count(2);
        }
    }

    table wide_exact {
        key = {
            hdr.key.wide: exact;
            hdr.key.flow: exact;
        }
        actions = { forward; NoAction; }
        default_action = NoAction();
    }

    table wide_ternary {
        key = {
            hdr.key.wide: ternary;
        }
        actions = { forward; NoAction; }
        default_action = NoAction();
    }

    table wide_prefix {
        key = {
            hdr.key.wide: lpm;
        }
        actions = { forward; NoAction; }
        default_action = NoAction();
    }

    apply {
        standard.egress_spec = 100;
        if (hdr.key.chosen == 0) {
            selected.apply();
        } else if (hdr.key.chosen == 1) {
            profiled.apply();
        } else if (hdr.key.chosen == 2) {
            metered.apply();
            standard.egress_spec = standard.egress_spec + (bit<9>) meta.colour;
        } else if (hdr.key.chosen == 3) {
            constant.apply();
        } else if (hdr.key.chosen == 4) {
            wide_exact.apply();
        } else if (hdr.key.chosen == 5) {
            wide_ternary.apply();
        } else {
            wide_prefix.apply();
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control NoUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control EntriesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.key);
    }
}

V1Switch(EntriesParser(), NoVerify(), EntriesIngress(), NoEgress(), NoUpdate(), EntriesDeparser()) main;
