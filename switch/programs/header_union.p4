// A header union: at most one of its headers is valid, whether the parser or an assignment made it so.

#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> kind;
    bit<8> operation;
}

header short_t {
    bit<8> value;
}

header long_t {
    bit<16> first;
    bit<16> second;
}

header_union either_t {
    short_t short;
    long_t  long;
}

header answer_t {
    bit<8> short_valid;
    bit<8> long_valid;
}

struct headers_t {
    command_t command;
    answer_t  answer;
    either_t  either;
}

struct metadata_t {}

parser UnionParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.command);
        transition select(hdr.command.kind) {
            1: short;
            2: long;
            default: accept;
        }
    }

    state short {
        packet.extract(hdr.either.short);
        transition accept;
    }

    state long {
        packet.extract(hdr.either.long);
        transition accept;
    }
}

control UnionIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.command.operation == 1) {
            hdr.either.short.setValid();
            hdr.either.short.value = 0xaa;
        } else if (hdr.command.operation == 2) {
            hdr.either.long.setValid();
            hdr.either.long.first = 0xbbbb;
            hdr.either.long.second = 0xcccc;
        } else if (hdr.command.operation == 3) {
            hdr.either.short.setInvalid();
        } else if (hdr.command.operation == 4 && hdr.either.long.isValid()) {
            hdr.either.long.first = hdr.either.long.second;
        }
        hdr.answer.setValid();
        hdr.answer.short_valid = 0;
        hdr.answer.long_valid = 0;
        if (hdr.either.short.isValid()) {
            hdr.answer.short_valid = 1;
        }
        if (hdr.either.long.isValid()) {
            hdr.answer.long_valid = 1;
        }
        standard.egress_spec = 1;
    }
}

control UnionDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.command);
        packet.emit(hdr.answer);
        packet.emit(hdr.either);
    }
}

#include "stages.p4i"

V1Switch(UnionParser(), NoVerify(), UnionIngress(), NoEgress(), NoUpdate(), UnionDeparser()) main;
