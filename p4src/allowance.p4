/*
 * Stage allowance: keeps a TCP connection to its maximum rate where its window can't (`MaxRate` of OS/390's Policy Agent).
 *
 * A window is no smaller than a segment, and a segment in each round trip of a LAN is far more than most rates. So what a
 * side sends takes tokens, payload bytes, of a bucket of its own, and is dropped where they are missing. A sender whose only
 * segment is dropped waits for its retransmission timer, a second by RFC 6298 (2.4) and 0.2 s with many: the bucket fills
 * for a second, so that what wasn't sent while it waited is sent after. Hence the rate is reached, by bursts.
 *
 *     bucket = rate x (1 s + round-trip time) + 4 segments
 *
 * A whole window and the first one (RFC 3390) fit beside that second, which a connection earns before it has it. A minimum
 * rate above the maximum counts, as in window. Where the window reaches the rate, the bucket doesn't run out.
 *
 * Comes before window, whose round-trip times it takes: what is dropped here measures none.
 */
#ifndef PHB_ALLOWANCE_P4
#define PHB_ALLOWANCE_P4

#include "headers.p4"
#include "window.p4"

// Rates are payload bytes per 2^20 us, and so is a token a 2^20th of a byte.
#define TOKEN_BITS 20
// Of longer pauses no more is counted. No 64 bits overflow: a rate has 36, a round trip 27.
const bit<48> LONGEST_PAUSE_US = 0xfffffff;

// By slot ++ side, of what this side sends: tokens that are missing in its bucket, and since when.
register<bit<64>>(SIDES) allowance_used;
register<bit<48>>(SIDES) allowance_time;

control Allowance(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {

    apply {
        bit<32> here = (bit<32>)((bit<16>)meta.connection.slot ++ meta.connection.side);
        bit<48> now = standard_metadata.ingress_global_timestamp;
        bit<64> rate = (bit<64>)meta.connection.maximum;
        if (meta.connection.minimum > meta.connection.maximum) {
            rate = (bit<64>)meta.connection.minimum;
        }
        bit<16> payload;
        if (hdr.ipv4.isValid()) {
            payload = hdr.ipv4.total_length - ((bit<16>)hdr.ipv4.ihl << 2);
        } else {
            payload = hdr.ipv6.payload_length;
        }
        payload = payload - ((bit<16>)hdr.tcp.data_offset << 2);

        if (hdr.tcp.flags & TCP_SYN != 0) {
            // A new connection, or the same SYN again: nothing is earned yet.
            allowance_used.write(here, rate << TOKEN_BITS);
            allowance_time.write(here, now);
        } else if (meta.connection.maximum != 0 && payload != 0) {
            bit<32> ahead;
            bit<32> behind;
            bit<16> segment;
            window_smoothed_us.read(ahead, here);
            window_least_us.read(behind, here ^ 1);
            window_segment.read(segment, here ^ 1);
            bit<64> bucket = rate * ((bit<64>)ahead + (bit<64>)behind) + (rate << TOKEN_BITS)
                             + ((bit<64>)segment << (TOKEN_BITS + 2));
            bit<64> used;
            bit<48> last;
            allowance_used.read(used, here);
            allowance_time.read(last, here);
            bit<48> elapsed = now - last;
            if (elapsed > LONGEST_PAUSE_US) {
                elapsed = LONGEST_PAUSE_US;
            }
            used = used |-| rate * (bit<64>)elapsed;
            bit<64> after = used + ((bit<64>)payload << TOKEN_BITS);
            // A full bucket lets any segment pass: its size may not be that of the SYN.
            if (used == 0 || after <= bucket) {
                used = after;
            } else {
                meta.verdict.drop_reason = DropReason.MAXIMUM_RATE;
            }
            allowance_used.write(here, used);
            allowance_time.write(here, now);
        }
    }
}

#endif
