/*
 * Into the queue of the egress port: which one it is, whether it has room, and the packet's place there.
 */
#ifndef PHB_QUEUE_P4
#define PHB_QUEUE_P4

#include "headers.p4"
#include "conversation.p4"
#include "buffer.p4"
#include "wred.p4"
#include "schedule.p4"

control Queue(inout headers_t hdr,
              inout metadata_t meta,
              inout standard_metadata_t standard_metadata) {

    Conversation() conversation;
    Buffer() buffer;
    Wred() wred;
    Schedule() schedule;

    apply {
        conversation.apply(hdr, meta, standard_metadata);
        buffer.apply(hdr, meta, standard_metadata);
        if (meta.verdict.drop_reason != DropReason.NONE) {
            return;
        }
        wred.apply(hdr, meta, standard_metadata);
        if (meta.verdict.drop_reason != DropReason.NONE) {
            return;
        }
        schedule.apply(hdr, meta, standard_metadata);
    }
}

#endif
