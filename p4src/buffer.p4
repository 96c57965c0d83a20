/*
 * Stage buffer: is there room for the packet. The traffic manager's own limit is only the last line behind this one.
 * Nothing is counted yet: a later stage may still drop the packet, so schedule does that.
 *
 * Three limits of IOS, in packets: the output hold queue of the port, the queue limit of a class, and the congestive
 * discard threshold of a conversation. A full hold queue drops the arriving packet, whichever conversation it belongs to
 * (tail drop), or, where the policy asks for that, the packet that would be served last (push-out): only the traffic
 * manager knows which that is, so the packet is counted as queued, and the traffic manager drops one.
 */
#ifndef PHB_BUFFER_P4
#define PHB_BUFFER_P4

#include "headers.p4"
#include "state.p4"

control Buffer(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {

    counter(QUEUES, CounterType.packets_and_bytes) conversation_tail_drops;
    counter(QUEUES, CounterType.packets_and_bytes) conversation_discards;

    bit<32> hold_queue = 0;      // 0: no limit
    bit<32> threshold = 0;

    action set_limits(bit<32> hold_queue_packets, bit<32> conversation_packets) {
        hold_queue = hold_queue_packets;
        threshold = conversation_packets;
    }

    // A full hold queue keeps the most urgent of what came (RFC 1812 section 5.3.6).
    action set_limits_push_out(bit<32> hold_queue_packets, bit<32> conversation_packets) {
        threshold = conversation_packets;
        meta.tm.push_out = hold_queue_packets != 0 && meta.schedule.port_queued >= hold_queue_packets ? 1w1 : 1w0;
    }

    // conversation_packets: of each flow of flow_wfq; queues of classes have thresholds of their own.
    table port_limit {
        key = { meta.schedule.profile : exact @name("profile"); }
        actions = { set_limits; set_limits_push_out; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    // Of an accounted packet; the others shall not pay for them.
    bit<32> private_limit;
    bit<32> pool_limit;
    bit<32> part;

    action account(bit<13> index, bit<32> private_bytes, bit<9> pool, bit<32> shared_bytes, bit<32> holes) {
        meta.buffer.accounted = 1;
        meta.buffer.account = (bit<32>)index;
        meta.buffer.pool = (bit<32>)pool;
        private_limit = private_bytes;
        pool_limit = shared_bytes;
        part = holes;
    }

    // The row that asks no stream is that of everything without a private buffer: one account for all of it.
    table stream_buffer {
        key = {
            meta.schedule.profile : exact   @name("profile");
            meta.verdict.stream   : ternary @name("stream");
        }
        actions = { account; @defaultonly NoAction; }
        const default_action = NoAction;
        size = ACCOUNTS;
    }

    // As the IBM 2212 does it (draft-nadas-diffserv-experience-01, section 2.1): the private buffer as far as it has
    // room; for what is beyond, the pool, of which a stream holds no more than 1/holes of what is left. A packet may lie
    // in both, since nothing but the accounts tells them apart: so a private buffer is worth its bytes, whatever the
    // packets' sizes.
    action choose(bit<32> held, bit<32> pooled) {
        bit<64> wanted = (bit<64>)(held |+| meta.buffer.shared) * (bit<64>)part;
        meta.verdict.drop_reason = wanted <= (bit<64>)(pool_limit |-| pooled) ? DropReason.NONE : DropReason.NO_BUFFER;
    }

    // At an empty port nothing lies in a buffer, whatever is counted.
    action forget_account() {
        stream_private.write(meta.buffer.account, 0);
        stream_shared.write(meta.buffer.account, 0);
        pool_shared.write(meta.buffer.pool, 0);
    }

    bit<32> round;
    bit<32> turn;
    bit<32> lent;
    bit<32> lent_before;

    // What the pool has been lent of the stream's private buffer is its own again. Whoever lies there leaves when its turn
    // comes; until then the pool holds more than it has, and takes nothing.
    action take_back() {
        bit<32> found_idle;
        stream_seen.write(meta.buffer.account, standard_metadata.ingress_global_timestamp);
        stream_idle.read(found_idle, meta.buffer.account);
        stream_idle.write(meta.buffer.account, 0);
        pool_round.read(round, meta.buffer.pool);
        pool_turn.read(turn, meta.buffer.pool);
        pool_lent.read(lent, meta.buffer.pool);
        pool_lent_before.read(lent_before, meta.buffer.pool);
        round = round + 1;      // 0: not found idle
        lent = found_idle == round ? lent |-| private_limit : lent;
        lent_before = found_idle + 1 == round ? lent_before |-| private_limit : lent_before;
    }

    // The private buffer of a stream of which nothing came for longer than that, and nothing is queued, is the pool's.
    action lend(bit<13> index, bit<32> private_bytes, bit<32> timeout_us, bit<13> next_turn) {
        bit<48> seen;
        bit<32> found_idle;
        bit<32> held;
        bit<32> held_shared;
        stream_seen.read(seen, (bit<32>)index);
        stream_idle.read(found_idle, (bit<32>)index);
        stream_private.read(held, (bit<32>)index);
        stream_shared.read(held_shared, (bit<32>)index);
        bool idle = standard_metadata.ingress_global_timestamp - seen > (bit<48>)timeout_us
                    && (meta.schedule.port_queued == 0 || (held | held_shared) == 0);
        stream_idle.write((bit<32>)index, idle ? round : 0);
        lent = idle ? lent |+| private_bytes : lent;
        // Each round adds up anew.
        lent_before = found_idle + 1 == round ? lent_before |-| private_bytes : lent_before;
        lent_before = next_turn == 0 ? lent : lent_before;
        lent = next_turn == 0 ? 0 : lent;
        pool_round.write(meta.buffer.pool, next_turn == 0 ? round : round - 1);
        pool_turn.write(meta.buffer.pool, (bit<32>)next_turn);
        pool_lent.write(meta.buffer.pool, lent);
        pool_lent_before.write(meta.buffer.pool, lent_before);
    }

    // No stream has this turn: whatever was lent, another policy did it.
    action forget_lent() {
        lent = 0;
        lent_before = 0;
        pool_turn.write(meta.buffer.pool, 0);
        pool_lent.write(meta.buffer.pool, 0);
        pool_lent_before.write(meta.buffer.pool, 0);
    }

    // P4 has no timer, so whoever comes looks whether another stream is idle, at one after the other.
    table idle_stream {
        key = {
            meta.schedule.profile : exact @name("profile");
            turn                  : exact @name("turn");
        }
        actions = { lend; @defaultonly forget_lent; }
        const default_action = forget_lent();
        size = ACCOUNTS;
    }

    apply {
        bit<32> queued_conversation = 0;
        port_limit.apply();
        meta.schedule.queued = meta.schedule.port_queued;
        if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
            threshold = meta.schedule.threshold_packets;
            if (meta.schedule.port_queued != 0) {
                class_occupancy.read(meta.schedule.queued, meta.schedule.queue);
            }
        }
        if (meta.schedule.discipline != Discipline.FIFO && meta.schedule.port_queued != 0) {
            conversation_occupancy.read(queued_conversation, meta.schedule.slot);
        }
        if (hold_queue != 0 && meta.schedule.port_queued >= hold_queue) {
            meta.verdict.drop_reason = DropReason.HOLD_QUEUE;
            conversation_tail_drops.count(meta.schedule.slot);
        } else if (meta.schedule.limit_packets != 0 && meta.schedule.queued >= meta.schedule.limit_packets) {
            meta.verdict.drop_reason = DropReason.QUEUE_LIMIT;
            conversation_tail_drops.count(meta.schedule.slot);
        } else if (threshold != 0 && queued_conversation >= threshold) {
            meta.verdict.drop_reason = DropReason.CONGESTIVE_DISCARD;
            conversation_discards.count(meta.schedule.slot);
        } else {
            stream_buffer.apply();
            if (meta.buffer.accounted == 1) {
                bit<32> held;
                if (meta.schedule.port_queued == 0) {
                    forget_account();
                }
                take_back();
                idle_stream.apply();
                pool_limit = pool_limit |+| lent |+| lent_before;
                stream_private.read(held, meta.buffer.account);
                bit<32> room = private_limit |-| held;
                meta.buffer.own = standard_metadata.packet_length;
                if (meta.buffer.own > room) {
                    bit<32> pooled;
                    meta.buffer.shared = meta.buffer.own - room;
                    meta.buffer.own = room;
                    stream_shared.read(held, meta.buffer.account);
                    pool_shared.read(pooled, meta.buffer.pool);
                    choose(held, pooled);
                }
            }
        }
    }
}

#endif
