// A register that the control plane writes, reads and clears between packets.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  index;
    bit<32> value;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser ControlParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control ControlIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(8) cells;

    apply {
        bit<32> value;
        cells.read(value, (bit<32>)hdr.request.index);
        cells.write((bit<32>)hdr.request.index, value + 1);
        hdr.request.value = value;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ControlParser(), NoVerify(), ControlIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
