/* Parser features: selections of every kind, lookahead, header stacks, varbit, verify, advance, and every error. */
#include <core.p4>
#include <v1model.p4>

header start_t {
    bit<8> what;
}

header tag_t {
    bit<4>  more;
    bit<12> value;
    int<8>  change;
}

header options_t {
    bit<3>      odd;
    bit<5>      words;
    varbit<120> data;
    bit<8>      last;
}

header wide_t {
    bit<4>   high;
    bit<100> number;
    bit<160> key;
}

/* Tells the test what the parser saw. */
header report_t {
    bit<8>  error_code;
    bit<8>  tags;
    bit<8>  ahead;
    bit<16> last_value;
    bit<8>  change;
    bit<8>  path;
}

struct headers_t {
    report_t  report;
    start_t   start;
    tag_t[3]  tags;
    options_t options;
    wide_t    wide;
}

struct metadata_t {
    bit<8>  tags;
    bit<8>  ahead;
    bit<16> last_value;
    int<8>  change;
    bit<8>  path;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.start);
        transition select(hdr.start.what, packet.lookahead<bit<4>>()) {
            (0, _)         : accept;
            (1, _)         : tag;
            (2, 0xf)       : options_refused;
            (2, _)         : options;
            (3, _)         : wide;
            (0x40 &&& 0xf0, 1 &&& 1) : odd;
            (0x50 .. 0x57, _) : ranged;
            (6, _)         : skip;
            (7, _)         : forever;
        }
    }
    state tag {
        packet.extract(hdr.tags.next);
        meta.tags = meta.tags + 1;
        meta.last_value = (bit<16>)hdr.tags.last.value;
        meta.change = meta.change + hdr.tags.last.change;
        transition select(hdr.tags.last.more) {
            0: accept;
            default: tag;
        }
    }
    state options_refused {
        verify(false, error.NoMatch);
        transition options;
    }
    state options {
        meta.ahead = packet.lookahead<bit<8>>();
        verify(meta.ahead[4:0] != 31, error.HeaderTooShort);
        packet.extract(hdr.options, (bit<32>)meta.ahead[4:0] * 32 + (bit<32>)meta.ahead[7:7]);
        transition accept;
    }
    state wide {
        packet.extract(hdr.wide);
        transition select(hdr.wide.number) {
            0x123456789abcdef0123456789 : known;
            default: accept;
        }
    }
    state known {
        meta.path = 3;
        transition accept;
    }
    state odd {
        meta.path = 4;
        transition accept;
    }
    state ranged {
        meta.path = 5;
        transition accept;
    }
    state skip {
        bit<16> bits = packet.lookahead<bit<16>>();
        packet.advance((bit<32>)bits);
        meta.path = 6;
        meta.ahead = packet.lookahead<bit<8>>();
        transition accept;
    }
    state forever {
        meta.path = 7;
        transition select(meta.path) {
            8: accept;
            default: forever;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        hdr.report.setValid();
        if (standard.parser_error == error.NoError) { hdr.report.error_code = 0; }
        else if (standard.parser_error == error.PacketTooShort) { hdr.report.error_code = 1; }
        else if (standard.parser_error == error.NoMatch) { hdr.report.error_code = 2; }
        else if (standard.parser_error == error.StackOutOfBounds) { hdr.report.error_code = 3; }
        else if (standard.parser_error == error.HeaderTooShort) { hdr.report.error_code = 4; }
        else if (standard.parser_error == error.ParserTimeout) { hdr.report.error_code = 5; }
        else if (standard.parser_error == error.ParserInvalidArgument) { hdr.report.error_code = 6; }
        else { hdr.report.error_code = 255; }
        hdr.report.tags = meta.tags;
        hdr.report.ahead = meta.ahead;
        hdr.report.last_value = meta.last_value;
        hdr.report.change = (bit<8>)meta.change;
        hdr.report.path = meta.path;
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.start);
        packet.emit(hdr.tags);
        packet.emit(hdr.options);
        packet.emit(hdr.wide);
    }
}

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
