// A table whose actions come from an action profile, and one whose members a selector chooses by a hash.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<8>  kind;
    bit<16> flow;
}

header answer_t {
    bit<8> value;
}

struct headers_t {
    frame_t  frame;
    answer_t answer;
}

struct metadata_t {}

parser ProfileParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control ProfileIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set(bit<8> value) {
        hdr.answer.setValid();
        hdr.answer.value = value;
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    @name("profile")
    action_profile(8) profile;

    @name("members")
    action_selector(HashAlgorithm.crc16, 16, 8) members;

    table shared {
        key = {
            hdr.frame.kind: exact;
        }
        actions = {
            set;
            NoAction;
        }
        implementation = profile;
        default_action = NoAction();
    }

    table balanced {
        key = {
            hdr.frame.kind: exact;
            hdr.frame.flow: selector;
        }
        actions = {
            forward;
            NoAction;
        }
        implementation = members;
        default_action = NoAction();
    }

    apply {
        standard.egress_spec = 1;
        shared.apply();
        balanced.apply();
    }
}

#include "stages.p4i"

V1Switch(ProfileParser(), NoVerify(), ProfileIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
