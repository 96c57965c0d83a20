// lookahead of a field and of a header, and advance: the parser sees bits that it hasn't extracted, or never extracts.

#include <core.p4>
#include <v1model.p4>

header tag_t {
    bit<4>  kind;
    bit<12> length;
}

header body_t {
    bit<16> first;
}

header answer_t {
    bit<4>  kind;
    bit<12> length;
    bit<16> skipped;
    bit<16> next_first;
}

struct headers_t {
    answer_t answer;
    body_t   body;
}

struct metadata_t {
    bit<4>  kind;
    bit<12> length;
    bit<16> skipped;
    bit<16> next_first;
}

parser LookaheadParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        meta.kind = packet.lookahead<bit<4>>();
        transition select(packet.lookahead<bit<4>>()) {
            1: look_at_header;
            2: skip;
            3: skip_variable;
            default: accept;
        }
    }

    state look_at_header {
        tag_t tag = packet.lookahead<tag_t>();
        meta.length = tag.length;
        packet.extract(hdr.body);
        transition accept;
    }

    state skip {
        packet.advance(16);
        meta.skipped = 2;
        packet.extract(hdr.body);
        transition accept;
    }

    // The tag's length says how many bytes follow it before the body.
    state skip_variable {
        tag_t tag = packet.lookahead<tag_t>();
        packet.advance(16);
        packet.advance((bit<32>)tag.length << 3);
        meta.skipped = (bit<16>)tag.length + 2;
        meta.next_first = packet.lookahead<bit<16>>();
        packet.extract(hdr.body);
        transition accept;
    }
}

control LookaheadIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.kind = meta.kind;
        hdr.answer.length = meta.length;
        hdr.answer.skipped = meta.skipped;
        hdr.answer.next_first = meta.next_first;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(LookaheadParser(), NoVerify(), LookaheadIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
