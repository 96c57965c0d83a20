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
        meta.flow.vlan = hdr.vlan.vid;
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
        meta.flow.flags_or_type = 9w0x100 ++ hdr.tcp.flags;
        meta.connection.segment = 536;      // RFC 9293 section 3.7.1
        transition select(hdr.tcp.flags & 0x07) {
            0: accept;
            default: parse_opening_or_closing;
        }
    }

    // SYN, FIN and RST: their checksum is verified. Over IPv6 the length isn't asked for.
    state parse_opening_or_closing {
        meta.connection.bytes = hdr.ipv4.total_length - ((bit<16>)hdr.ipv4.ihl << 2);
        transition select(hdr.tcp.flags & 0x02) {
            0: accept;
            default: options_0;
        }
    }

    // The options of a SYN that say what its sender takes. A parser can't skip what it doesn't extract, so it looks ahead
    // by words, in the layouts that TCP stacks send: maximum segment size (2) first, then window scale (3) at the start
    // of a word, or after one NOP (1), or after SACK permitted (4) alone or with timestamps (8).
    #define OPTIONS(WORD, LATER, MORE) \
    state options_##WORD { \
        bit<32> word = packet.lookahead<bit<(32 * WORD + 32)>>()[31:0]; \
        transition select(hdr.tcp.data_offset, word) { \
            (0 .. (5 + WORD), _): accept; \
            (_, 0x02040000 &&& 0xffff0000): segment_##WORD; \
            (_, 0x03030000 &&& 0xffff0000): scale_##WORD; \
            (_, 0x01030300 &&& 0xffffff00): scale_after_nop_##WORD; \
            (_, 0x04020303): scale_after_sack_##WORD; \
            (_, 0x0402080a): MORE; \
            (_, 0x0101080a): MORE; \
            (_, 0x04020101): LATER; \
            (_, 0x01010402): LATER; \
            (_, 0x01010101): LATER; \
            default: accept; \
        } \
    } \
    state segment_##WORD { \
        meta.connection.segment = packet.lookahead<bit<(32 * WORD + 32)>>()[15:0]; \
        transition LATER; \
    } \
    state scale_##WORD { \
        meta.connection.scale = 0x80 | packet.lookahead<bit<(32 * WORD + 24)>>()[7:0]; \
        transition accept; \
    } \
    state scale_after_nop_##WORD { \
        meta.connection.scale = 0x80 | packet.lookahead<bit<(32 * WORD + 32)>>()[7:0]; \
        transition accept; \
    } \
    state scale_after_sack_##WORD { \
        meta.connection.scale = 0x80 | packet.lookahead<bit<(32 * WORD + 40)>>()[7:0]; \
        transition accept; \
    }

    OPTIONS(0, options_1, options_3)
    OPTIONS(1, options_2, options_4)
    OPTIONS(2, options_3, accept)
    OPTIONS(3, options_4, accept)
    OPTIONS(4, accept, accept)

    state parse_udp {
        packet.extract(hdr.udp);
        meta.flow.source_port = hdr.udp.source_port;
        meta.flow.destination_port = hdr.udp.destination_port;
        transition accept;
    }

    state parse_icmp {
        packet.extract(hdr.icmp);
        meta.flow.flags_or_type = 1w1 ++ hdr.icmp.type ++ hdr.icmp.code;
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
        // Of what opens or closes a TCP connection; see segment.p4. RFC 9293 section 3.1 has the pseudo-headers.
        verify_checksum_with_payload(hdr.ipv4.isValid() && hdr.tcp.isValid() && hdr.tcp.flags & 0x07 != 0,
            { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, meta.connection.bytes,
              hdr.tcp.source_port, hdr.tcp.destination_port, hdr.tcp.sequence, hdr.tcp.acknowledgement,
              hdr.tcp.data_offset, hdr.tcp.reserved, hdr.tcp.flags, hdr.tcp.window, hdr.tcp.urgent },
            hdr.tcp.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.ipv6.isValid() && hdr.tcp.isValid() && hdr.tcp.flags & 0x07 != 0,
            { hdr.ipv6.source, hdr.ipv6.destination, 16w0, hdr.ipv6.payload_length, 24w0, hdr.ipv6.next_header,
              hdr.tcp.source_port, hdr.tcp.destination_port, hdr.tcp.sequence, hdr.tcp.acknowledgement,
              hdr.tcp.data_offset, hdr.tcp.reserved, hdr.tcp.flags, hdr.tcp.window, hdr.tcp.urgent },
            hdr.tcp.checksum, HashAlgorithm.csum16);
    }
}

#endif
