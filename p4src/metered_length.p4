/*
 * The bytes of a packet that a meter counts: those of the Ethernet frame, or of the IP datagram in it, which has no tag and
 * no padding (RFC 2697 section 2, RFC 2698 section 2; bursts of RFC 4115 section 2).
 *
 * No header makes a datagram longer than what the frame carries: else a truncated packet could empty a bucket. What has no
 * length of its own counts all that the frame carries: other protocols, IPv4 whose length has no room for a header, and
 * jumbograms, whose length is an option (RFC 2675 section 3).
 *
 * Part of stage police, for packets that have a meter.
 */
#ifndef PHB_METERED_LENGTH_P4
#define PHB_METERED_LENGTH_P4

#include "headers.p4"

control MeteredLength(in headers_t hdr, in bit<32> frame_length, in bit<1> datagram, out bit<32> length) {

    apply {
        length = frame_length;
        if (datagram == 1) {
            length = length - ETHERNET_BYTES;
            if (hdr.vlan.isValid()) {
                length = length - VLAN_BYTES;
            }
            bit<32> said = length;
            if (hdr.ipv4.isValid() && hdr.ipv4.total_length >= IPV4_BYTES) {
                said = (bit<32>)hdr.ipv4.total_length;
            } else if (hdr.ipv6.isValid()
                       && (hdr.ipv6.payload_length != 0 || hdr.ipv6.next_header != PROTOCOL_HOPOPT)) {
                said = (bit<32>)hdr.ipv6.payload_length + IPV6_BYTES;
            }
            if (said < length) {
                length = said;
            }
        }
    }
}

#endif
