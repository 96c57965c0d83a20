// Queueing metadata in egress: on an idle port nobody waits, so that depth and waiting time are 0 whatever the priority.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8> priority;
}

header answer_t {
    bit<32> enq_depth;
    bit<32> deq_depth;
    bit<8>  priority;
    bit<8>  port_in;
    bit<8>  port_out;
    bit<32> length;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {}

parser QueueingParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control QueueingIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.priority = (bit<3>)hdr.request.priority;
        standard.egress_spec = standard.ingress_port;
    }
}

control QueueingEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.enq_depth = (bit<32>)standard.enq_qdepth;
        hdr.answer.deq_depth = (bit<32>)standard.deq_qdepth;
        hdr.answer.priority = (bit<8>)standard.priority;
        hdr.answer.port_in = (bit<8>)standard.ingress_port;
        hdr.answer.port_out = (bit<8>)standard.egress_port;
        hdr.answer.length = standard.packet_length;
    }
}

#include "stages.p4i"

V1Switch(QueueingParser(), NoVerify(), QueueingIngress(), QueueingEgress(), NoUpdate(), EmitAll()) main;
