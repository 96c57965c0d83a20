// Copies of packets, and messages to the controller. The first byte says what the program asks for; the report that
// ingress or egress writes says what it saw.

#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8> what;
    bit<8> value;
}

header report_t {
    bit<8> where;
    bit<32> instance_type;
    bit<16> egress_rid;
    bit<16> ingress_port;
    bit<32> packet_length;
    bit<8> kept;
    bit<8> lost;
    bit<104> wide;
}

struct headers_t {
    report_t report;
    request_t request;
}

struct metadata_t {
    @field_list(1, 2)
    bit<8> kept;
    bit<8> lost;
    @field_list(2)
    bit<104> wide;
}

struct message_t {
    bit<9> port;
    bit<104> wide;
    bit<8> value;
}

parser CopiesParser(packet_in packet, out headers_t headers, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(headers.request);
        meta.lost = 9;
        transition accept;
    }
}

control CopiesVerify(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control CopiesIngress(inout headers_t headers, inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    action report() {
        headers.report.setValid();
        headers.report.where = 1;
        headers.report.instance_type = standard_metadata.instance_type;
        headers.report.ingress_port = (bit<16>)standard_metadata.ingress_port;
        headers.report.packet_length = standard_metadata.packet_length;
        headers.report.kept = meta.kept;
        headers.report.lost = meta.lost;
        headers.report.wide = meta.wide;
    }

    apply {
        standard_metadata.egress_spec = 2;
        if (standard_metadata.instance_type != 0) {
            report();
            exit;
        }
        meta.kept = 7;
        meta.lost = 8;
        meta.wide = 0x0102030405060708090a0b0c0d;
        headers.request.value = headers.request.value + 1;
        if (headers.request.what == 1) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        } else if (headers.request.what == 2) {
            resubmit_preserving_field_list(2);
        } else if (headers.request.what == 3) {
            standard_metadata.mcast_grp = 77;
            standard_metadata.priority = 3;
        } else if (headers.request.what == 4) {
            digest<message_t>(1, {standard_metadata.ingress_port, meta.wide, headers.request.value});
        } else if (headers.request.what == 5) {
            clone(CloneType.I2E, 6);
            mark_to_drop(standard_metadata);
        }
    }
}

control CopiesEgress(inout headers_t headers, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    apply {
        if (!headers.report.isValid()) {
            headers.report.setValid();
            headers.report.where = 2;
            headers.report.instance_type = standard_metadata.instance_type;
            headers.report.egress_rid = standard_metadata.egress_rid;
            headers.report.ingress_port = (bit<16>)standard_metadata.ingress_port;
            headers.report.packet_length = standard_metadata.packet_length;
            headers.report.kept = meta.kept;
            headers.report.lost = meta.lost;
            headers.report.wide = meta.wide;
            if (headers.request.what == 10 && standard_metadata.instance_type == 0) {
                clone_preserving_field_list(CloneType.E2E, 9, 2);
            } else if (headers.request.what == 11) {
                recirculate_preserving_field_list(1);
                headers.report.setInvalid();
                headers.request.what = 0;
            }
        }
    }
}

control CopiesUpdate(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control CopiesDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.report);
        packet.emit(headers.request);
    }
}

V1Switch(CopiesParser(), CopiesVerify(), CopiesIngress(), CopiesEgress(), CopiesUpdate(), CopiesDeparser()) main;
