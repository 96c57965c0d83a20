/*
 * Stage schedule: when is the packet due. Gives the rank by which the traffic manager sorts.
 *
 *     rank = level ++ finish
 *     finish = max(V(port, level), finish(conversation)) + weight x length
 *
 * Self-clocked fair queueing (Golestani, INFOCOM 1994): V is the finish tag of the packet that the scheduler took last,
 * fed back by egress.p4. A conversation's service is in inverse proportion to its weight, as in IOS, where flow WFQ gives
 * weight 4096/(precedence+1). FIFO is a constant rank: the traffic manager serves equal ranks by arrival.
 *
 * Last stage of ingress: it accounts for the packet as queued, so nothing may drop it afterwards.
 */
#ifndef PHB_SCHEDULE_P4
#define PHB_SCHEDULE_P4

#include "headers.p4"
#include "state.p4"

control Schedule(inout headers_t hdr,
                 inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {

    action weighted(level_t level, bit<32> weight) {
        meta.schedule.level = level;
        meta.schedule.weight = weight;
    }

    // Rows of one profile are what one port's policy says about precedences and classes; a strict level is the same row
    // with another level.
    table weight {
        key = {
            meta.schedule.profile      : exact    @name("profile");
            meta.flow.tos[7:5]         : ternary  @name("precedence");
            meta.verdict.traffic_class : ternary  @name("traffic_class");
        }
        actions = { weighted; }
        default_action = weighted(0, 4096);
        size = 4096;
    }

    action account() {
        bit<32> queued;
        port_occupancy.read(queued, (bit<32>)standard_metadata.egress_spec);
        port_occupancy.write((bit<32>)standard_metadata.egress_spec, queued |+| 1);
    }

    action account_conversation() {
        bit<32> queued;
        conversation_occupancy.read(queued, meta.schedule.slot);
        conversation_occupancy.write(meta.schedule.slot, queued |+| 1);
    }

    apply {
        account();
        if (meta.schedule.discipline == Discipline.FIFO) {
            meta.tm.rank = 0;
        } else {
            weight.apply();
            account_conversation();
            bit<64> start;
            bit<64> previous;
            virtual_time.read(start, (bit<32>)(standard_metadata.egress_spec ++ meta.schedule.level));
            conversation_finish.read(previous, meta.schedule.slot);
            if (previous > start) {
                start = previous;
            }
            bit<32> length = standard_metadata.packet_length + meta.schedule.overhead;
            meta.schedule.finish = (finish_t)start |+| (finish_t)meta.schedule.weight * (finish_t)length;
            conversation_finish.write(meta.schedule.slot, (bit<64>)meta.schedule.finish);
            meta.tm.rank = meta.schedule.level ++ meta.schedule.finish;
        }
        // A target that has strict-priority queues instead of a PIFO gets the level: 7 is served first.
        if (meta.schedule.level < 8) {
            standard_metadata.priority = (bit<3>)(7 - meta.schedule.level);
        } else {
            standard_metadata.priority = 0;
        }
    }
}

#endif
