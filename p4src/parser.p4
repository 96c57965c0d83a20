/*
 * Ethernet, one 802.1Q tag, IPv4 with options, IPv6, TCP, UDP, ICMP.
 *
 * Anything else, later fragments and truncated packets are legal: parsing stops, the headers seen so far stay valid,
 * ports read as 0.
 */
#ifndef PHB_PARSER_P4
#define PHB_PARSER_P4

#include "headers.p4"

parser PhbParser(packet_in packet,
                 out headers_t hdr,
                 inout metadata_t meta,
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
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_VLAN: parse_vlan;
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_vlan {
        packet.extract(hdr.vlan);
        meta.flow.pcp = hdr.vlan.pcp;
        transition select(hdr.vlan.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        meta.flow.tos = hdr.ipv4.tos;
        meta.flow.protocol = hdr.ipv4.protocol;
        transition select(hdr.ipv4.ihl) {
            0 .. 4: accept;      // no such header; forward.p4 drops it
            5: parse_ipv4_payload;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition parse_ipv4_payload;
    }

    state parse_ipv4_payload {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP): parse_tcp;
            (0, PROTOCOL_UDP): parse_udp;
            (0, PROTOCOL_ICMP): parse_icmp;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        meta.flow.tos = hdr.ipv6.traffic_class;
        meta.flow.protocol = hdr.ipv6.next_header;
        // Extension headers are not walked: such a packet is classified by its addresses and first next header.
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: parse_tcp;
            PROTOCOL_UDP: parse_udp;
            PROTOCOL_ICMPV6: parse_icmp;
            default: accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        meta.flow.source_port = hdr.tcp.source_port;
        meta.flow.destination_port = hdr.tcp.destination_port;
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        meta.flow.source_port = hdr.udp.source_port;
        meta.flow.destination_port = hdr.udp.destination_port;
        transition accept;
    }

    state parse_icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
}

control PhbVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination,
              hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
