/*
 * Stage buffer: is there room for the packet. The traffic manager's own limit is only the last line behind this one.
 *
 * Three limits of IOS, in packets: the output hold queue of the port, the queue limit of a class, and the congestive
 * discard threshold of a conversation. A full hold queue drops the arriving packet, whichever conversation it belongs to (tail drop); IOS may
 * instead push out the packet with the largest finish tag, which a program that decides before the queue cannot.
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

    // conversation_packets: of each flow of flow_wfq; queues of classes have thresholds of their own.
    table port_limit {
        key = { meta.schedule.profile : exact @name("profile"); }
        actions = { set_limits; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    // Reserved for private and shared buffers per (port, stream) and the rule that a stream may take at most a fraction
    // of what is left. It has no action yet, and the controller refuses policies that ask for it.
    table stream_buffer {
        key = {
            meta.schedule.profile : exact @name("profile");
            meta.verdict.stream   : exact @name("stream");
        }
        actions = { NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    apply {
        bit<32> queued;
        bit<32> queued_conversation = 0;
        port_limit.apply();
        port_occupancy.read(queued, (bit<32>)standard_metadata.egress_spec);
        meta.schedule.queued = queued;
        if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
            threshold = meta.schedule.threshold_packets;
            class_occupancy.read(meta.schedule.queued, meta.schedule.queue);
        }
        stream_buffer.apply();
        if (meta.schedule.discipline != Discipline.FIFO) {
            conversation_occupancy.read(queued_conversation, meta.schedule.slot);
        }
        if (hold_queue != 0 && queued >= hold_queue) {
            meta.verdict.drop_reason = DropReason.HOLD_QUEUE;
            conversation_tail_drops.count(meta.schedule.slot);
        } else if (meta.schedule.limit_packets != 0 && meta.schedule.queued >= meta.schedule.limit_packets) {
            meta.verdict.drop_reason = DropReason.QUEUE_LIMIT;
            conversation_tail_drops.count(meta.schedule.slot);
        } else if (threshold != 0 && queued_conversation >= threshold) {
            meta.verdict.drop_reason = DropReason.CONGESTIVE_DISCARD;
            conversation_discards.count(meta.schedule.slot);
        }
    }
}

#endif
