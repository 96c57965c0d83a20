// assert and assume that hold, and messages for the log: none of them changes a packet.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  kind;
    bit<32> value;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser ChecksParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control ChecksIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        assert(hdr.request.isValid());
        assume(hdr.request.kind != 0xff || hdr.request.value == 0);
        log_msg("a packet");
        log_msg("kind {}, value {}", { hdr.request.kind, hdr.request.value });
        assert(standard.ingress_port == 0);
        hdr.request.value = hdr.request.value + 1;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ChecksParser(), NoVerify(), ChecksIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
