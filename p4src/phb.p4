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
 * and knows no policy. One stage, one file, one control; input, output and queue apply them, and return where a packet is
 * dropped. docs/inside/pipeline.md lists every table.
 */
#include "headers.p4"
#include "state.p4"
#include "parser.p4"
#include "version.p4"
#include "input.p4"
#include "output.p4"
#include "egress.p4"
#include "deparser.p4"

control PhbIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {

    Version() version;
    // Names of tables are those of the stages alone.
    @name(".PhbIngress") Input() input;
    @name(".PhbIngress") Output() output;

    apply {
        version.apply(meta);
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            input.apply(hdr, meta, standard_metadata);
        }
        if (meta.verdict.drop_reason == DropReason.NONE && standard_metadata.egress_spec != CPU_PORT) {
            output.apply(hdr, meta, standard_metadata);
        }
        if (meta.verdict.drop_reason != DropReason.NONE) {
            drops.count((bit<32>)(bit<5>)meta.verdict.drop_reason);
            class_drops.count((bit<32>)(meta.verdict.traffic_class ++ meta.verdict.drop_reason));
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
