// hash with HashAlgorithm.random: a value in the range that base and maximum give.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<16> base;
    bit<16> maximum;
}

header answer_t {
    bit<8> in_range;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {}

parser HashParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control HashIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        bit<32> value;
        bit<32> base = (bit<32>)hdr.request.base;
        hash(value, HashAlgorithm.random, hdr.request.base, { hdr.request.base }, hdr.request.maximum);
        hdr.answer.setValid();
        hdr.answer.in_range = 0;
        if (value >= base && value < base + (bit<32>)hdr.request.maximum) {
            hdr.answer.in_range = 1;
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(HashParser(), NoVerify(), HashIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
