// Classification alone: one table of each sort over an address pair, ports and a protocol, chosen by the packet.

#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<8>  chosen;
    bit<8>  protocol;
    bit<16> source_port;
    bit<16> destination_port;
    bit<32> source;
    bit<32> destination;
}

struct headers_t {
    key_t key;
}

struct metadata_t {}

parser KeyParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.key);
        transition accept;
    }
}

#include "stages.p4i"

control ClassifyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action answer(bit<32> rule) {
        hdr.key.source = rule;
        standard.egress_spec = 1;
    }

    // As much work as a hit is, so that the two differ by the look-up alone.
    action miss() {
        hdr.key.source = 0xffffffff;
        standard.egress_spec = 2;
    }

    table policy {
        key = {
            hdr.key.source: ternary;
            hdr.key.destination: ternary;
            hdr.key.source_port: range;
            hdr.key.destination_port: range;
            hdr.key.protocol: ternary;
        }
        actions = { answer; miss; }
        const default_action = miss();
        size = 1048576;
    }

    table ranges {
        key = {
            hdr.key.source: range;
            hdr.key.destination: range;
            hdr.key.source_port: range;
            hdr.key.destination_port: range;
            hdr.key.protocol: range;
        }
        actions = { answer; miss; }
        const default_action = miss();
        size = 1048576;
    }

    table masks {
        key = {
            hdr.key.source: ternary;
            hdr.key.destination: ternary;
            hdr.key.source_port: ternary;
            hdr.key.destination_port: ternary;
            hdr.key.protocol: ternary;
        }
        actions = { answer; miss; }
        const default_action = miss();
        size = 1048576;
    }

    table routes {
        key = {
            hdr.key.destination: lpm;
        }
        actions = { answer; miss; }
        const default_action = miss();
        size = 2097152;
    }

    table flows {
        key = {
            hdr.key.source: exact;
            hdr.key.destination: exact;
            hdr.key.source_port: exact;
            hdr.key.destination_port: exact;
            hdr.key.protocol: exact;
        }
        actions = { answer; miss; }
        const default_action = miss();
        size = 1048576;
    }

    apply {
        if (hdr.key.chosen == 0) {
            policy.apply();
        } else if (hdr.key.chosen == 1) {
            ranges.apply();
        } else if (hdr.key.chosen == 2) {
            masks.apply();
        } else if (hdr.key.chosen == 3) {
            routes.apply();
        } else {
            flows.apply();
        }
    }
}

V1Switch(KeyParser(), NoVerify(), ClassifyIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
