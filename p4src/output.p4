/*
 * From the egress port to its queue: what the policy of that port makes of a packet (IOS `service-policy output`).
 */
#ifndef PHB_OUTPUT_P4
#define PHB_OUTPUT_P4

#include "headers.p4"
#include "state.p4"
#include "classify.p4"
#include "permission.p4"
#include "police.p4"
#include "mark.p4"
#include "user_priority.p4"
#include "allowance.p4"
#include "window.p4"
#include "applicability.p4"
#include "queue.p4"

control Output(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {

    Classify() output;
    @name(".PhbIngress.output") Permission() output_permission;
    Police() output_police;
    Mark() output_mark;
    UserPriority() user_priority;
    Allowance() allowance;
    Window() window;
    Applicability() applicability;
    @name(".PhbIngress") Queue() queue;

    apply {
        output.apply(hdr, meta.version, meta.flow, standard_metadata,
                     meta.verdict.output_policy, meta.verdict.stream, meta.verdict.traffic_class);
        if (meta.verdict.output_policy != 0) {
            output_permission.apply(meta.verdict.output_policy, meta.verdict);
            if (meta.verdict.drop_reason == DropReason.NONE) {
                output_police.apply(hdr, meta, standard_metadata, meta.verdict.output_policy);
            }
            policy_traffic.count((bit<32>)(meta.verdict.output_policy ++ meta.verdict.colour));
            if (meta.verdict.drop_reason != DropReason.NONE) {
                return;
            }
            output_mark.apply(hdr, meta.flow, meta.connection, meta.verdict.output_policy);
        }
        user_priority.apply(hdr, meta, standard_metadata);
        if (meta.connection.accepted) {
            allowance.apply(hdr, meta, standard_metadata);
            if (meta.verdict.drop_reason != DropReason.NONE) {
                return;
            }
            window.apply(hdr, meta, standard_metadata);
        }
        if (meta.track_connections == 1 && hdr.tcp.isValid()) {
            applicability.apply(hdr, meta, standard_metadata);
        }
        queue.apply(hdr, meta, standard_metadata);
    }
}

#endif
