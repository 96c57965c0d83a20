/*
 * From the wire to the egress port: what the input policy makes of a packet, and where it goes.
 */
#ifndef PHB_INPUT_P4
#define PHB_INPUT_P4

#include "headers.p4"
#include "state.p4"
#include "segment.p4"
#include "classify.p4"
#include "admit.p4"
#include "police.p4"
#include "mark.p4"
#include "forward.p4"

control Input(inout headers_t hdr,
              inout metadata_t meta,
              inout standard_metadata_t standard_metadata) {

    DamagedSegment() damaged_segment;
    Classify() classify;
    Admit() admit;
    Police() police;
    Mark() mark;
    Forward() forward;

    apply {
        if (standard_metadata.checksum_error == 1 && hdr.tcp.isValid()) {
            damaged_segment.apply(hdr, meta, standard_metadata);
        }
        classify.apply(hdr, meta.version, meta.flow, standard_metadata,
                       meta.verdict.policy, meta.verdict.stream, meta.verdict.traffic_class);
        admit.apply(hdr, meta, standard_metadata);
        if (meta.verdict.drop_reason == DropReason.NONE) {
            police.apply(hdr, meta, standard_metadata, meta.verdict.policy);
        }
        // As the input policy sees it: a later meter may give another colour.
        policy_traffic.count((bit<32>)(meta.verdict.policy ++ meta.verdict.colour));
        if (meta.verdict.drop_reason != DropReason.NONE) {
            return;
        }
        mark.apply(hdr, meta.flow, meta.connection, meta.verdict.policy);
        forward.apply(hdr, meta, standard_metadata);
    }
}

#endif
