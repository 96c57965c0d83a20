// Arithmetic on operands of 1 to 64 bits: wrapping, saturating, signed, bitwise, shifts, comparisons.

#include <core.p4>
#include <v1model.p4>

#include "arithmetic.p4i"

OPERANDS(1, 6)
OPERANDS(9, 6)
OPERANDS(32, 8)
OPERANDS(33, 6)
OPERANDS(64, 8)

struct headers_t {
    request_t request;
    operands_1_t operands_1;
    operands_9_t operands_9;
    operands_32_t operands_32;
    operands_33_t operands_33;
    operands_64_t operands_64;
}

parser ArithmeticParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.width) {
            1: width_1;
            9: width_9;
            32: width_32;
            33: width_33;
            64: width_64;
        }
    }

    state width_1 {
        packet.extract(hdr.operands_1);
        transition accept;
    }

    state width_9 {
        packet.extract(hdr.operands_9);
        transition accept;
    }

    state width_32 {
        packet.extract(hdr.operands_32);
        transition accept;
    }

    state width_33 {
        packet.extract(hdr.operands_33);
        transition accept;
    }

    state width_64 {
        packet.extract(hdr.operands_64);
        transition accept;
    }
}

OPERATE(1)
OPERATE(9)
OPERATE(32)
OPERATE(33)
OPERATE(64)

control ArithmeticIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.operands_1.isValid()) {
            Operate1.apply(hdr.operands_1, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_9.isValid()) {
            Operate9.apply(hdr.operands_9, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_32.isValid()) {
            Operate32.apply(hdr.operands_32, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_33.isValid()) {
            Operate33.apply(hdr.operands_33, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_64.isValid()) {
            Operate64.apply(hdr.operands_64, hdr.request.operation, hdr.request.amount);
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ArithmeticParser(), NoVerify(), ArithmeticIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
