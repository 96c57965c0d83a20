// Ternary, range and optional keys in one table each and all together; of several entries the highest priority wins.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> a;
    bit<16> b;
    bit<8>  c;
}

header answer_t {
    bit<8> ternary_only;
    bit<8> range_only;
    bit<8> optional_only;
    bit<8> mixed;
}

struct headers_t {
    frame_t  frame;
    answer_t answer;
}

struct metadata_t {}

parser TernaryParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control TernaryIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set_ternary(bit<8> value) {
        hdr.answer.ternary_only = value;
    }

    action set_range(bit<8> value) {
        hdr.answer.range_only = value;
    }

    action set_optional(bit<8> value) {
        hdr.answer.optional_only = value;
    }

    action set_mixed(bit<8> value) {
        hdr.answer.mixed = value;
    }

    table masks {
        key = {
            hdr.frame.a: ternary;
            hdr.frame.b: ternary;
        }
        actions = {
            set_ternary;
        }
        default_action = set_ternary(0);
    }

    table ranges {
        key = {
            hdr.frame.b: range;
        }
        actions = {
            set_range;
        }
        default_action = set_range(0);
    }

    table optionals {
        key = {
            hdr.frame.a: optional;
            hdr.frame.c: optional;
        }
        actions = {
            set_optional;
        }
        default_action = set_optional(0);
    }

    table mixture {
        key = {
            hdr.frame.a: lpm;
            hdr.frame.b: range;
            hdr.frame.c: exact;
        }
        actions = {
            set_mixed;
        }
        default_action = set_mixed(0);
    }

    apply {
        hdr.answer.setValid();
        masks.apply();
        ranges.apply();
        optionals.apply();
        mixture.apply();
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(TernaryParser(), NoVerify(), TernaryIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
