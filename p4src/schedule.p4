/*
 * Stage schedule: when is the packet due. Gives the rank by which the traffic manager sorts.
 *
 *     rank = level ++ finish
 *     finish = max(V(port, level), finish(conversation)) + weight x length
 *
 * Self-clocked fair queueing (Golestani, INFOCOM 1994): V is the finish tag of the packet that the scheduler took last,
 * fed back by egress.p4. A conversation's service is in inverse proportion to its weight, as in IOS, where flow WFQ gives
 * weight 4096/(precedence+1). FIFO is a constant rank: the traffic manager serves equal ranks by arrival; so are strict
 * levels, whose weight is 0.
 *
 * A conversation without a packet in the queue has a finish tag that V has passed, so only those that have one are asked
 * for it. Then V may start at 0 whenever the port is empty, and tags stay small.
 *
 * A class that is shaped has its ranks like any other: how long the traffic manager holds its packets back is no matter of
 * order, and its queue may be behind V when it may send again.
 *
 * Last stage of ingress: it accounts for the packet as queued, so nothing may drop it afterwards but the traffic manager,
 * which then says so (egress.p4).
 */
#ifndef PHB_SCHEDULE_P4
#define PHB_SCHEDULE_P4

#include "headers.p4"
#include "state.p4"
#include "sp_pifo.p4"

control Schedule(inout headers_t hdr,
                 inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {

    counter(QUEUES, CounterType.packets_and_bytes) conversation_enqueued;

    SpPifo() sp_pifo;

    // What was queued before this packet.
    bit<32> conversation_queued = 0;
    // Conversations of the class's queue that have packets queued, with this packet's.
    bit<32> flows = 1;

    action weighted(level_t level, bit<32> weight) {
        meta.schedule.level = level;
        meta.schedule.weight = weight;
    }

    // What flows weigh by IP precedence: IOS before HQF. A class's own weight is in conversation.class_queue.
    table weight {
        key = {
            meta.schedule.profile : exact @name("profile");
            meta.flow.tos[7:5]    : exact @name("precedence");
        }
        actions = { weighted; }
        default_action = weighted(0, 4096);
        size = 8192;
    }

    // rate in bit/s, burst in bytes. overhead: bytes that the rate counts beside an Ethernet frame, two's complement.
    action shape(bit<64> rate, bit<32> burst, bit<32> overhead) {
        meta.tm.bucket = meta.schedule.queue;
        meta.tm.rate = rate;
        meta.tm.burst = burst;
        meta.tm.bytes = standard_metadata.packet_length + overhead;
    }

    // Classes that get no more than a rate, however idle the line is.
    table shaper {
        key = {
            meta.schedule.profile       : exact @name("profile");
            meta.schedule.traffic_class : exact @name("traffic_class");
        }
        actions = { shape; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 8192;
    }

    action account() {
        bit<32> queued;
        port_occupancy.read(queued, (bit<32>)standard_metadata.egress_spec);
        port_occupancy.write((bit<32>)standard_metadata.egress_spec, queued |+| 1);
    }

    action account_conversation() {
        conversation_occupancy.read(conversation_queued, meta.schedule.slot);
        conversation_occupancy.write(meta.schedule.slot, conversation_queued |+| 1);
    }

    action account_class() {
        bit<32> class_queued;
        class_occupancy.read(class_queued, meta.schedule.queue);
        class_occupancy.write(meta.schedule.queue, class_queued |+| 1);
        class_flows.read(flows, meta.schedule.queue);
        flows = flows |+| (conversation_queued == 0 ? 32w1 : 32w0);
        class_flows.write(meta.schedule.queue, flows);
    }

    action account_private() {
        bit<32> held;
        stream_private.read(held, meta.buffer.account);
        stream_private.write(meta.buffer.account, held |+| meta.buffer.own);
    }

    action account_shared() {
        bit<32> held;
        stream_shared.read(held, meta.buffer.account);
        stream_shared.write(meta.buffer.account, held |+| meta.buffer.shared);
        pool_shared.read(held, meta.buffer.pool);
        pool_shared.write(meta.buffer.pool, held |+| meta.buffer.shared);
    }

    apply {
        account();
        if (meta.buffer.accounted == 1) {
            account_private();
            if (meta.buffer.shared != 0) {
                account_shared();
            }
        }
        if (meta.schedule.discipline == Discipline.FIFO) {
            meta.tm.rank = 0;
            standard_metadata.priority = 7;
        } else {
            account_conversation();
            if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
                account_class();
                shaper.apply();
            }
            if (meta.schedule.by_precedence == 1) {
                weight.apply();
            }
            bit<32> clock = (bit<32>)(standard_metadata.egress_spec ++ meta.schedule.level);
            bit<64> previous = 0;
            if (meta.schedule.port_queued == 0) {
                virtual_time.write(clock, 0);
            } else {
                virtual_time.read(meta.schedule.start, clock);
                if (conversation_queued != 0) {
                    conversation_finish.read(previous, meta.schedule.slot);
                    if (previous > meta.schedule.start) {
                        meta.schedule.start = previous;
                    }
                }
            }
            bit<32> length = standard_metadata.packet_length + meta.schedule.overhead;
            finish_t cost = (finish_t)meta.schedule.weight * (finish_t)length;
            if (meta.schedule.by_flows == 1) {
                cost = cost * (finish_t)flows;
            }
            meta.schedule.finish = (finish_t)meta.schedule.start |+| cost;
            conversation_finish.write(meta.schedule.slot, (bit<64>)meta.schedule.finish);
            meta.tm.rank = meta.schedule.level ++ meta.schedule.finish;
            // A target that has strict-priority queues instead of a PIFO gets the level: 7 is served first.
            if (meta.schedule.level < 8) {
                standard_metadata.priority = (bit<3>)(7 - meta.schedule.level);
            } else {
                standard_metadata.priority = 0;
            }
            sp_pifo.apply(meta, standard_metadata);
        }
        conversation_enqueued.count(meta.schedule.slot);
    }
}

#endif
