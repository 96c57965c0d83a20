// Clones from ingress and egress with and without metadata, multicast, resubmit and recirculate: what each copy sees of itself.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8> operation;
    bit<8> argument;
}

header answer_t {
    bit<8> ingress_type;
    bit<8> egress_type;
    bit<8> egress_rid;
    bit<8> port;
    bit<8> kept;
    bit<8> lost;
    bit<8> rounds;
}

struct headers_t {
    answer_t  answer;
    request_t request;
}

struct metadata_t {
    @field_list(1, 2)
    bit<8> kept;
    bit<8> lost;
    @field_list(2)
    bit<8> rounds;
    bit<8> ingress_type;
}

parser ReplicationParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type) {
            4: recirculated;
            default: request;
        }
    }

    // Comes with the answer that the deparser wrote in the round before.
    state recirculated {
        packet.extract(hdr.answer);
        transition request;
    }

    state request {
        packet.extract(hdr.request);
        transition accept;
    }
}

control ReplicationIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        meta.ingress_type = (bit<8>)standard.instance_type;
        if (standard.instance_type == 0) {
            meta.kept = 0x11;
            meta.lost = 0x22;
        }
        meta.rounds = meta.rounds + 1;
        if (hdr.request.operation == 1) {
            clone(CloneType.I2E, 5);
        } else if (hdr.request.operation == 2) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        } else if (hdr.request.operation == 3) {
            clone_preserving_field_list(CloneType.I2E, 6, 1);
            mark_to_drop(standard);
        } else if (hdr.request.operation == 4) {
            standard.mcast_grp = (bit<16>)hdr.request.argument;
        } else if (hdr.request.operation == 5 && standard.instance_type == 0) {
            // The value at the end of ingress is kept, not the one at the call.
            resubmit_preserving_field_list(2);
            meta.kept = 0x33;
        } else if (hdr.request.operation == 6 && meta.rounds < 4) {
            resubmit_preserving_field_list(2);
        } else if (hdr.request.operation == 12) {
            clone_preserving_field_list(CloneType.I2E, 77, 1);
        }
        // A clone is of the packet as it came, so that it doesn't see this.
        hdr.request.argument = hdr.request.argument + 1;
    }
}

control ReplicationEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.ingress_type = meta.ingress_type;
        hdr.answer.egress_type = (bit<8>)standard.instance_type;
        hdr.answer.egress_rid = (bit<8>)standard.egress_rid;
        hdr.answer.port = (bit<8>)standard.egress_port;
        hdr.answer.kept = meta.kept;
        hdr.answer.lost = meta.lost;
        hdr.answer.rounds = meta.rounds;
        if (hdr.request.operation == 7 && standard.instance_type == 0) {
            clone(CloneType.E2E, 5);
        } else if (hdr.request.operation == 8 && standard.instance_type == 0) {
            clone_preserving_field_list(CloneType.E2E, 6, 2);
            mark_to_drop(standard);
        } else if (hdr.request.operation == 9 && meta.rounds < 3) {
            recirculate_preserving_field_list(2);
        } else if (hdr.request.operation == 10 && meta.ingress_type == 0) {
            recirculate_preserving_field_list(1);
        } else if (hdr.request.operation == 11) {
            mark_to_drop(standard);
        }
    }
}

#include "stages.p4i"

V1Switch(ReplicationParser(), NoVerify(), ReplicationIngress(), ReplicationEgress(), NoUpdate(), EmitAll()) main;
