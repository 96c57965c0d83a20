// Meters of packets and of bytes, indirect and direct, with two rates and three colours (RFC 2698); unconfigured, all is green.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<8> kind;
    bit<8> index;
}

header answer_t {
    bit<8> packet_colour;
    bit<8> byte_colour;
    bit<8> entry_colour;
}

struct headers_t {
    frame_t  frame;
    answer_t answer;
}

struct metadata_t {
    bit<8> entry_colour;
}

parser MetersParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control MetersIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    meter(4, MeterType.packets) of_packets;
    meter(4, MeterType.bytes) of_bytes;
    direct_meter<bit<8>>(MeterType.packets) per_entry;

    action known() {
        per_entry.read(meta.entry_colour);
    }

    table kinds {
        key = {
            hdr.frame.kind: exact;
        }
        actions = {
            known;
            NoAction;
        }
        meters = per_entry;
        default_action = NoAction();
    }

    apply {
        meta.entry_colour = 0x77;
        kinds.apply();
        hdr.answer.setValid();
        of_packets.execute_meter((bit<32>)hdr.frame.index, hdr.answer.packet_colour);
        of_bytes.execute_meter((bit<32>)hdr.frame.index, hdr.answer.byte_colour);
        hdr.answer.entry_colour = meta.entry_colour;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(MetersParser(), NoVerify(), MetersIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
