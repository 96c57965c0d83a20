// An exact table with two keys: parameters, hit and miss, action_run, a default action with a parameter, apply in a condition.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> kind;
    bit<4>  low;
    bit<4>  high;
}

header answer_t {
    bit<8> value;
    bit<8> hit;
    bit<8> ran;
}

struct headers_t {
    frame_t  frame;
    answer_t answer;
}

struct metadata_t {}

parser ExactParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control ExactIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set(bit<8> value, bit<9> port) {
        hdr.answer.value = value;
        standard.egress_spec = port;
    }

    action other(bit<9> port) {
        standard.egress_spec = port;
    }

    action discard() {
        mark_to_drop(standard);
    }

    table keyed {
        key = {
            hdr.frame.kind: exact;
            hdr.frame.high: exact @name("upper");
        }
        actions = {
            set;
            other;
            discard;
        }
        default_action = other(1);
        size = 16;
    }

    table hit_or_miss {
        key = {
            hdr.frame.kind: exact;
        }
        actions = {
            other;
            @defaultonly NoAction;
        }
        default_action = NoAction();
    }

    table unkeyed {
        actions = {
            set;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        hdr.answer.setValid();
        hdr.answer.value = 0;
        hdr.answer.hit = 0;
        hdr.answer.ran = 0;
        if (hdr.frame.low == 15) {
            if (hit_or_miss.apply().hit) {
                hdr.answer.hit = 1;
            } else {
                standard.egress_spec = 6;
            }
        } else {
            switch (keyed.apply().action_run) {
                set: {
                    hdr.answer.ran = 1;
                }
                other: {
                    hdr.answer.ran = 2;
                }
                default: {
                    hdr.answer.ran = 3;
                }
            }
        }
        unkeyed.apply();
    }
}

#include "stages.p4i"

V1Switch(ExactParser(), NoVerify(), ExactIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
