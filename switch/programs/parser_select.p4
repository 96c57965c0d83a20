// select: exact values, masks, ranges, tuples of keys and the default.

#include <core.p4>
#include <v1model.p4>

header kind_t {
    bit<16> kind;
    bit<8>  minor;
}

header answer_t {
    bit<8> branch;
}

struct headers_t {
    kind_t   kind;
    answer_t answer;
}

struct metadata_t {
    bit<8> branch;
}

parser SelectParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind, hdr.kind.minor) {
            (0x0001, 0x01): exact_pair;
            (0x0001, _): exact_first;
            (0x0100 &&& 0xff00, _): masked;
            (0x0200 .. 0x02fe, 0x10 .. 0x1f): in_range;
            (0x8000 &&& 0x8000, 0x00 &&& 0x01): masked_pair;
            default: otherwise;
        }
    }

    state exact_pair {
        meta.branch = 1;
        transition accept;
    }

    state exact_first {
        meta.branch = 2;
        transition accept;
    }

    state masked {
        meta.branch = 3;
        transition accept;
    }

    state in_range {
        meta.branch = 4;
        transition accept;
    }

    state masked_pair {
        meta.branch = 5;
        transition accept;
    }

    state otherwise {
        meta.branch = 6;
        transition select(standard.ingress_port) {
            7: from_seven;
            default: accept;
        }
    }

    state from_seven {
        meta.branch = 7;
        transition accept;
    }
}

control SelectIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.branch = meta.branch;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(SelectParser(), NoVerify(), SelectIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
