/*
 * Stage window: keeps a TCP connection between its minimum and its maximum rate without a loss, by the window that its
 * receiver offers (`MaxRate` and `MinRate` of OS/390's Policy Agent).
 *
 * A sender sends no more than a window in each round trip. So acknowledgements are given the window
 *
 *     maximum rate x round-trip time
 *
 * of the data they acknowledge, never less than the minimum rate needs and than one segment, and never more than the
 * receiver offers. The round-trip time is the way from here to the receiver and back, smoothed as in RFC 6298, of
 * segments that weren't sent again (Karn), plus the least one seen to the sender and back.
 *
 * Comes last of what changes a packet: after the policy of the egress port, whose rates count if it has any.
 */
#ifndef PHB_WINDOW_P4
#define PHB_WINDOW_P4

#include "headers.p4"
#include "connection.p4"

// RFC 9293 section 3.7.1: what an end that says nothing takes. IPv6's 1220 would be more than an IPv4 end may take.
const bit<16> DEFAULT_SEGMENT = 536;

// Longer samples are of connections that paused, and would overflow the product with a rate; 2^26 us are 67 s.
const bit<48> LONGEST_SAMPLE_US = 0x3ffffff;

// By slot ++ side, of what this side of the connection sends: the rates of its policy in payload bytes per 2^20 us,
// the acknowledgement number that ends the running measurement, when it began (plus 1; 0: none runs), and the time
// from here to the other side and back.
register<bit<36>>(SIDES) window_maximum;
register<bit<36>>(SIDES) window_minimum;
register<bit<32>>(SIDES) window_timed_until;
register<bit<48>>(SIDES) window_timed_since;
register<bit<32>>(SIDES) window_smoothed_us;
register<bit<32>>(SIDES) window_least_us;

// What this side said of what it takes: window scale (RFC 7323) as 0x80 + shift, or 0 without, and segment size.
register<bit<8>>(SIDES) window_scale;
register<bit<16>>(SIDES) window_segment;

control Window(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {

    apply {
        bit<32> here = (bit<32>)((bit<16>)meta.connection.slot ++ meta.connection.side);
        bit<32> there = here ^ 1;
        bit<48> now = standard_metadata.ingress_global_timestamp;

        window_maximum.write(here, meta.connection.maximum);
        window_minimum.write(here, meta.connection.minimum);

        bit<48> since;
        bit<32> until;
        if (hdr.tcp.flags & TCP_SYN != 0) {
            // A new connection, or the same SYN again: nothing measured before holds.
            window_scale.write(here, meta.connection.scale);
            window_segment.write(here, meta.connection.segment);
            window_timed_since.write(here, 0);
            window_smoothed_us.write(here, 0);
            window_least_us.write(here, 0);
        }

        if (hdr.tcp.flags & TCP_ACK != 0) {
            // Does it end the measurement of what it acknowledges?
            window_timed_since.read(since, there);
            window_timed_until.read(until, there);
            if (since != 0 && hdr.tcp.acknowledgement - until < 0x80000000) {
                window_timed_since.write(there, 0);
                bit<48> elapsed = now - (since - 1);
                if (elapsed <= LONGEST_SAMPLE_US) {
                    // A microsecond more, because 0 stands for nothing measured.
                    bit<32> sample = (bit<32>)elapsed + 1;
                    bit<32> smoothed;
                    bit<32> least;
                    window_smoothed_us.read(smoothed, there);
                    window_least_us.read(least, there);
                    if (smoothed == 0) {
                        smoothed = sample;
                        least = sample;
                    }
                    if (sample < least) {
                        least = sample;
                    }
                    // RFC 6298 section 2.3: alpha is 1/8.
                    smoothed = smoothed - (smoothed >> 3) + (sample >> 3);
                    window_smoothed_us.write(there, smoothed);
                    window_least_us.write(there, least);
                }
            }
        }

        // What the packet itself asks to be acknowledged.
        bit<16> payload;
        bit<16> header_bytes = (bit<16>)hdr.tcp.data_offset << 2;
        if (hdr.ipv4.isValid()) {
            payload = hdr.ipv4.total_length - ((bit<16>)hdr.ipv4.ihl << 2) - header_bytes;
        } else {
            payload = hdr.ipv6.payload_length - header_bytes;
        }
        if (hdr.tcp.flags & TCP_SYN != 0) {
            payload = payload + 1;
        }
        if (payload != 0) {
            window_timed_since.read(since, here);
            window_timed_until.read(until, here);
            if (since == 0) {
                window_timed_since.write(here, now + 1);
                window_timed_until.write(here, hdr.tcp.sequence + (bit<32>)payload);
            } else if (hdr.tcp.sequence - until >= 0x80000000) {
                // Sent again: nobody knows which of them an acknowledgement is for.
                window_timed_since.write(here, 0);
            }
        }

        bit<36> maximum;
        window_maximum.read(maximum, there);
        if (maximum != 0 && hdr.tcp.flags & (TCP_SYN | TCP_ACK) == TCP_ACK) {
            bit<32> ahead;
            bit<32> behind;
            window_smoothed_us.read(ahead, there);
            window_least_us.read(behind, here);
            if (ahead != 0 && behind != 0) {
                bit<64> round_trip_us = (bit<64>)ahead + (bit<64>)behind;
                bit<36> minimum;
                bit<16> segment;
                bit<8> scale;
                bit<8> other_scale;
                window_minimum.read(minimum, there);
                window_segment.read(segment, here);
                window_scale.read(scale, here);
                window_scale.read(other_scale, there);
                bit<64> window = ((bit<64>)maximum * round_trip_us) >> 20;
                bit<64> least = ((bit<64>)minimum * round_trip_us) >> 20;
                if (window < least) {
                    window = least;
                }
                if (window < (bit<64>)segment) {
                    window = (bit<64>)segment;
                }
                // Windows are scaled if both sides offered it.
                bit<8> shift = 0;
                if (scale != 0 && other_scale != 0) {
                    shift = scale & 0x0f;
                }
                window = (window + ((64w1 << shift) - 1)) >> shift;
                if (window < (bit<64>)hdr.tcp.window) {
                    // RFC 1624, equation 3.
                    bit<32> sum = (bit<32>)(~hdr.tcp.checksum) + (bit<32>)(~hdr.tcp.window) + (bit<32>)window;
                    sum = (sum & 0xffff) + (sum >> 16);
                    sum = (sum & 0xffff) + (sum >> 16);
                    hdr.tcp.checksum = ~(bit<16>)sum;
                    hdr.tcp.window = (bit<16>)window;
                }
            }
        }
    }
}

#endif
