/*
 * Whether a receiver would take a TCP segment for one: whole, and with the checksum that it should have.
 *
 * The checksum of a SYN, a FIN or a RST is verified (parser.p4), because these three open and close connections: whoever
 * lets the node see one that the receiver throws away makes it miscount. Other segments say nothing but numbers that have
 * to fit (connection.p4), so their payload isn't summed up.
 *
 * What stands behind the datagram in its frame is in that sum, too. Padding of zeros (RFC 1042, RFC 894) adds nothing to
 * it, but other padding can make a right checksum look wrong, or a wrong one right. So behind a bare header, which is what
 * is padded on Ethernet, the sum is made anew without it. Of others nobody knows: such a SYN opens, so that nobody goes
 * round a limit by a frame that is too long, and nothing of the kind closes. The same holds for first fragments.
 */
#ifndef PHB_SEGMENT_P4
#define PHB_SEGMENT_P4

#include "headers.p4"

const bit<8> TCP_FIN = 0x01;
const bit<8> TCP_SYN = 0x02;
const bit<8> TCP_RST = 0x04;
const bit<8> TCP_ACK = 0x10;

const bit<3> IPV4_MORE_FRAGMENTS = 1;

// What checksum_error is of: forward drops what has a damaged IPv4 header, and routers don't look at TCP's checksum.
control DamagedSegment(in headers_t hdr,
                       inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {

    apply {
        bit<16> sum = 0;
        bit<16> said = 0;
        if (hdr.ipv4.isValid()) {
            said = hdr.ipv4.checksum;
            hash(sum, HashAlgorithm.csum16, 16w0,
                 { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length,
                   hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset,
                   hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination },
                 32w0x10000);
            // Only where there are options: p4c copies them for the hash, and bmv2 divides by their length (SIGFPE) where
            // the header isn't there but an earlier packet's was.
            if (hdr.ipv4_options.isValid()) {
                hash(sum, HashAlgorithm.csum16, 16w0, { ~sum, hdr.ipv4_options.options }, 32w0x10000);
            }
        }
        if (sum == said) {
            meta.connection.damaged = true;
            standard_metadata.checksum_error = 0;
        }
    }
}

// sound: a receiver would look at its numbers. certain: the checksum of a SYN, FIN or RST is known to be right.
// length: what it takes of the sequence numbers (RFC 9293 section 3.4).
control Segment(in headers_t hdr,
                in metadata_t meta,
                in standard_metadata_t standard_metadata,
                out bool sound,
                out bool certain,
                out bit<32> length) {

    apply {
        bit<32> carried = standard_metadata.packet_length - ETHERNET_BYTES;
        if (hdr.vlan.isValid()) {
            carried = carried - VLAN_BYTES;
        }
        bit<32> said;
        bit<32> headers = (bit<32>)hdr.tcp.data_offset << 2;
        if (hdr.ipv4.isValid()) {
            said = (bit<32>)hdr.ipv4.total_length;
            headers = headers + ((bit<32>)hdr.ipv4.ihl << 2);
        } else {
            said = (bit<32>)hdr.ipv6.payload_length + IPV6_BYTES;
            headers = headers + IPV6_BYTES;
        }
        bool whole = hdr.tcp.data_offset >= 5 && headers <= said && said <= carried;
        length = said - headers + (bit<32>)hdr.tcp.flags[1:1] + (bit<32>)hdr.tcp.flags[0:0];
        sound = whole && !meta.connection.damaged;
        certain = true;
        if (hdr.ipv4.isValid() && hdr.ipv4.flags & IPV4_MORE_FRAGMENTS != 0) {
            // The rest of it comes in other fragments: as much as a datagram may have.
            length = 0xffff;
            sound = whole;
            certain = false;
        } else if (hdr.tcp.flags & (TCP_FIN | TCP_SYN | TCP_RST) != 0 && said < carried) {
            if (hdr.ipv4.isValid() && hdr.tcp.data_offset == 5 && said == headers) {
                bit<16> sum;
                hash(sum, HashAlgorithm.csum16, 16w0,
                     { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, 16w20,
                       hdr.tcp.source_port, hdr.tcp.destination_port, hdr.tcp.sequence, hdr.tcp.acknowledgement,
                       hdr.tcp.data_offset, hdr.tcp.reserved, hdr.tcp.flags, hdr.tcp.window, hdr.tcp.urgent },
                     32w0x10000);
                sound = whole && sum == hdr.tcp.checksum;
            } else {
                sound = whole;
                certain = false;
            }
        }
    }
}

#endif
