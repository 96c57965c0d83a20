// Registers of several widths: what one packet writes the next one reads; an index beyond the end writes nothing.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  operation;
    bit<8>  index;
    bit<64> value;
}

struct headers_t {
    request_t request;
}

struct metadata_t {}

parser RegistersParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control RegistersIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<64>>(4) wide;
    register<bit<9>>(4) narrow;
    register<bit<32>>(1) total;

    apply {
        bit<32> index = (bit<32>)hdr.request.index;
        bit<9> nine = 0;
        bit<32> sum = 0;
        if (hdr.request.operation == 0) {
            wide.read(hdr.request.value, index);
        } else if (hdr.request.operation == 1) {
            wide.write(index, hdr.request.value);
        } else if (hdr.request.operation == 2) {
            narrow.write(index, (bit<9>)hdr.request.value);
        } else if (hdr.request.operation == 3) {
            narrow.read(nine, index);
            hdr.request.value = (bit<64>)nine;
        } else if (hdr.request.operation == 4) {
            @atomic {
                total.read(sum, 0);
                sum = sum + (bit<32>)hdr.request.value;
                total.write(0, sum);
            }
            hdr.request.value = (bit<64>)sum;
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(RegistersParser(), NoVerify(), RegistersIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
