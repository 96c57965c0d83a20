// What the server's tests load: every match kind, direct and indirect externs, and packet-in/packet-out headers, in one
// program small enough to read.
#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> padding;
}

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  header_length;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
}

struct metadata_t {
    bit<8> traffic_class;
}

const bit<9> CPU_PORT = 510;
const bit<16> TYPE_IPV4 = 0x0800;

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }
    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control RouterVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control RouterIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) class_traffic;
    register<bit<32>>(16) last_length;
    meter(4, MeterType.bytes) class_meter;
    direct_counter(CounterType.packets_and_bytes) route_traffic;

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action route(bit<9> port, bit<48> source_mac, bit<48> destination_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source_mac;
        hdr.ethernet.destination = destination_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl |-| 1;
    }

    action to_controller(bit<7> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in.reason = reason;
    }

    action set_class(bit<8> traffic_class) {
        meta.traffic_class = traffic_class;
        standard_metadata.priority = (bit<3>)traffic_class;
    }

    table cross_connect {
        key = { standard_metadata.ingress_port : exact @name("ingress_port"); }
        actions = { forward; to_controller; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    table classify {
        key = {
            hdr.ipv4.source : range @name("source");
            hdr.ipv4.tos : ternary @name("tos");
            hdr.ipv4.protocol : optional @name("protocol");
        }
        actions = { set_class; drop; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    table ipv4_route {
        key = { hdr.ipv4.destination : lpm @name("destination"); }
        actions = { route; drop; to_controller; @defaultonly NoAction; }
        default_action = NoAction();
        counters = route_traffic;
        size = 1024;
    }

    table fixed {
        key = { hdr.ethernet.type : exact @name("type"); }
        actions = { NoAction; }
        const entries = { 0x88b5 : NoAction(); }
        const default_action = NoAction();
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            mark_to_drop(standard_metadata);
            fixed.apply();
            cross_connect.apply();
            if (hdr.ipv4.isValid()) {
                classify.apply();
                ipv4_route.apply();
                last_length.write((bit<32>)meta.traffic_class & 15, (bit<32>)hdr.ipv4.total_length);
            }
            class_traffic.count((bit<32>)meta.traffic_class & 7);
            bit<2> colour;
            class_meter.execute_meter((bit<32>)meta.traffic_class & 3, colour);
        }
    }
}

control RouterEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control RouterComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.header_length, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.identification,
              hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source,
              hdr.ipv4.destination },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16);
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(RouterParser(), RouterVerifyChecksum(), RouterIngress(), RouterEgress(), RouterComputeChecksum(),
         RouterDeparser()) main;
