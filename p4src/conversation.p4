/*
 * Stage conversation: which scheduler the egress port runs, and which of its conversations the packet belongs to.
 *
 * Comes after forward (needs the port) and after mark (a remark changes the hash as it does on a router that marks
 * before it queues); buffer and schedule account by its result.
 */
#ifndef PHB_CONVERSATION_P4
#define PHB_CONVERSATION_P4

#include "headers.p4"

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

    apply {
        port_scheduler.apply();
        if (meta.schedule.discipline == Discipline.FLOW_WFQ) {
            if (hdr.ipv4.isValid()) {
                hash(meta.schedule.slot, HashAlgorithm.crc32, meta.schedule.base,
                     { hdr.ipv4.source, hdr.ipv4.destination, meta.flow.protocol,
                       meta.flow.source_port, meta.flow.destination_port, meta.flow.tos },
                     meta.schedule.conversations);
            } else if (hdr.ipv6.isValid()) {
                hash(meta.schedule.slot, HashAlgorithm.crc32, meta.schedule.base,
                     { hdr.ipv6.source, hdr.ipv6.destination, meta.flow.protocol,
                       meta.flow.source_port, meta.flow.destination_port, meta.flow.tos },
                     meta.schedule.conversations);
            } else {
                hash(meta.schedule.slot, HashAlgorithm.crc32, meta.schedule.base,
                     { hdr.ethernet.source, hdr.ethernet.destination, hdr.ethernet.ethertype },
                     meta.schedule.conversations);
            }
        }
    }
}

#endif
