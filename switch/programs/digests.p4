// digest: a record for the control plane with the values of the moment of the call, of several calls the last one; the
// packet goes its way.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<48> source;
    bit<9>  nine;
    bit<7>  seven;
}

struct headers_t {
    frame_t frame;
}

struct metadata_t {}

struct learned_t {
    bit<48> source;
    bit<9>  port;
    bit<9>  nine;
}

struct noted_t {
    bit<7> seven;
}

parser DigestsParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control DigestsIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        digest<learned_t>(1, { hdr.frame.source, standard.ingress_port, hdr.frame.nine });
        hdr.frame.nine = 0x1ff;
        if (hdr.frame.seven == 0x7f) {
            digest<noted_t>(1, { hdr.frame.seven });
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(DigestsParser(), NoVerify(), DigestsIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
