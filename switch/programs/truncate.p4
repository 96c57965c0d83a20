// truncate: the packet that leaves has at most that many bytes, whether they are headers or payload.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  operation;
    bit<16> length;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser TruncateParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control TruncateIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.request.operation[0:0] == 1) {
            truncate((bit<32>)hdr.request.length);
        }
        standard.egress_spec = 1;
    }
}

control TruncateEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.request.operation[1:1] == 1) {
            truncate(5);
        }
    }
}

#include "stages.p4i"

V1Switch(TruncateParser(), NoVerify(), TruncateIngress(), TruncateEgress(), NoUpdate(), EmitAll()) main;
