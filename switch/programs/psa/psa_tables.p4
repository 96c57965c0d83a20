// Tables with action profile, action selector, direct counter and idle timeout, each named twice: p4c-bm2-psa reads v1model's names of properties for the artifact, PSA's for the p4info.

#include <core.p4>
#include <bmv2/psa.p4>

header request_t {
    bit<8>  kind;
    bit<32> address;
    bit<16> flow;
    bit<8>  answer;
    bit<8>  chosen;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

#include "stages.p4i"

parser TablesParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_parser_input_metadata_t input,
    in nothing_t resubmit,
    in nothing_t recirculate)
{
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control TablesIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_input_metadata_t input,
    inout psa_ingress_output_metadata_t output)
{
    DirectCounter<bit<64>>(PSA_CounterType_t.PACKETS_AND_BYTES) per_route;
    ActionProfile(16) answers;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 32, 8) choices;

    action route(PortId_t port) {
        per_route.count();
        send_to_port(output, port);
    }

    action discard() {
        per_route.count();
        ingress_drop(output);
    }

    action answer(bit<8> value) {
        hdr.request.answer = value;
    }

    action choose(bit<8> value) {
        hdr.request.chosen = value;
    }

    table routes {
        key = {
            hdr.request.address: lpm;
        }
        actions = {
            route;
            discard;
        }
        default_action = discard();
        psa_direct_counter = per_route;
        counters = per_route;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
        support_timeout = true;
        size = 64;
    }

    table by_member {
        key = {
            hdr.request.kind: exact;
        }
        actions = {
            answer;
            NoAction;
        }
        psa_implementation = answers;
        implementation = answers;
        size = 16;
    }

    table by_flow {
        key = {
            hdr.request.kind: exact;
            hdr.request.flow: selector;
        }
        actions = {
            choose;
            NoAction;
        }
        psa_implementation = choices;
        implementation = choices;
        size = 16;
    }

    apply {
        routes.apply();
        by_member.apply();
        by_flow.apply();
    }
}

IngressPipeline(TablesParser(), TablesIngress(), IngressEmitAll()) ingress;
EgressPipeline(NoEgressParser(), NoPsaEgress(), EgressEmitAll()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
