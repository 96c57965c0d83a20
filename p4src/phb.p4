/*
 * phb: the whole per-hop behaviour of a DiffServ node.
 *
 *   ingress                                                                          egress
 *   parse > classify > admit > police > mark > forward > conversation >              (the scheduler takes a packet)
 *           buffer > wred > schedule --- rank ---> [traffic manager: sorts] --->     virtual time, occupancy, delay
 *
 * The program decides everything about a packet, including when it is due; the traffic manager sorts by meta.tm.rank
 * and knows no policy. One stage, one file, one control. docs/pipeline.md lists every table.
 */
#include "headers.p4"
#include "state.p4"
#include "parser.p4"
#include "classify.p4"
#include "admit.p4"
#include "police.p4"
#include "mark.p4"
#include "forward.p4"
#include "conversation.p4"
#include "buffer.p4"
#include "wred.p4"
#include "schedule.p4"
#include "egress.p4"
#include "deparser.p4"

control PhbIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {

    Classify() classify;
    Admit() admit;
    Police() police;
    Mark() mark;
    Forward() forward;
    Conversation() conversation;
    Buffer() buffer;
    Wred() wred;
    Schedule() schedule;

    // Indirect counters, because P4Runtime servers of bmv2 can read nothing else. Index: policy x 4 + colour, and
    // policy x 16 + drop reason.
    counter(4096, CounterType.packets_and_bytes) policy_traffic;
    counter(16384, CounterType.packets_and_bytes) policy_drops;

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            classify.apply(hdr, meta, standard_metadata);
            admit.apply(hdr, meta);
            if (meta.verdict.drop_reason == DropReason.NONE) {
                police.apply(hdr, meta);
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                mark.apply(hdr, meta);
                forward.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.verdict.drop_reason == DropReason.NONE && standard_metadata.egress_spec != CPU_PORT) {
            conversation.apply(hdr, meta, standard_metadata);
            buffer.apply(hdr, meta, standard_metadata);
            if (meta.verdict.drop_reason == DropReason.NONE) {
                wred.apply(hdr, meta, standard_metadata);
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                schedule.apply(hdr, meta, standard_metadata);
            }
        }
        policy_traffic.count((bit<32>)(meta.verdict.policy ++ meta.verdict.colour));
        if (meta.verdict.drop_reason != DropReason.NONE) {
            policy_drops.count((bit<32>)(meta.verdict.policy ++ meta.verdict.drop_reason));
            mark_to_drop(standard_metadata);
        }
    }
}

V1Switch(PhbParser(),
         PhbVerifyChecksum(),
         PhbIngress(),
         PhbEgress(),
         PhbComputeChecksum(),
         PhbDeparser()) main;
