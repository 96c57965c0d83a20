// Clones of ingress and egress, multicast, resubmit, recirculation, classes of service and drops: what each copy sees of itself in egress.

#include <core.p4>
#include <bmv2/psa.p4>

header request_t {
    bit<8>  operation;
    bit<8>  argument;
}

header answer_t {
    bit<8>  ingress_path;
    bit<8>  egress_path;
    bit<8>  class_of_service;
    bit<16> instance;
    bit<32> port;
}

struct headers_t {
    answer_t  answer;
    request_t request;
}

struct metadata_t {}

#include "stages.p4i"

parser PathsParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_parser_input_metadata_t input,
    in nothing_t resubmit,
    in nothing_t recirculate)
{
    state start {
        transition select(input.packet_path) {
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            default: request;
        }
    }

    // Comes with the answer that egress wrote in the round before.
    state recirculated {
        packet.extract(hdr.answer);
        transition request;
    }

    state request {
        packet.extract(hdr.request);
        transition accept;
    }
}

control PathsIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_input_metadata_t input,
    inout psa_ingress_output_metadata_t output)
{
    action forward() {
        send_to_port(output, (PortId_t)1);
    }

    action clone() {
        send_to_port(output, (PortId_t)1);
        output.clone = true;
        output.clone_session_id = (CloneSessionId_t)5;
    }

    // A clone is made all the same.
    action clone_and_drop() {
        ingress_drop(output);
        output.clone = true;
        output.clone_session_id = (CloneSessionId_t)(CloneSessionIdUint_t)(bit<16>)hdr.request.argument;
    }

    action to_group() {
        multicast(output, (MulticastGroup_t)(MulticastGroupUint_t)(bit<32>)hdr.request.argument);
        output.class_of_service = (ClassOfService_t)3;
    }

    action resubmit() {
        send_to_port(output, (PortId_t)1);
        output.resubmit = true;
    }

    action recirculate() {
        send_to_port(output, PSA_PORT_RECIRCULATE);
    }

    action nothing() {}

    table operations {
        key = {
            hdr.request.operation: exact;
        }
        actions = {
            forward;
            clone;
            clone_and_drop;
            to_group;
            resubmit;
            recirculate;
            nothing;
        }
        const default_action = nothing();
        const entries = {
            0: forward();
            1: clone();
            2: clone_and_drop();
            3: to_group();
            4: resubmit();
            5: recirculate();
            6: forward();
            7: forward();
        }
    }

    apply {
        hdr.answer.setValid();
        if (input.packet_path == PSA_PacketPath_t.NORMAL) {
            operations.apply();
        } else {
            send_to_port(output, (PortId_t)2);
            if (input.packet_path == PSA_PacketPath_t.RESUBMIT) {
                hdr.answer.ingress_path = 0x5b;
            } else if (input.packet_path == PSA_PacketPath_t.RECIRCULATE) {
                hdr.answer.ingress_path = 0x5c;
            }
        }
    }
}

// A clone of ingress is the frame as it arrived: it has no answer yet.
parser PathsEgressParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_egress_parser_input_metadata_t input,
    in nothing_t normal,
    in nothing_t clone_i2e,
    in nothing_t clone_e2e)
{
    state start {
        transition select(input.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: request;
            default: answer;
        }
    }

    state answer {
        packet.extract(hdr.answer);
        transition request;
    }

    state request {
        packet.extract(hdr.request);
        transition accept;
    }
}

control PathsEgress(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_egress_input_metadata_t input,
    inout psa_egress_output_metadata_t output)
{
    apply {
        if (!hdr.answer.isValid()) {
            hdr.answer.setValid();
            hdr.answer.ingress_path = 0xcc;
        }
        if (input.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.answer.egress_path = 1;
        } else if (input.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.answer.egress_path = 2;
        } else if (input.packet_path == PSA_PacketPath_t.CLONE_I2E) {
            hdr.answer.egress_path = 3;
        } else {
            hdr.answer.egress_path = 4;
        }
        hdr.answer.class_of_service = (bit<8>)(ClassOfServiceUint_t)input.class_of_service;
        hdr.answer.instance = (bit<16>)(EgressInstanceUint_t)input.instance;
        hdr.answer.port = (bit<32>)(PortIdUint_t)input.egress_port;
        if (input.packet_path == PSA_PacketPath_t.NORMAL_UNICAST && hdr.request.operation == 6) {
            output.clone = true;
            output.clone_session_id = (CloneSessionId_t)5;
        }
        if (hdr.request.operation == 7) {
            egress_drop(output);
        }
    }
}

IngressPipeline(PathsParser(), PathsIngress(), IngressEmitAll()) ingress;
EgressPipeline(PathsEgressParser(), PathsEgress(), EgressEmitAll()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
