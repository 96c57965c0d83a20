// What the node's tests steer by the frame itself: its destination names the egress port (or group), its source the
// rank, and its type what egress does.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<8>  verdict;
    bit<24> unused;
    bit<16> port;
    bit<48> rank;
    bit<16> type;
}

struct tm_t {
    bit<64> rank;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    tm_t tm;
}

parser RankedParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control RankedVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control RankedIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        meta.tm.rank = (bit<64>)hdr.ethernet.rank;
        standard_metadata.egress_spec = (bit<9>)hdr.ethernet.port;
        if (hdr.ethernet.verdict == 1) {
            mark_to_drop(standard_metadata);
        } else if (hdr.ethernet.verdict == 2) {
            standard_metadata.mcast_grp = 1;
        }
    }
}

control RankedEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ethernet.type == 0xdead) {
            mark_to_drop(standard_metadata);
        } else {
            // The queue's metadata, where a test can read them.
            hdr.ethernet.verdict = (bit<8>)standard_metadata.enq_qdepth;
            hdr.ethernet.unused = (bit<24>)standard_metadata.deq_timedelta;
        }
    }
}

control RankedComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control RankedDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(RankedParser(), RankedVerifyChecksum(), RankedIngress(), RankedEgress(), RankedComputeChecksum(),
         RankedDeparser()) main;
