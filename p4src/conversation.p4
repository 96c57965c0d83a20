/*
 * Stage conversation: which scheduler the egress port runs, and which of its conversations the packet belongs to.
 *
 * Comes after forward (needs the port) and after mark (a remark changes the flow as it does on a router that marks before
 * it queues); buffer and schedule account by its result.
 *
 * A flow that hashes to a slot where another has packets queued would wait behind them. So a flow has two candidate slots
 * and takes the one it owns, else one where nothing is queued: the finish tag of such a slot lies in the past, so taking it
 * over changes nobody's turn. Only when others have packets queued in both does it share the first; that is counted. A
 * flow that shared and finds a slot of its own later may overtake its own packets.
 */
#ifndef PHB_CONVERSATION_P4
#define PHB_CONVERSATION_P4

#include "headers.p4"
#include "state.p4"

control Conversation(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {

    action fifo(bit<8> profile) {
        meta.schedule.discipline = Discipline.FIFO;
        meta.schedule.profile = profile;
    }

    // overhead: bytes that this port's encapsulation adds to an Ethernet frame, two's complement (PPP: 4 - 14 = -10).
    action flow_wfq(bit<8> profile, bit<32> base, bit<32> conversations, bit<32> overhead) {
        meta.schedule.discipline = Discipline.FLOW_WFQ;
        meta.schedule.profile = profile;
        meta.schedule.base = base;
        meta.schedule.conversations = conversations;
        meta.schedule.overhead = overhead;
    }

    action class_wfq(bit<8> profile, bit<32> base, bit<32> overhead) {
        meta.schedule.discipline = Discipline.CLASS_WFQ;
        meta.schedule.profile = profile;
        meta.schedule.overhead = overhead;
        meta.schedule.slot = base + (bit<32>)meta.verdict.traffic_class;
    }

    table port_scheduler {
        key = { standard_metadata.egress_spec : exact @name("egress_port"); }
        actions = { fifo; flow_wfq; class_wfq; }
        default_action = fifo(0);
        size = PORTS;
    }

    counter(PORTS, CounterType.packets_and_bytes) shared_conversation;

    apply {
        port_scheduler.apply();
        if (meta.schedule.discipline == Discipline.FLOW_WFQ) {
            bit<32> signature;
            if (hdr.ipv4.isValid()) {
                hash(signature, HashAlgorithm.crc32, 32w0,
                     { hdr.ipv4.source, hdr.ipv4.destination, meta.flow.protocol,
                       meta.flow.source_port, meta.flow.destination_port, meta.flow.tos },
                     32w0xffffffff);
            } else if (hdr.ipv6.isValid()) {
                hash(signature, HashAlgorithm.crc32, 32w0,
                     { hdr.ipv6.source, hdr.ipv6.destination, meta.flow.protocol,
                       meta.flow.source_port, meta.flow.destination_port, meta.flow.tos },
                     32w0xffffffff);
            } else {
                hash(signature, HashAlgorithm.crc32, 32w0,
                     { hdr.ethernet.source, hdr.ethernet.destination, hdr.ethernet.ethertype },
                     32w0xffffffff);
            }

            // The number of conversations is a power of two up to 4096, so both candidates have bits of their own.
            bit<32> mask = meta.schedule.conversations - 1;
            bit<32> first = meta.schedule.base + (signature & mask);
            bit<32> second = meta.schedule.base + ((signature >> 16) & mask);
            bit<32> first_owner;
            bit<32> second_owner;
            bit<32> first_queued;
            bit<32> second_queued;
            conversation_owner.read(first_owner, first);
            conversation_owner.read(second_owner, second);
            conversation_occupancy.read(first_queued, first);
            conversation_occupancy.read(second_queued, second);
            if (first_owner == signature) {
                meta.schedule.slot = first;
            } else if (second_owner == signature) {
                meta.schedule.slot = second;
            } else if (first_queued == 0) {
                meta.schedule.slot = first;
                conversation_owner.write(first, signature);
            } else if (second_queued == 0) {
                meta.schedule.slot = second;
                conversation_owner.write(second, signature);
            } else {
                meta.schedule.slot = first;
                shared_conversation.count((bit<32>)standard_metadata.egress_spec);
            }
        }
    }
}

#endif
