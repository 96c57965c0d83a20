// Parser errors: those of core.p4 and the program's own by verify; ingress runs all the same and may tell them apart.

#include <core.p4>
#include <v1model.p4>

error {
    OddLength,
    Forbidden
}

header first_t {
    bit<8> kind;
    bit<8> length;
}

header second_t {
    bit<32> value;
}

header answer_t {
    bit<8> code;
    bit<8> second_valid;
}

struct headers_t {
    answer_t answer;
    first_t  first;
    second_t second;
}

struct metadata_t {}

parser ErrorParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.first);
        verify(hdr.first.length[0:0] == 0, error.OddLength);
        verify(hdr.first.kind != 9, error.Forbidden);
        transition select(hdr.first.kind) {
            1: second;
            2: reject;
            9: second;
            3 .. 5: accept;
        }
    }

    state second {
        packet.extract(hdr.second);
        transition accept;
    }
}

control ErrorIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.second_valid = 0;
        if (standard.parser_error == error.NoError) {
            hdr.answer.code = 0;
        } else if (standard.parser_error == error.PacketTooShort) {
            hdr.answer.code = 1;
        } else if (standard.parser_error == error.NoMatch) {
            hdr.answer.code = 2;
        } else if (standard.parser_error == error.OddLength) {
            hdr.answer.code = 3;
        } else if (standard.parser_error == error.Forbidden) {
            hdr.answer.code = 4;
        } else {
            hdr.answer.code = 5;
        }
        if (hdr.second.isValid()) {
            hdr.answer.second_valid = 1;
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ErrorParser(), NoVerify(), ErrorIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
