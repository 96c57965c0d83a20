/*
 * Stage buffer: is there room for the packet. The traffic manager's own limit is only the last line behind this one.
 *
 * Two limits of IOS, in packets: the output hold queue of the port, and the congestive discard threshold of a
 * conversation. A full hold queue drops the arriving packet, whichever conversation it belongs to (tail drop); IOS may
 * instead push out the packet with the largest finish tag, which a program that decides before the queue cannot.
 */
#ifndef PHB_BUFFER_P4
#define PHB_BUFFER_P4

#include "headers.p4"
#include "state.p4"

control Buffer(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {

    counter(CONVERSATION_SLOTS, CounterType.packets_and_bytes) conversation_tail_drops;
    counter(CONVERSATION_SLOTS, CounterType.packets_and_bytes) conversation_discards;

    bit<32> hold_queue = 0;      // 0: no limit
    bit<32> threshold = 0;

    action set_limits(bit<32> hold_queue_packets, bit<32> conversation_packets) {
        hold_queue = hold_queue_packets;
        threshold = conversation_packets;
    }

    table port_limit {
        key = { standard_metadata.egress_spec : exact @name("egress_port"); }
        actions = { set_limits; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    // Reserved for private and shared buffers per (port, stream) and the rule that a stream may take at most a fraction
    // of what is left. It has no action yet, and the controller refuses policies that ask for it.
    table stream_buffer {
        key = {
            standard_metadata.egress_spec : exact @name("egress_port");
            meta.verdict.stream           : exact @name("stream");
        }
        actions = { NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    apply {
        bit<32> queued;
        bit<32> queued_conversation;
        port_limit.apply();
        stream_buffer.apply();
        port_occupancy.read(queued, (bit<32>)standard_metadata.egress_spec);
        conversation_occupancy.read(queued_conversation, meta.schedule.slot);
        if (hold_queue != 0 && queued >= hold_queue) {
            meta.verdict.drop_reason = DropReason.HOLD_QUEUE;
            if (meta.schedule.discipline != Discipline.FIFO) {
                conversation_tail_drops.count(meta.schedule.slot);
            }
        } else if (threshold != 0 && meta.schedule.discipline != Discipline.FIFO && queued_conversation >= threshold) {
            meta.verdict.drop_reason = DropReason.CONGESTIVE_DISCARD;
            conversation_discards.count(meta.schedule.slot);
        }
    }
}

#endif
