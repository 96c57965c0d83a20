// A header stack, of which p4c-bm2-psa's artifact has only the elements, a key that p4c makes a mask of a field, and what a table has by PSA's names alone, which only the p4info knows.

#include <core.p4>
#include <bmv2/psa.p4>

header request_t {
    bit<16> kind;
}

header label_t {
    bit<7> value;
    bit<1> last;
}

struct headers_t {
    request_t  request;
    label_t[3] labels;
}

struct metadata_t {
    bit<8> kind;
}

#include "stages.p4i"

parser HeadersParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_parser_input_metadata_t input,
    in nothing_t resubmit,
    in nothing_t recirculate)
{
    state start {
        packet.extract(hdr.request);
        transition label;
    }

    state label {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) {
            0: label;
            default: accept;
        }
    }
}

control HeadersIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_input_metadata_t input,
    inout psa_ingress_output_metadata_t output)
{
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) per_kind;
    ActionProfile(4) unknown;

    action pop(PortId_t port) {
        per_kind.count();
        send_to_port(output, port);
        hdr.labels.pop_front(1);
    }

    action push(PortId_t port, bit<7> value) {
        per_kind.count();
        send_to_port(output, port);
        hdr.labels.push_front(1);
        hdr.labels[0].setValid();
        hdr.labels[0].value = value;
    }

    action mark() {
        hdr.request.kind = 0xffff;
    }

    table kinds {
        key = {
            meta.kind: exact;
        }
        actions = {
            pop;
            push;
            NoAction;
        }
        psa_direct_counter = per_kind;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
    }

    table left_out {
        key = {
            hdr.request.kind: exact;
        }
        actions = {
            mark;
            NoAction;
        }
        psa_implementation = unknown;
    }

    apply {
        meta.kind = hdr.request.kind[7:0];
        if (input.parser_error != error.NoError) {
            send_to_port(output, (PortId_t)9);
        } else {
            kinds.apply();
            left_out.apply();
        }
    }
}

IngressPipeline(HeadersParser(), HeadersIngress(), IngressEmitAll()) ingress;
EgressPipeline(NoEgressParser(), NoPsaEgress(), EgressEmitAll()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
