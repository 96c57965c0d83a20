// Const entries of every match kind, in the order that the program gives them or with priorities, and keys that are expressions.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> a;
    bit<8>  b;
}

header answer_t {
    bit<8> exact_value;
    bit<8> ternary_value;
    bit<8> lpm_value;
    bit<8> range_value;
    bit<8> expression_value;
}

header option_t {
    bit<8> value;
}

struct headers_t {
    frame_t  frame;
    option_t option;
    answer_t answer;
}

struct metadata_t {}

parser ConstParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.b) {
            0xff: option;
            default: accept;
        }
    }

    state option {
        packet.extract(hdr.option);
        transition accept;
    }
}

control ConstIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set_exact(bit<8> value) {
        hdr.answer.exact_value = value;
    }

    action set_ternary(bit<8> value) {
        hdr.answer.ternary_value = value;
    }

    action set_lpm(bit<8> value) {
        hdr.answer.lpm_value = value;
    }

    action set_range(bit<8> value) {
        hdr.answer.range_value = value;
    }

    action set_expression(bit<8> value) {
        hdr.answer.expression_value = value;
    }

    table exacts {
        key = {
            hdr.frame.a: exact;
            hdr.frame.b: exact;
        }
        actions = {
            set_exact;
        }
        const entries = {
            (0x0001, 1): set_exact(1);
            (0x0001, 2): set_exact(2);
        }
        const default_action = set_exact(0);
    }

    // Of two that fit, the one that stands first.
    table ternaries {
        key = {
            hdr.frame.a: ternary;
            hdr.frame.b: exact;
        }
        actions = {
            set_ternary;
        }
        const entries = {
            (0x0010 &&& 0x00f0, 1): set_ternary(1);
            (0x0011, 1): set_ternary(2);
            (_, 1): set_ternary(3);
        }
        const default_action = set_ternary(0);
    }

    table lpms {
        key = {
            hdr.frame.a: lpm;
        }
        actions = {
            set_lpm;
        }
        const entries = {
            0x1000 &&& 0xf000: set_lpm(4);
            0x1200 &&& 0xff00: set_lpm(8);
            0x1234: set_lpm(16);
        }
        const default_action = set_lpm(0);
    }

    table ranges {
        key = {
            hdr.frame.b: range;
        }
        actions = {
            set_range;
        }
        const entries = {
            3 .. 5: set_range(1);
            4 .. 9: set_range(2);
            0xff: set_range(3);
        }
        const default_action = set_range(0);
    }

    table expressions {
        key = {
            hdr.frame.a[3:0] ++ hdr.frame.b[7:4]: exact @name("nibbles");
            hdr.option.isValid(): exact @name("has_option");
        }
        actions = {
            set_expression;
        }
        const entries = {
            (0x1f, true): set_expression(1);
            (0x1f, false): set_expression(2);
            (0x10, false): set_expression(3);
        }
        const default_action = set_expression(0);
    }

    apply {
        hdr.answer.setValid();
        exacts.apply();
        ternaries.apply();
        lpms.apply();
        ranges.apply();
        expressions.apply();
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ConstParser(), NoVerify(), ConstIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
