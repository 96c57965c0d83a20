// The operations of arithmetic.p4 on operands of 65 to 2048 bits.

#include <core.p4>
#include <v1model.p4>

#include "arithmetic.p4i"

OPERANDS(65, 6)
OPERANDS(128, 8)
OPERANDS(129, 6)
OPERANDS(2048, 8)

struct headers_t {
    request_t request;
    operands_65_t operands_65;
    operands_128_t operands_128;
    operands_129_t operands_129;
    operands_2048_t operands_2048;
}

parser ArithmeticParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.width) {
            65: width_65;
            128: width_128;
            129: width_129;
            2048: width_2048;
        }
    }

    state width_65 {
        packet.extract(hdr.operands_65);
        transition accept;
    }

    state width_128 {
        packet.extract(hdr.operands_128);
        transition accept;
    }

    state width_129 {
        packet.extract(hdr.operands_129);
        transition accept;
    }

    state width_2048 {
        packet.extract(hdr.operands_2048);
        transition accept;
    }
}

OPERATE(65)
OPERATE(128)
OPERATE(129)
OPERATE(2048)

control ArithmeticIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.operands_65.isValid()) {
            Operate65.apply(hdr.operands_65, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_128.isValid()) {
            Operate128.apply(hdr.operands_128, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_129.isValid()) {
            Operate129.apply(hdr.operands_129, hdr.request.operation, hdr.request.amount);
        } else if (hdr.operands_2048.isValid()) {
            Operate2048.apply(hdr.operands_2048, hdr.request.operation, hdr.request.amount);
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(ArithmeticParser(), NoVerify(), ArithmeticIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
