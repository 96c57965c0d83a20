/* Booleans in headers, in stacks, in metadata and as keys. */
#include <core.p4>
#include <v1model.p4>

header flags_t {
    bool   first;
    bool   second;
    int<6> number;
}

struct inner_t {
    bool   kept;
    bit<3> count;
}

struct headers_t {
    flags_t    flags;
    flags_t[2] more;
}

struct metadata_t {
    inner_t inner;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.flags);
        meta.inner.kept = hdr.flags.second;
        transition select(hdr.flags.first) {
            true: more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.more.next);
        packet.extract(hdr.more.next);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set(bit<1> second, bit<1> first_of_more) {
        hdr.flags.second = second == 1;
        hdr.more[0].first = (bool)first_of_more;
    }

    table by_flags {
        key = { hdr.flags.first: exact; meta.inner.kept: ternary; }
        actions = { set; NoAction; }
        default_action = NoAction;
    }

    apply {
        standard.egress_spec = 1;
        by_flags.apply();
        if (hdr.flags.number < 0 && !meta.inner.kept) {
            hdr.flags.first = !hdr.flags.first;
        }
        hdr.more[1].second = hdr.more[0].first == hdr.flags.second || hdr.more[1].first;
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.flags);
        packet.emit(hdr.more);
    }
}

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
