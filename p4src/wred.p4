/*
 * Stage wred: early drop or ECN mark on an average of the queue (RFC 2309, RFC 3168, RFC 7567).
 *
 * Random early detection as Floyd and Jacobson wrote it (1993): average += (queue - average) / 2^n at every arrival; an
 * idle queue's average decays as if small packets had left it all the while; between minimum and maximum the probability
 * rises in proportion to the average, from the maximum on every packet is dropped. Their even spacing of drops is left
 * out: each packet draws alone.
 *
 * Comes after buffer, which knows what is queued. A packet that another limit drops doesn't count for the average.
 */
#ifndef PHB_WRED_P4
#define PHB_WRED_P4

#include "headers.p4"
#include "state.p4"

control Wred(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    counter(QUEUES, CounterType.packets_and_bytes) conversation_early_drops;
    counter(QUEUES, CounterType.packets_and_bytes) conversation_marked;
    // By class.
    counter(CLASSES, CounterType.packets_and_bytes) class_marked;

    // Average packets in the queue, in units of 2^-32, by the queue's slot. Only this stage uses it.
    register<bit<64>>(QUEUES) queue_average;

    // Of a packet that hit; the others shall not pay for them.
    bit<8>  weight;
    bit<32> decay;
    bit<32> low;
    bit<32> high;
    bit<32> rise;
    bit<1>  marks;

    // For packets that are never dropped early: they count for the average all the same.
    action observe(bit<8> average_weight, bit<32> halvings) {
        meta.schedule.early = 1;
        weight = average_weight;
        decay = halvings;
        low = 0;
        high = 0xffff;           // more than any queue holds: never
        rise = 0;
        marks = 0;
    }

    // average_weight: n. halvings: of the average in a microsecond of idle time, in units of 2^-32. minimum, maximum:
    // packets. slope: 2^32 / (denominator x (maximum - minimum)). ecn: mark packets of ECN-capable transports.
    action early(bit<8> average_weight, bit<32> halvings, bit<32> minimum, bit<32> maximum, bit<32> slope, bit<1> ecn) {
        meta.schedule.early = 1;
        weight = average_weight;
        decay = halvings;
        low = minimum;
        high = maximum;
        rise = slope;
        marks = ecn;
    }

    table thresholds {
        key = {
            meta.schedule.profile       : exact   @name("profile");
            meta.schedule.traffic_class : exact   @name("traffic_class");
            meta.flow.tos               : ternary @name("tos");
            meta.verdict.colour         : ternary @name("colour");
        }
        actions = { observe; early; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16384;
    }

    apply {
        thresholds.apply();
        if (meta.schedule.early == 1) {
            bit<64> average;
            queue_average.read(average, meta.schedule.queue);
            bit<64> sample = (bit<64>)meta.schedule.queued << 32;
            if (meta.schedule.queued == 0 && decay != 0) {
                bit<48> left;
                queue_left.read(left, meta.schedule.queue);
                bit<48> idle = standard_metadata.ingress_global_timestamp - left;
                if (idle > 0xffffffff) {
                    idle = 0xffffffff;
                }
                bit<64> halvings = (bit<64>)idle * (bit<64>)decay;
                if (halvings[63:32] > 47) {
                    average = 0;
                } else {
                    // 2^-x is taken as 1 - x/2 for the fraction x: at most 6.2 % too much, never too little.
                    average = average >> halvings[39:32];
                    average = average - (((average >> 16) * (bit<64>)halvings[31:16]) >> 1);
                }
            } else if (sample > average) {
                average = average + ((sample - average) >> weight);
            } else {
                average = average - ((average - sample) >> weight);
            }
            queue_average.write(meta.schedule.queue, average);

            bit<64> beyond = average |-| ((bit<64>)low << 32);
            bool chosen = false;
            if (average >= (bit<64>)high << 32) {
                meta.verdict.drop_reason = DropReason.WRED;
            } else if (beyond != 0) {
                bit<32> drawn;
                random(drawn, 32w0, 32w0xffffffff);
                chosen = (bit<64>)drawn < ((beyond >> 16) * (bit<64>)rise) >> 16;
            }
            if (chosen) {
                if (marks == 1 && meta.flow.tos[1:0] != 0) {
                    meta.flow.tos = meta.flow.tos | 3;
                    if (hdr.ipv4.isValid()) {
                        hdr.ipv4.tos = meta.flow.tos;
                    } else if (hdr.ipv6.isValid()) {
                        hdr.ipv6.traffic_class = meta.flow.tos;
                    }
                    conversation_marked.count(meta.schedule.slot);
                    class_marked.count((bit<32>)meta.verdict.traffic_class);
                } else {
                    meta.verdict.drop_reason = DropReason.WRED;
                }
            }
            if (meta.verdict.drop_reason == DropReason.WRED) {
                conversation_early_drops.count(meta.schedule.slot);
            }
        }
    }
}

#endif
