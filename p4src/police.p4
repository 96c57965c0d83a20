/*
 * Stage police: the colour of a packet by a meter of its stream, and what is done with each colour.
 *
 * Single-rate (RFC 2697), two-rate (RFC 2698) and two-rate with separate buckets (RFC 4115), blind to colours or aware of
 * them. Built from registers, because v1model's meter is two-rate and colour-blind only. Exact to the microsecond: a bit/s
 * gives one token, a millionth of a bit, in each; registers hold how many tokens are missing, so that a bucket is full
 * before its first packet, and a changed burst needs no new state. No 64 bits overflow: a bucket of 2^32 bytes has less
 * than 2^55 tokens, and time beyond `full_after` is not counted.
 *
 * Stands twice in the pipeline: for the input policy, and for that of the egress port.
 */
#ifndef PHB_POLICE_P4
#define PHB_POLICE_P4

#include "headers.p4"
#include "state.p4"

#define TOKENS_PER_BYTE 64w8000000

control Police(inout metadata_t meta, in standard_metadata_t standard_metadata, in policy_t policy) {

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

    // Tokens that a rate has given since the stream's last packet.
    #define TIME_SINCE_LAST(elapsed) \
        bit<32> index = (bit<32>)meta.verdict.stream; \
        bit<48> last; \
        meter_time.read(last, index); \
        meter_time.write(index, standard_metadata.ingress_global_timestamp); \
        bit<48> elapsed = standard_metadata.ingress_global_timestamp - last

    #define GAINED(rate, elapsed, full_after) \
        ((bit<64>)(rate) * (bit<64>)((elapsed) < (full_after) ? (elapsed) : (full_after)))

    // What the packet asks for. Frames shorter than what is taken off count nothing.
    #define PACKET_TOKENS(overhead) \
        bit<32> length = standard_metadata.packet_length + (overhead); \
        bit<64> size = length[31:31] == 1 ? 0 : (bit<64>)length * TOKENS_PER_BYTE; \
        bool red_before = colour_aware == 1 && incoming == Colour.RED; \
        bool yellow_before = colour_aware == 1 && incoming == Colour.YELLOW

    #define BURST(bytes) ((bit<64>)(bytes) * TOKENS_PER_BYTE)

    // Buckets are asked one after the other: RFC 2697 and RFC 4115.
    #define COMMITTED_ELSE_EXCESS() \
        bool green = !red_before && !yellow_before && committed + size <= BURST(committed_burst); \
        bool yellow = !green && !red_before && excess + size <= BURST(excess_burst); \
        committed_used.write(index, committed + (green ? size : 0)); \
        excess_used.write(index, excess + (yellow ? size : 0)); \
        meta.verdict.colour = green ? Colour.GREEN : (yellow ? Colour.YELLOW : Colour.RED)

    // full_after: microseconds in which the rate fills both buckets. What the committed bucket has no room for flows into
    // the other.
    action single_rate(bit<40> rate, bit<48> full_after, bit<32> committed_burst, bit<32> excess_burst,
                       bit<32> overhead, bit<1> colour_aware) {
        TIME_SINCE_LAST(elapsed);
        PACKET_TOKENS(overhead);
        bit<64> gained = GAINED(rate, elapsed, full_after);
        bit<64> committed;
        bit<64> excess;
        committed_used.read(committed, index);
        excess_used.read(excess, index);
        excess = excess |-| (gained |-| committed);
        committed = committed |-| gained;
        COMMITTED_ELSE_EXCESS();
    }

    action two_rate_separate(bit<40> committed_rate, bit<48> committed_full_after, bit<32> committed_burst,
                             bit<40> excess_rate, bit<48> excess_full_after, bit<32> excess_burst,
                             bit<32> overhead, bit<1> colour_aware) {
        TIME_SINCE_LAST(elapsed);
        PACKET_TOKENS(overhead);
        bit<64> committed;
        bit<64> excess;
        committed_used.read(committed, index);
        excess_used.read(excess, index);
        committed = committed |-| GAINED(committed_rate, elapsed, committed_full_after);
        excess = excess |-| GAINED(excess_rate, elapsed, excess_full_after);
        COMMITTED_ELSE_EXCESS();
    }

    // A packet within the peak rate takes of its bucket, green or yellow; a green one takes of both.
    action two_rate(bit<40> committed_rate, bit<48> committed_full_after, bit<32> committed_burst,
                    bit<40> peak_rate, bit<48> peak_full_after, bit<32> peak_burst,
                    bit<32> overhead, bit<1> colour_aware) {
        TIME_SINCE_LAST(elapsed);
        PACKET_TOKENS(overhead);
        bit<64> committed;
        bit<64> peak;
        committed_used.read(committed, index);
        excess_used.read(peak, index);
        committed = committed |-| GAINED(committed_rate, elapsed, committed_full_after);
        peak = peak |-| GAINED(peak_rate, elapsed, peak_full_after);
        bool conforms = !red_before && peak + size <= BURST(peak_burst);
        bool green = conforms && !yellow_before && committed + size <= BURST(committed_burst);
        committed_used.write(index, committed + (green ? size : 0));
        excess_used.write(index, peak + (conforms ? size : 0));
        meta.verdict.colour = green ? Colour.GREEN : (conforms ? Colour.YELLOW : Colour.RED);
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

    table colour_action {
        key = {
            policy              : exact @name("policy");
            meta.verdict.colour : exact @name("colour");
        }
        actions = { transmit; remark; remark_pcp; remark_tos_and_pcp; drop; }
        const default_action = transmit();
        size = POLICIES;
    }

    apply {
        if (meta.verdict.stream != 0) {
            // A meter that comes later goes by the colour of the one before it.
            if (meta.verdict.metered) {
                incoming = meta.verdict.colour;
            } else {
                incoming_colour.apply();
            }
            if (stream_meter.apply().hit) {
                meta.verdict.metered = true;
                colour_action.apply();
            }
            stream_traffic.count((bit<32>)(meta.verdict.stream ++ meta.verdict.colour));
        }
    }
}

#endif
