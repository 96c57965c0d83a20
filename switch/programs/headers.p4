// Headers as values: copied, compared, exchanged, emitted in the deparser's order; metadata begins as zero, also structs and enums.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8> operation;
}

header pair_t {
    bit<8>  left;
    bit<8>  right;
}

struct inner_t {
    bit<4> four;
    bool   flag;
}

enum bit<8> colour_t {
    RED = 3,
    GREEN = 7
}

header answer_t {
    bit<8>   equal;
    bit<8>   zero;
    colour_t colour;
}

struct headers_t {
    request_t request;
    pair_t    first;
    pair_t    second;
    pair_t    third;
    answer_t  answer;
}

struct metadata_t {
    inner_t  inner;
    bit<64>  wide;
    colour_t colour;
    bit<8>   last;
}

parser HeadersParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        packet.extract(hdr.first);
        packet.extract(hdr.second);
        transition accept;
    }
}

control HeadersIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.zero = 0;
        if (meta.inner.four == 0 && !meta.inner.flag && meta.wide == 0 && meta.last == 0) {
            hdr.answer.zero = 1;
        }
        meta.inner = { 5, true };
        meta.wide = 0xffffffffffffffff;
        meta.last = 9;
        meta.colour = colour_t.GREEN;
        if (hdr.request.operation == 1) {
            hdr.third = hdr.first;
        } else if (hdr.request.operation == 2) {
            pair_t exchanged = hdr.first;
            hdr.first = hdr.second;
            hdr.second = exchanged;
        } else if (hdr.request.operation == 3) {
            // A header that isn't valid makes its copy not valid either.
            hdr.first = hdr.third;
        } else if (hdr.request.operation == 4) {
            hdr.third = { 0x44, 0x55 };
            hdr.first.setInvalid();
        } else if (hdr.request.operation == 5) {
            hdr.first.setInvalid();
            hdr.second.setInvalid();
        } else if (hdr.request.operation == 6) {
            hdr.first.setInvalid();
            hdr.first.setValid();
            hdr.first.left = 1;
            hdr.first.right = 2;
        } else if (hdr.request.operation == 7 && meta.inner.flag) {
            hdr.first.left = (bit<8>)meta.inner.four;
            meta.colour = colour_t.RED;
        }
        hdr.answer.equal = 0;
        if (hdr.first == hdr.second) {
            hdr.answer.equal = 1;
        }
        hdr.answer.colour = meta.colour;
        standard.egress_spec = 1;
    }
}

control HeadersDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.answer);
        packet.emit(hdr.third);
        packet.emit(hdr.request);
        packet.emit(hdr.second);
        packet.emit(hdr.first);
    }
}

#include "stages.p4i"

V1Switch(HeadersParser(), NoVerify(), HeadersIngress(), NoEgress(), NoUpdate(), HeadersDeparser()) main;
