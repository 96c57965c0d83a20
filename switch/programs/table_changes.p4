// What the control plane may change while packets pass: entries removed and added again, default actions.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> kind;
}

header answer_t {
    bit<8> value;
}

struct headers_t {
    frame_t  frame;
    answer_t answer;
}

struct metadata_t {}

parser ChangesParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control ChangesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set(bit<8> value) {
        hdr.answer.setValid();
        hdr.answer.value = value;
        standard.egress_spec = 1;
    }

    table changing {
        key = {
            hdr.frame.kind: ternary;
        }
        actions = {
            set;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        standard.egress_spec = 2;
        changing.apply();
    }
}

#include "stages.p4i"

V1Switch(ChangesParser(), NoVerify(), ChangesIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
