// Entries that the program brings, of every match kind: what a client reads of them is p4c's own entries file.
#include <core.p4>
#include <v1model.p4>

header fields_t {
    bit<8>  ternary;
    bit<16> lpm;
    bit<1>  exact;
    bit<7>  optional;
}

struct headers_t {
    fields_t fields;
}

struct metadata_t { }

parser ConstantsParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.fields);
        transition accept;
    }
}

control ConstantsVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ConstantsIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table mixed {
        key = {
            hdr.fields.ternary : ternary;
            hdr.fields.lpm : lpm;
            hdr.fields.optional : optional;
            hdr.fields.isValid() : exact;
        }
        actions = { forward; NoAction; }
        const entries = {
            (1, 0x0a00 &&& 0xff00, _, true) : forward(1);
            (_, _, 3, true) : forward(2);
            (3 &&& 3, _, _, false) : NoAction();
        }
    }

    table ranges {
        key = {
            hdr.fields.ternary : range;
            hdr.fields.exact : exact;
        }
        actions = { forward; NoAction; }
        const entries = {
            (1..5, 1) : forward(1);
            (_, 0) : forward(2);
        }
        default_action = forward(3);
    }

    apply {
        mixed.apply();
        ranges.apply();
    }
}

control ConstantsEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control ConstantsComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ConstantsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.fields);
    }
}

V1Switch(ConstantsParser(), ConstantsVerifyChecksum(), ConstantsIngress(), ConstantsEgress(),
         ConstantsComputeChecksum(), ConstantsDeparser()) main;
