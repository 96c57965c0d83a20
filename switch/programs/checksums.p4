// Checksums verified and updated: the IPv4 header's under a condition, UDP's with pseudo header and payload, a CRC.

#include <core.p4>
#include <v1model.p4>

header ipv4_t {
    bit<4>  version;
    bit<4>  header_words;
    bit<8>  service;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  time_to_live;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

header crc_t {
    bit<16> data;
    bit<16> crc;
}

header answer_t {
    bit<8> error_seen;
}

struct headers_t {
    answer_t answer;
    ipv4_t   ipv4;
    udp_t    udp;
    crc_t    crc;
}

struct metadata_t {}

#define IPV4_FIELDS { \
        hdr.ipv4.version, \
        hdr.ipv4.header_words, \
        hdr.ipv4.service, \
        hdr.ipv4.total_length, \
        hdr.ipv4.identification, \
        hdr.ipv4.fragment, \
        hdr.ipv4.time_to_live, \
        hdr.ipv4.protocol, \
        hdr.ipv4.source, \
        hdr.ipv4.destination \
    }

#define UDP_FIELDS { \
        hdr.ipv4.source, \
        hdr.ipv4.destination, \
        8w0, \
        hdr.ipv4.protocol, \
        hdr.udp.length, \
        hdr.udp.source, \
        hdr.udp.destination, \
        hdr.udp.length \
    }

parser ChecksumParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            17: udp;
            254: crc;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }

    state crc {
        packet.extract(hdr.crc);
        transition accept;
    }
}

control ChecksumVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.service != 0xff, IPV4_FIELDS, hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0, UDP_FIELDS, hdr.udp.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.crc.isValid(), { hdr.crc.data }, hdr.crc.crc, HashAlgorithm.crc16);
    }
}

control ChecksumIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.answer.setValid();
        hdr.answer.error_seen = (bit<8>)standard.checksum_error;
        hdr.ipv4.time_to_live = hdr.ipv4.time_to_live - 1;
        hdr.ipv4.source = 0x0a0000fe;
        standard.egress_spec = 1;
    }
}

control ChecksumUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.service != 0xff, IPV4_FIELDS, hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0, UDP_FIELDS, hdr.udp.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.crc.isValid(), { hdr.crc.data }, hdr.crc.crc, HashAlgorithm.crc16);
    }
}

#include "stages.p4i"

V1Switch(ChecksumParser(), ChecksumVerify(), ChecksumIngress(), NoEgress(), ChecksumUpdate(), EmitAll()) main;
