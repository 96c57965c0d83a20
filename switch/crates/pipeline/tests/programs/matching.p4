/* Tables of every kind, const entries, direct counters, and what follows a hit, a miss or an action. */
#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<8>   what;
    bit<32>  address;
    bit<16>  port;
    bit<8>   tos;
    bit<128> wide;
}

header result_t {
    bit<8>   value;
    bit<8>   path;
    bit<128> data;
}

struct headers_t {
    key_t    key;
    result_t result;
}

struct metadata_t { }

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            0xff: accept;
            default: key;
        }
    }
    state key {
        packet.extract(hdr.key);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) exact_counter;

    action set(bit<8> value) { hdr.result.value = value; }
    action set_data(bit<128> data) { hdr.result.data = data; }
    action drop() { mark_to_drop(standard); }

    table exact_table {
        key = { hdr.key.isValid(): exact; hdr.key.address & 0xffffff: exact @name("address"); hdr.key.wide: exact; }
        actions = { set; set_data; drop; @defaultonly NoAction; }
        counters = exact_counter;
        size = 4;
    }
    table lpm_table {
        key = { hdr.key.address: lpm; hdr.key.tos: exact; }
        actions = { set; drop; }
        default_action = set(99);
    }
    table priority_table {
        key = {
            standard.ingress_port: optional;
            hdr.key.port: range;
            hdr.key.tos: ternary;
            hdr.key.wide: ternary;
        }
        actions = { set; set_data; drop; }
        const default_action = set(98);
    }
    table constant_table {
        key = { hdr.key.port: range; hdr.key.tos: ternary; }
        actions = { set; NoAction; }
        const entries = {
            (10 .. 20, 0x80 &&& 0x80): set(1);
            (15, _): set(2);
            (15 .. 30, _): set(3);
        }
    }

    apply {
        standard.egress_spec = 1;
        hdr.result.setValid();
        if (hdr.key.what == 5) {
            hdr.key.setInvalid();
        }
        if (hdr.key.what == 1 || !hdr.key.isValid()) {
            if (exact_table.apply().hit) { hdr.result.path = 1; } else { hdr.result.path = 2; }
        } else if (hdr.key.what == 2) {
            switch (lpm_table.apply().action_run) {
                set: { hdr.result.path = 3; }
                drop: { hdr.result.path = 4; exit; }
            }
        } else if (hdr.key.what == 3) {
            priority_table.apply();
        } else {
            if (constant_table.apply().miss) { hdr.result.path = 5; }
        }
        hdr.result.path = hdr.result.path | 0x80;
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.result.value == 77) {
            mark_to_drop(standard);
        }
    }
}
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.result); } }

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
