// varbit: IPv4 options of the length that the header says, compared with each other, and lengths that can't be.

#include <core.p4>
#include <v1model.p4>

header ipv4_t {
    bit<4>  version;
    bit<4>  header_words;
    bit<8>  service;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  time_to_live;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header options_t {
    varbit<320> bytes;
}

header answer_t {
    bit<8> error_seen;
    bit<8> options_valid;
    bit<8> options_equal;
}

struct headers_t {
    answer_t  answer;
    ipv4_t    ipv4;
    options_t options;
    options_t again;
}

struct metadata_t {}

error {
    HeaderLengthBelowFive
}

parser VarbitParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.header_words >= 5, error.HeaderLengthBelowFive);
        transition select(hdr.ipv4.header_words) {
            5: accept;
            default: options;
        }
    }

    state options {
        packet.extract(hdr.options, (bit<32>)(((bit<9>)hdr.ipv4.header_words - 5) << 5));
        transition select(hdr.ipv4.protocol) {
            0xff: options_again;
            default: accept;
        }
    }

    state options_again {
        packet.extract(hdr.again, (bit<32>)hdr.ipv4.service << 3);
        transition accept;
    }
}

control VarbitIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.error_seen = standard.parser_error == error.NoError ? 8w0 : 8w1;
        if (standard.parser_error == error.HeaderLengthBelowFive) {
            hdr.answer.error_seen = 2;
        } else if (standard.parser_error == error.PacketTooShort) {
            hdr.answer.error_seen = 3;
        } else if (standard.parser_error == error.HeaderTooShort) {
            hdr.answer.error_seen = 4;
        }
        if (hdr.options.isValid()) {
            hdr.answer.options_valid = 1;
        } else {
            hdr.answer.options_valid = 0;
        }
        if (hdr.options == hdr.again) {
            hdr.answer.options_equal = 1;
        } else {
            hdr.answer.options_equal = 0;
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(VarbitParser(), NoVerify(), VarbitIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
