// exit ends the whole control from wherever it stands, return only its own block; egress runs all the same.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8> operation;
    bit<8> trace;
    bit<8> egress_trace;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser ExitParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control Inner(inout request_t request) {
    apply {
        request.trace = request.trace | 0x02;
        if (request.operation == 1) {
            return;
        } else if (request.operation == 2) {
            exit;
        }
        request.trace = request.trace | 0x04;
    }
}

control ExitIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Inner() inner;

    action leave() {
        hdr.request.trace = hdr.request.trace | 0x20;
        exit;
    }

    action go_on() {
        hdr.request.trace = hdr.request.trace | 0x40;
    }

    table leaving {
        key = {
            hdr.request.operation: exact;
        }
        actions = {
            leave;
            go_on;
        }
        const entries = {
            3: leave();
        }
        const default_action = go_on();
    }

    apply {
        standard.egress_spec = 1;
        hdr.request.trace = hdr.request.trace | 0x01;
        inner.apply(hdr.request);
        hdr.request.trace = hdr.request.trace | 0x08;
        if (hdr.request.operation == 4) {
            return;
        }
        leaving.apply();
        hdr.request.trace = hdr.request.trace | 0x80;
    }
}

control ExitEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.request.egress_trace = 1;
        if (hdr.request.operation == 5) {
            exit;
        }
        hdr.request.egress_trace = 2;
    }
}

#include "stages.p4i"

V1Switch(ExitParser(), NoVerify(), ExitIngress(), ExitEgress(), NoUpdate(), EmitAll()) main;
