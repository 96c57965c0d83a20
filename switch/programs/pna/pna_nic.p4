// PNA, as bmv2/pna.p4 declares it: the port that a packet comes from and goes to, drops, classes of service, parser errors, a register, and an Internet checksum that the deparser updates.

#include <core.p4>
#include <bmv2/pna.p4>

header request_t {
    bit<8>  operation;
    bit<32> port;
}

header answer_t {
    bit<32> seen_by_parser;
    bit<32> seen_by_control;
    bit<8>  count;
    bit<16> sum;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {
    bit<32> port;
}

parser NicParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in pna_main_parser_input_metadata_t input)
{
    state start {
        meta.port = (bit<32>)(PortIdUint_t)input.input_port;
        packet.extract(hdr.request);
        packet.extract(hdr.answer);
        transition accept;
    }
}

control NicControl(
    inout headers_t hdr,
    inout metadata_t meta,
    in pna_main_input_metadata_t input,
    inout pna_main_output_metadata_t output)
{
    Register<bit<8>, bit<8>>(4) counted;

    action send(PortId_t port) {
        send_to_port(port);
    }

    action send_as_asked() {
        send_to_port((PortId_t)(PortIdUint_t)hdr.request.port);
    }

    action discard() {
        drop_packet();
    }

    // The later call decides.
    action send_and_discard() {
        send_to_port((PortId_t)1);
        drop_packet();
    }

    action discard_and_send() {
        drop_packet();
        send_to_port((PortId_t)1);
    }

    action urgent(PortId_t port) {
        output.class_of_service = (ClassOfService_t)2;
        send_to_port(port);
    }

    action nothing() {}

    table operations {
        key = {
            hdr.request.operation: exact;
        }
        actions = {
            send;
            send_as_asked;
            discard;
            send_and_discard;
            discard_and_send;
            urgent;
            nothing;
        }
        default_action = nothing();
        size = 16;
    }

    apply {
        if (input.parser_error != error.NoError) {
            send_to_port((PortId_t)7);
        } else {
            hdr.answer.seen_by_parser = meta.port;
            hdr.answer.seen_by_control = (bit<32>)(PortIdUint_t)input.input_port;
            hdr.answer.count = counted.read(hdr.request.operation) + 1;
            counted.write(hdr.request.operation, hdr.answer.count);
            operations.apply();
        }
    }
}

control NicDeparser(
    packet_out packet,
    inout headers_t hdr,
    in metadata_t meta,
    in pna_main_output_metadata_t output)
{
    InternetChecksum() checksum;

    apply {
        checksum.clear();
        checksum.add({ hdr.answer.seen_by_parser, hdr.request.port });
        hdr.answer.sum = checksum.get();
        packet.emit(hdr);
    }
}

PNA_NIC(NicParser(), NicControl(), NicDeparser()) main;
