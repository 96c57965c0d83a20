/* Value sets, header unions and stacks of them, headers chosen by a condition, varbits compared, messages logged, and
   numbers of many words. */
#include <core.p4>
#include <v1model.p4>

header kind_t {
    bit<8>  kind;
    bit<16> key;
    bit<100> wide;
    bit<4>  rest;
}

header short_t {
    bit<8> value;
}

header long_t {
    bit<24> value;
}

header_union choice_t {
    short_t short;
    long_t  long;
}

header text_t {
    bit<8>      length;
    varbit<64>  text;
}

header big_t {
    bit<2048> number;
}

header report_t {
    bit<8> seen;
    bit<8> same;
    bit<32> chosen;
}

struct headers_t {
    report_t    report;
    kind_t      kind;
    choice_t    one;
    choice_t[3] many;
    text_t      left;
    text_t      right;
    big_t       big;
    big_t       result;
}

struct member_t {
    bit<16>  key;
    bit<100> wide;
}

struct metadata_t {
    bit<8> seen;
}

parser SetsParser(packet_in packet, out headers_t headers, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    value_set<bit<16>>(4) keys;
    value_set<member_t>(2) pairs;

    state start {
        packet.extract(headers.kind);
        transition select(headers.kind.kind) {
            0: sets;
            1: one_short;
            2: one_long;
            3: many;
            4: texts;
            5: big;
            default: accept;
        }
    }

    state sets {
        transition select(headers.kind.key) {
            keys: in_keys;
            default: ask_pairs;
        }
    }

    state ask_pairs {
        transition select(headers.kind.key, headers.kind.wide) {
            pairs: in_pairs;
            default: accept;
        }
    }

    state in_keys {
        meta.seen = 1;
        transition accept;
    }

    state in_pairs {
        meta.seen = 2;
        transition accept;
    }

    state one_short {
        packet.extract(headers.one.short);
        transition accept;
    }

    state one_long {
        packet.extract(headers.one.long);
        transition accept;
    }

    state many {
        packet.extract(headers.many.next.short);
        packet.extract(headers.many.next.long);
        packet.extract(headers.many.next.short);
        transition accept;
    }

    state texts {
        packet.extract(headers.left, (bit<32>)packet.lookahead<bit<8>>() << 3);
        packet.extract(headers.right, (bit<32>)packet.lookahead<bit<8>>() << 3);
        transition accept;
    }

    state big {
        packet.extract(headers.big);
        transition accept;
    }
}

control SetsVerify(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control SetsIngress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<2048>>(2) numbers;

    apply {
        standard_metadata.egress_spec = 1;
        headers.report.setValid();
        headers.report.seen = meta.seen;
        if (headers.one.short.isValid()) {
            headers.report.chosen = (bit<32>)headers.one.short.value;
            // Makes the other member invalid.
            headers.one.long.setValid();
            headers.one.long.value = 0x010203;
        } else if (headers.one.long.isValid()) {
            headers.report.chosen = (bit<32>)headers.one.long.value;
            headers.one.long.setInvalid();
        }
        if (headers.many[2].short.isValid()) {
            headers.report.chosen = (bit<32>)headers.many[1].long.value;
        }
        if (headers.left.isValid()) {
            if (headers.left.text == headers.right.text) {
                headers.report.same = 1;
            }
            headers.left.text = headers.right.text;
            headers.left.length = headers.right.length;
            log_msg("lengths {} and {}", {headers.left.length, headers.right.length});
        }
        if (headers.big.isValid()) {
            bit<2048> before;
            numbers.read(before, 1);
            numbers.write(1, headers.big.number);
            headers.result.setValid();
            headers.result.number = (headers.big.number * 3 + before) ^ (headers.big.number >> 65);
            if (headers.big.number > before) {
                headers.report.same = 2;
            }
            headers.report.chosen = headers.big.number[1040:1009];
        }
        assert(headers.report.isValid());
    }
}

control SetsEgress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control SetsUpdate(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control SetsDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.report);
        packet.emit(headers.kind);
        packet.emit(headers.one);
        packet.emit(headers.many);
        packet.emit(headers.left);
        packet.emit(headers.right);
        packet.emit(headers.result);
    }
}

V1Switch(SetsParser(), SetsVerify(), SetsIngress(), SetsEgress(), SetsUpdate(), SetsDeparser()) main;
