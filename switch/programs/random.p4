// random: every value lies in its range, ends included; a range of one value gives that value.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<16> low;
    bit<16> high;
}

header answer_t {
    bit<8> in_range;
    bit<8> one_bit_seen;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {}

parser RandomParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control RandomIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        bit<16> value;
        bit<1> bit_value;
        random(value, hdr.request.low, hdr.request.high);
        random(bit_value, 1w1, 1w1);
        hdr.answer.setValid();
        hdr.answer.in_range = 0;
        if (value >= hdr.request.low && value <= hdr.request.high) {
            hdr.answer.in_range = 1;
        }
        hdr.answer.one_bit_seen = (bit<8>)bit_value;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(RandomParser(), NoVerify(), RandomIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
