// Shifts by amounts from the packet, concatenation, slices read and written, casts, sign extension, and a choice of values.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  operation;
    bit<8>  amount;
    bit<16> a;
    bit<16> b;
}

header answer_t {
    bit<32> value;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {}

parser BitsParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control BitsIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action answer(bit<32> value) {
        hdr.answer.setValid();
        hdr.answer.value = value;
    }

    apply {
        bit<16> a = hdr.request.a;
        bit<16> b = hdr.request.b;
        bit<32> slice = 0xffffffff;
        if (hdr.request.operation == 0) {
            answer(a ++ b);
        } else if (hdr.request.operation == 1) {
            answer(b[3:0] ++ a[15:4] ++ 16w0xabcd);
        } else if (hdr.request.operation == 2) {
            slice[19:4] = a;
            answer(slice);
        } else if (hdr.request.operation == 3) {
            slice[31:31] = a[0:0];
            slice[7:0] = b[15:8];
            answer(slice);
        } else if (hdr.request.operation == 4) {
            answer((bit<32>)a << hdr.request.amount);
        } else if (hdr.request.operation == 5) {
            answer((bit<32>)(a >> hdr.request.amount));
        } else if (hdr.request.operation == 6) {
            // Widened as a signed number, the highest bit fills.
            answer((bit<32>)(int<32>)(int<16>)a);
        } else if (hdr.request.operation == 7) {
            answer((bit<32>)((int<32>)(int<16>)a >> hdr.request.amount));
        } else if (hdr.request.operation == 8) {
            answer((bit<32>)(bit<5>)a);
        } else if (hdr.request.operation == 9) {
            answer(a < b ? (bit<32>)a : (bit<32>)b);
        } else if (hdr.request.operation == 10) {
            answer((a < b && a[0:0] == 1) || !(b > 5) ? 32w1 : 32w0);
        }
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(BitsParser(), NoVerify(), BitsIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
