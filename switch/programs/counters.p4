// Indirect and direct counters of packets, of bytes and of both, in ingress and in egress; an index beyond the end counts nothing.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<8> kind;
    bit<8> index;
}

struct headers_t {
    frame_t frame;
}

struct metadata_t {}

parser CountersParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control CountersIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(4, CounterType.packets_and_bytes) both;
    counter(4, CounterType.packets) of_packets;
    counter(4, CounterType.bytes) of_bytes;
    direct_counter(CounterType.packets_and_bytes) per_entry;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action forward_and_count(bit<9> port) {
        per_entry.count();
        standard.egress_spec = port;
    }

    table kinds {
        key = {
            hdr.frame.kind: exact;
        }
        actions = {
            forward_and_count;
            forward;
            NoAction;
        }
        counters = per_entry;
        default_action = NoAction();
    }

    apply {
        both.count((bit<32>)hdr.frame.index);
        of_packets.count((bit<32>)hdr.frame.index);
        of_bytes.count((bit<32>)hdr.frame.index);
        standard.egress_spec = 9;
        kinds.apply();
    }
}

control CountersEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(16, CounterType.packets_and_bytes) per_port;

    apply {
        per_port.count((bit<32>)standard.egress_port);
    }
}

#include "stages.p4i"

V1Switch(CountersParser(), NoVerify(), CountersIngress(), CountersEgress(), NoUpdate(), EmitAll()) main;
