/*
 * Stage police: the colour of a packet by a meter of its stream, and what is done with each colour.
 *
 * Single-rate (RFC 2697), two-rate (RFC 2698) and two-rate with separate buckets (RFC 4115), blind to colours or aware of
 * them. Built from registers, because v1model's meter is two-rate and colour-blind only. Exact to the microsecond: a bit/s
 * gives one token, a millionth of a bit, in each; registers hold how many tokens are missing, so that a bucket is full
 * before its first packet, and a changed burst needs no new state. RFC 4115 asks for more tokens than the packet takes,
 * the others for as many: one has to be left over. No 64 bits overflow: a bucket of 2^32 bytes has less
 * than 2^55 tokens, and time beyond `full_after` is not counted.
 *
 * Stands twice in the pipeline: for the input policy, and for that of the egress port.
 */
#ifndef PHB_POLICE_P4
#define PHB_POLICE_P4

#include "headers.p4"
#include "state.p4"
#include "metered_length.p4"
#include "mark.p4"

#define TOKENS_PER_BYTE 64w8000000

// How tokens become a colour.
enum bit<2> MeterKind {
    SINGLE_RATE       = 0,       // RFC 2697
    TWO_RATE          = 1,       // RFC 2698
    TWO_RATE_SEPARATE = 2        // RFC 4115
}

struct meter_t {
    MeterKind kind;
    bit<40>   committed_rate;    // bit/s
    bit<48>   committed_full_after;
    bit<32>   committed_burst;   // bytes
    bit<40>   other_rate;        // of the excess or the peak bucket
    bit<48>   other_full_after;
    bit<32>   other_burst;
    bit<1>    datagram;
    bit<32>   overhead;
    bit<1>    colour_aware;
    bit<64>   left_over;         // tokens that must be left once the packet has taken its own
}

control Police(in headers_t hdr,
               inout metadata_t meta,
               in standard_metadata_t standard_metadata,
               in policy_t policy) {

    Colour incoming = Colour.GREEN;

    action set_colour(Colour colour) {
        incoming = colour;
    }

    // Drop precedence of an AF code point (RFC 2597): AFx2 is yellow, AFx3 red, everything else green.
    table incoming_colour {
        key = { meta.flow.tos : ternary @name("tos"); }
        actions = { set_colour; }
        const default_action = set_colour(Colour.GREEN);
        const entries = {
            0x30 &&& 0xfc : set_colour(Colour.YELLOW);
            0x50 &&& 0xfc : set_colour(Colour.YELLOW);
            0x70 &&& 0xfc : set_colour(Colour.YELLOW);
            0x90 &&& 0xfc : set_colour(Colour.YELLOW);
            0x38 &&& 0xfc : set_colour(Colour.RED);
            0x58 &&& 0xfc : set_colour(Colour.RED);
            0x78 &&& 0xfc : set_colour(Colour.RED);
            0x98 &&& 0xfc : set_colour(Colour.RED);
        }
    }

    MeteredLength() metered_length;
    meter_t meter;

    // full_after: microseconds in which the rate fills both buckets; longer times are not counted.
    // datagram: whether the rate counts the IP datagram's bytes, and not the Ethernet frame's.
    // overhead: added to those bytes, two's complement.
    action single_rate(bit<40> rate, bit<48> full_after, bit<32> committed_burst, bit<32> excess_burst,
                       bit<1> datagram, bit<32> overhead, bit<1> colour_aware) {
        meter.kind = MeterKind.SINGLE_RATE;
        meter.committed_rate = rate;
        meter.committed_full_after = full_after;
        meter.committed_burst = committed_burst;
        meter.other_rate = 0;
        meter.other_full_after = 0;
        meter.other_burst = excess_burst;
        meter.datagram = datagram;
        meter.overhead = overhead;
        meter.colour_aware = colour_aware;
        meter.left_over = 0;
    }

    action two_rate(bit<40> committed_rate, bit<48> committed_full_after, bit<32> committed_burst,
                    bit<40> peak_rate, bit<48> peak_full_after, bit<32> peak_burst,
                    bit<1> datagram, bit<32> overhead, bit<1> colour_aware) {
        meter.kind = MeterKind.TWO_RATE;
        meter.committed_rate = committed_rate;
        meter.committed_full_after = committed_full_after;
        meter.committed_burst = committed_burst;
        meter.other_rate = peak_rate;
        meter.other_full_after = peak_full_after;
        meter.other_burst = peak_burst;
        meter.datagram = datagram;
        meter.overhead = overhead;
        meter.colour_aware = colour_aware;
        meter.left_over = 0;
    }

    action two_rate_separate(bit<40> committed_rate, bit<48> committed_full_after, bit<32> committed_burst,
                             bit<40> excess_rate, bit<48> excess_full_after, bit<32> excess_burst,
                             bit<1> datagram, bit<32> overhead, bit<1> colour_aware) {
        meter.kind = MeterKind.TWO_RATE_SEPARATE;
        meter.committed_rate = committed_rate;
        meter.committed_full_after = committed_full_after;
        meter.committed_burst = committed_burst;
        meter.other_rate = excess_rate;
        meter.other_full_after = excess_full_after;
        meter.other_burst = excess_burst;
        meter.datagram = datagram;
        meter.overhead = overhead;
        meter.colour_aware = colour_aware;
        meter.left_over = 1;
    }

    table stream_meter {
        key = { meta.verdict.stream : exact @name("stream"); }
        actions = { single_rate; two_rate; two_rate_separate; @defaultonly NoAction; }
        const default_action = NoAction;
        size = STREAMS;
    }

    action transmit() {}

    action drop() {
        meta.verdict.drop_reason = DropReason.POLICED;
    }

    action remark(bit<8> value, bit<8> mask) {
        meta.flow.tos = (meta.flow.tos & ~mask) | (value & mask);
    }

    action remark_pcp(bit<3> value, bit<3> mask) {
        meta.flow.pcp = (meta.flow.pcp & ~mask) | (value & mask);
    }

    action remark_tos_and_pcp(bit<8> value, bit<8> mask, bit<3> pcp_value, bit<3> pcp_mask) {
        remark(value, mask);
        remark_pcp(pcp_value, pcp_mask);
    }

    action remark_marks(bit<8> value, bit<8> mask, bit<8> from_pcp,
                        bit<3> pcp_value, bit<3> pcp_mask, bit<3> from_precedence,
                        bit<7> qos_group, bit<7> qos_group_mask) {
        write_marks(meta.flow, value, mask, from_pcp, pcp_value, pcp_mask, from_precedence, qos_group, qos_group_mask);
    }

    table colour_action {
        key = {
            policy              : exact @name("policy");
            meta.verdict.colour : exact @name("colour");
        }
        actions = { transmit; remark; remark_pcp; remark_tos_and_pcp; remark_marks; drop; }
        const default_action = transmit();
        size = POLICIES;
    }

    apply {
        if (meta.verdict.stream != 0) {
            if (stream_meter.apply().hit) {
                // A meter that comes later goes by the colour of the one before it.
                if (meter.colour_aware == 1) {
                    if (meta.verdict.metered) {
                        incoming = meta.verdict.colour;
                    } else {
                        incoming_colour.apply();
                    }
                }
                bit<32> index = (bit<32>)meta.verdict.stream;
                bit<48> last;
                meter_time.read(last, index);
                meter_time.write(index, standard_metadata.ingress_global_timestamp);
                bit<48> elapsed = standard_metadata.ingress_global_timestamp - last;
                bit<48> counted = elapsed;
                if (counted > meter.committed_full_after) {
                    counted = meter.committed_full_after;
                }
                if (elapsed > meter.other_full_after) {
                    elapsed = meter.other_full_after;
                }
                bit<64> gained = (bit<64>)meter.committed_rate * (bit<64>)counted;
                bit<64> committed;
                bit<64> other;
                committed_used.read(committed, index);
                other_used.read(other, index);
                if (meter.kind == MeterKind.SINGLE_RATE) {
                    // What the committed bucket has no room for flows into the other.
                    other = other |-| (gained |-| committed);
                } else {
                    other = other |-| (bit<64>)meter.other_rate * (bit<64>)elapsed;
                }
                committed = committed |-| gained;

                bit<32> length;
                metered_length.apply(hdr, standard_metadata.packet_length, meter.datagram, length);
                // What is shorter than what is taken off counts nothing.
                length = length + meter.overhead;
                if (length >= 0x80000000) {
                    length = 0;
                }
                bit<64> size = (bit<64>)length * TOKENS_PER_BYTE;
                bit<64> committed_after = committed + size;
                bit<64> other_after = other + size;
                bool fits_committed = committed_after + meter.left_over <= (bit<64>)meter.committed_burst * TOKENS_PER_BYTE;
                bool fits_other = other_after + meter.left_over <= (bit<64>)meter.other_burst * TOKENS_PER_BYTE;

                meta.verdict.colour = Colour.RED;
                if (meter.kind == MeterKind.TWO_RATE) {
                    // What is within the peak rate takes of its bucket; a green packet takes of both.
                    if (incoming != Colour.RED && fits_other) {
                        other = other_after;
                        meta.verdict.colour = Colour.YELLOW;
                        if (incoming == Colour.GREEN && fits_committed) {
                            committed = committed_after;
                            meta.verdict.colour = Colour.GREEN;
                        }
                    }
                } else if (incoming == Colour.GREEN && fits_committed) {
                    committed = committed_after;
                    meta.verdict.colour = Colour.GREEN;
                } else if (incoming != Colour.RED && fits_other) {
                    other = other_after;
                    meta.verdict.colour = Colour.YELLOW;
                }
                committed_used.write(index, committed);
                other_used.write(index, other);
                meta.verdict.metered = true;
                colour_action.apply();
            }
            stream_traffic.count((bit<32>)(meta.verdict.stream ++ meta.verdict.colour));
        }
    }
}

#endif
