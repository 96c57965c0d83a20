/*
 * phb: the whole per-hop behaviour of a DiffServ node.
 *
 *   ingress                                                                          egress
 *   parse > version > classify > admit > police > mark > forward > output >          (the scheduler takes a packet)
 *           police > mark > user_priority > allowance > window > applicability >
 *           conversation > buffer > wred > schedule
 *                                   --- rank ---> [traffic manager: sorts] --->      virtual time, occupancy, delay
 *
 * The program decides everything about a packet, including when it is due; the traffic manager sorts by meta.tm.rank
 * and knows no policy. One stage, one file, one control. docs/pipeline.md lists every table.
 */
#include "headers.p4"
#include "state.p4"
#include "parser.p4"
#include "version.p4"
#include "classify.p4"
#include "admit.p4"
#include "police.p4"
#include "mark.p4"
#include "forward.p4"
#include "output.p4"
#include "user_priority.p4"
#include "segment.p4"
#include "window.p4"
#include "allowance.p4"
#include "applicability.p4"
#include "conversation.p4"
#include "buffer.p4"
#include "wred.p4"
#include "schedule.p4"
#include "egress.p4"
#include "deparser.p4"

control PhbIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {

    Version() version;
    DamagedSegment() damaged_segment;
    Classify() classify;
    Admit() admit;
    Police() police;
    Mark() mark;
    Forward() forward;
    Output() output;
    Police() output_police;
    Mark() output_mark;
    UserPriority() user_priority;
    Allowance() allowance;
    Window() window;
    Applicability() applicability;
    Conversation() conversation;
    Buffer() buffer;
    Wred() wred;
    Schedule() schedule;

    // Index: policy x 4 + colour; a packet of an output policy counts for that one too.
    counter(POLICIES << 2, CounterType.packets_and_bytes) policy_traffic;

    apply {
        version.apply(meta);
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            if (standard_metadata.checksum_error == 1 && hdr.tcp.isValid()) {
                damaged_segment.apply(hdr, meta, standard_metadata);
            }
            classify.apply(hdr, meta, standard_metadata);
            admit.apply(hdr, meta, standard_metadata);
            if (meta.verdict.drop_reason == DropReason.NONE) {
                police.apply(hdr, meta, standard_metadata, meta.verdict.policy);
            }
            // As the input policy sees it: a later meter may give another colour.
            policy_traffic.count((bit<32>)(meta.verdict.policy ++ meta.verdict.colour));
            if (meta.verdict.drop_reason == DropReason.NONE) {
                mark.apply(hdr, meta.flow, meta.connection, meta.verdict.policy);
                forward.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.verdict.drop_reason == DropReason.NONE && standard_metadata.egress_spec != CPU_PORT) {
            output.apply(hdr, meta, standard_metadata);
            if (meta.verdict.output_policy != 0) {
                if (meta.verdict.drop_reason == DropReason.NONE) {
                    output_police.apply(hdr, meta, standard_metadata, meta.verdict.output_policy);
                }
                policy_traffic.count((bit<32>)(meta.verdict.output_policy ++ meta.verdict.colour));
                if (meta.verdict.drop_reason == DropReason.NONE) {
                    output_mark.apply(hdr, meta.flow, meta.connection, meta.verdict.output_policy);
                }
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                user_priority.apply(hdr, meta, standard_metadata);
            }
            if (meta.connection.accepted && meta.verdict.drop_reason == DropReason.NONE) {
                allowance.apply(hdr, meta, standard_metadata);
            }
            if (meta.connection.accepted && meta.verdict.drop_reason == DropReason.NONE) {
                window.apply(hdr, meta, standard_metadata);
            }
            if (meta.track_connections == 1 && hdr.tcp.isValid() && meta.verdict.drop_reason == DropReason.NONE) {
                applicability.apply(hdr, meta, standard_metadata);
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                conversation.apply(hdr, meta, standard_metadata);
                buffer.apply(hdr, meta, standard_metadata);
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                wred.apply(hdr, meta, standard_metadata);
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                schedule.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.verdict.drop_reason != DropReason.NONE) {
            drops.count((bit<32>)(bit<5>)meta.verdict.drop_reason);
            policy_drops.count((bit<32>)(meta.verdict.policy ++ meta.verdict.drop_reason));
            if (meta.verdict.output_policy != 0) {
                policy_drops.count((bit<32>)(meta.verdict.output_policy ++ meta.verdict.drop_reason));
            }
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
