/* The IPv4 header checksum with options, and a UDP checksum over pseudo-header and payload: verified and updated. */
#include <core.p4>
#include <v1model.p4>

header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      tos;
    bit<16>     length;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     checksum;
    bit<32>     source;
    bit<32>     destination;
    varbit<320> options;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
}

struct metadata_t { }

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        bit<8> first = packet.lookahead<bit<8>>();
        packet.extract(hdr.ipv4, ((bit<32>)first[3:0] - 5) * 32);
        transition select(hdr.ipv4.protocol) {
            17: udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

#define HEADER { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.length, hdr.ipv4.identification, \
    hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination, \
    hdr.ipv4.options }
#define SEGMENT { hdr.ipv4.source, hdr.ipv4.destination, 8w0, hdr.ipv4.protocol, hdr.udp.length, \
    hdr.udp.source_port, hdr.udp.destination_port, hdr.udp.length }

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), HEADER, hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0, SEGMENT, hdr.udp.checksum,
                                     HashAlgorithm.csum16);
    }
}

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        if (standard.checksum_error == 1) {
            mark_to_drop(standard);
        }
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.udp.destination_port = 53;
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), HEADER, hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.udp.isValid(), SEGMENT, hdr.udp.checksum, HashAlgorithm.csum16);
    }
}
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
