// Longest prefix match on 32 and 128 bits, alone and together with an exact key.

#include <core.p4>
#include <v1model.p4>

header addresses_t {
    bit<8>   instance;
    bit<32>  four;
    bit<128> six;
}

header answer_t {
    bit<8> four;
    bit<8> six;
}

struct headers_t {
    addresses_t addresses;
    answer_t    answer;
}

struct metadata_t {}

parser LpmParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.addresses);
        transition accept;
    }
}

control LpmIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set_four(bit<8> value) {
        hdr.answer.four = value;
    }

    action set_six(bit<8> value) {
        hdr.answer.six = value;
    }

    table routes {
        key = {
            hdr.addresses.instance: exact;
            hdr.addresses.four: lpm;
        }
        actions = {
            set_four;
        }
        default_action = set_four(0);
    }

    table routes_six {
        key = {
            hdr.addresses.six: lpm;
        }
        actions = {
            set_six;
        }
        default_action = set_six(0);
    }

    apply {
        hdr.answer.setValid();
        routes.apply();
        routes_six.apply();
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(LpmParser(), NoVerify(), LpmIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
