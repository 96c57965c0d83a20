// hash with every HashAlgorithm of v1model that needs no parameters, base and maximum.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  algorithm;
    bit<16> base;
    bit<16> maximum;
    bit<16> first;
    bit<32> second;
    bit<7>  third;
    bit<1>  fourth;
}

header answer_t {
    bit<32> value;
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

#define DATA { hdr.request.first, hdr.request.second, hdr.request.third, hdr.request.fourth }

control HashIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.value = 0;
        if (hdr.request.algorithm == 0) {
            hash(hdr.answer.value, HashAlgorithm.crc32, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 1) {
            hash(hdr.answer.value, HashAlgorithm.crc16, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 2) {
            hash(hdr.answer.value, HashAlgorithm.identity, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 3) {
            hash(hdr.answer.value, HashAlgorithm.csum16, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 4) {
            hash(hdr.answer.value, HashAlgorithm.xor16, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 5) {
            hash(hdr.answer.value, HashAlgorithm.crc32, 32w0, DATA, 64w0x100000000);
        } else if (hdr.request.algorithm == 6) {
            hash(hdr.answer.value, HashAlgorithm.crc32_custom, hdr.request.base, DATA, hdr.request.maximum);
        } else if (hdr.request.algorithm == 7) {
            hash(hdr.answer.value, HashAlgorithm.crc16_custom, hdr.request.base, DATA, hdr.request.maximum);
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(HashParser(), NoVerify(), HashIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
