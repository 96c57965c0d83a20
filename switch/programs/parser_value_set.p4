// A value set: select on values that only the control plane knows; without any, nothing is in it.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> kind;
}

header answer_t {
    bit<8> in_set;
}

struct headers_t {
    answer_t answer;
    frame_t  frame;
}

struct metadata_t {
    bit<8> in_set;
}

parser SetParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) kinds;

    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.kind) {
            kinds: found;
            default: accept;
        }
    }

    state found {
        meta.in_set = 1;
        transition accept;
    }
}

control SetIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.in_set = meta.in_set;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(SetParser(), NoVerify(), SetIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
