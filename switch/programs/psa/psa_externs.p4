// Counters, meters, registers, hashes with and without a range, an Internet checksum updated by subtraction, random numbers and digests.

#include <core.p4>
#include <bmv2/psa.p4>

header request_t {
    bit<8> cell;
    bit<8> argument;
}

header answer_t {
    bit<16> before;
    bit<8>  colour;
    bit<16> crc;
    bit<8>  bounded;
    bit<8>  random;
    bit<16> sum;
}

struct headers_t {
    request_t request;
    answer_t  answer;
}

struct metadata_t {}

struct report_t {
    PortId_t port;
    bit<8>   cell;
    bit<8>   argument;
}

#include "stages.p4i"

parser ExternsParser(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_parser_input_metadata_t input,
    in nothing_t resubmit,
    in nothing_t recirculate)
{
    state start {
        packet.extract(hdr.request);
        packet.extract(hdr.answer);
        transition accept;
    }
}

control ExternsIngress(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_input_metadata_t input,
    inout psa_ingress_output_metadata_t output)
{
    Counter<bit<64>, bit<8>>(4, PSA_CounterType_t.PACKETS_AND_BYTES) arrived;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) pace;
    Register<bit<16>, bit<8>>(4) last;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc;
    Random<bit<8>>(3, 5) dice;
    Digest<report_t>() report;

    apply {
        send_to_port(output, (PortId_t)1);
        arrived.count(hdr.request.cell);
        hdr.answer.before = last.read(hdr.request.cell);
        last.write(hdr.request.cell, hdr.answer.before + (bit<16>)hdr.request.argument);
        if (pace.execute(hdr.request.cell) == PSA_MeterColor_t.RED) {
            hdr.answer.colour = 0xee;
        } else {
            hdr.answer.colour = 0;
        }
        hdr.answer.crc = crc.get_hash({ hdr.request.cell, hdr.request.argument });
        hdr.answer.bounded = (bit<8>)crc.get_hash(16w0x40, { hdr.request.cell, hdr.request.argument }, 16w10);
        hdr.answer.random = dice.read();
        if (hdr.answer.random >= 3 && hdr.answer.random <= 5) {
            hdr.answer.random = 1;
        }
        // PSA packs in deparsers, where p4c-bm2-psa takes neither this nor a condition.
        if (hdr.request.argument == 0xd1) {
            report.pack({ input.ingress_port, hdr.request.cell, hdr.request.argument });
        }
    }
}

// As RFC 1624 updates a sum: the old value is left out, the new one taken in.
control ExternsIngressDeparser(
    packet_out packet,
    out nothing_t clone_i2e,
    out nothing_t resubmit,
    out nothing_t normal,
    inout headers_t hdr,
    in metadata_t meta,
    in psa_ingress_output_metadata_t output)
{
    InternetChecksum() checksum;

    apply {
        checksum.clear();
        checksum.subtract({ hdr.answer.sum, hdr.answer.before });
        checksum.add({ hdr.request.cell, hdr.request.argument });
        hdr.answer.sum = checksum.get();
        packet.emit(hdr);
    }
}

IngressPipeline(ExternsParser(), ExternsIngress(), ExternsIngressDeparser()) ingress;
EgressPipeline(NoEgressParser(), NoPsaEgress(), EgressEmitAll()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
