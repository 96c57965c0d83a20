/* Every operator of integers and booleans, on operands from the packet. */
#include <core.p4>
#include <v1model.p4>

header operands_t {
    bit<32>  a;
    bit<32>  b;
    int<16>  c;
    int<16>  d;
    bit<128> e;
    bit<128> f;
    bit<64>  g;
    bit<64>  h;
}

header results_t {
    bit<32>  sum;
    bit<32>  difference;
    bit<32>  product;
    bit<32>  saturated_sum;
    bit<32>  saturated_difference;
    bit<32>  inverted;
    bit<32>  negative;
    bit<32>  left;
    bit<32>  right;
    bit<32>  mixed;
    int<16>  signed_sum;
    int<16>  signed_saturated_sum;
    int<16>  signed_saturated_difference;
    int<16>  signed_right;
    bit<16>  widened;
    bit<32>  slices;
    bit<128> wide_sum;
    bit<128> wide_shifted;
    bit<64>  long_saturated;
    bit<64>  long_product;
    bit<64>  long_left;
    bit<64>  long_right;
    bit<128> wide_left;
    int<16>  signed_far_right;
    bit<8>   flags;
    bit<16>  chosen;
}

struct headers_t {
    operands_t operands;
    results_t  results;
}

struct metadata_t {
    bool greater;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.operands);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        bit<32> a = hdr.operands.a;
        bit<32> b = hdr.operands.b;
        int<16> c = hdr.operands.c;
        int<16> d = hdr.operands.d;
        hdr.results.setValid();
        hdr.results.sum = a + b;
        hdr.results.difference = a - b;
        hdr.results.product = a * b;
        hdr.results.saturated_sum = a |+| b;
        hdr.results.saturated_difference = a |-| b;
        hdr.results.inverted = ~a;
        hdr.results.negative = -a;
        hdr.results.left = a << b[5:0];
        hdr.results.right = a >> b[5:0];
        hdr.results.mixed = (a & b) ^ (a | 0xff00);
        hdr.results.signed_sum = c + d;
        hdr.results.signed_saturated_sum = c |+| d;
        hdr.results.signed_saturated_difference = c |-| d;
        hdr.results.signed_right = c >> 3;
        hdr.results.widened = (bit<16>)(int<16>)(int<8>)a[7:0];
        hdr.results.slices = a[7:0] ++ b[31:16] ++ a[31:24];
        hdr.results.wide_sum = hdr.operands.e + hdr.operands.f;
        hdr.results.wide_shifted = (hdr.operands.e >> 60) ^ (hdr.operands.f << 3);
        hdr.results.long_saturated = hdr.operands.g |+| hdr.operands.h;
        hdr.results.long_product = hdr.operands.g * hdr.operands.h;
        hdr.results.long_left = hdr.operands.g << a[7:0];
        hdr.results.long_right = hdr.operands.g >> a[7:0];
        hdr.results.wide_left = hdr.operands.e << a[7:0];
        hdr.results.signed_far_right = c >> a[7:0];
        meta.greater = a > b;
        if (a < b) { hdr.results.flags = hdr.results.flags | 1; }
        if (a <= b) { hdr.results.flags = hdr.results.flags | 2; }
        if (c < d) { hdr.results.flags = hdr.results.flags | 4; }
        if (c >= -5 && !(d == 7)) { hdr.results.flags = hdr.results.flags | 8; }
        if (hdr.operands.e > hdr.operands.f) { hdr.results.flags = hdr.results.flags | 16; }
        if (meta.greater == (c > d)) { hdr.results.flags = hdr.results.flags | 32; }
        if (hdr.operands.g >= hdr.operands.h || a != b) { hdr.results.flags = hdr.results.flags | 64; }
        hdr.results.chosen = meta.greater ? (bit<16>)c : (c < 0 ? 16w1 : 16w2);
        hdr.operands.setInvalid();
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.operands);
        packet.emit(hdr.results);
    }
}

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
