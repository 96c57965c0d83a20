// What tests of the node's packet path steer by the frame itself: it says what is asked for in ingress and in egress,
// and how often. What egress has seen is written into the frame.
//
// p4c-bm2-ss steered.p4 -o steered.json
// p4c-bm2-ss -DRANKED steered.p4 -o steered_ranked.json

#include <core.p4>
#include <v1model.p4>

const bit<8> DROP = 1;
const bit<8> MULTICAST = 2;
const bit<8> CLONE = 4;
const bit<8> AGAIN = 8;
const bit<8> DIGEST = 16;

header steering_t {
    bit<8>  ingress; // what ingress asks for, up to `times` passes
    bit<8>  egress;  // what egress asks for, up to `times` passes
    bit<8>  times;
    bit<8>  priority;
    bit<16> port;
    bit<16> group;
    bit<16> session;
    bit<32> rank;
}

header seen_t {
    bit<8>  passes;
    bit<8>  instance_type;
    bit<16> egress_port;
    bit<16> egress_rid;
    bit<16> enq_qdepth;
    bit<16> deq_qdepth;
    bit<32> deq_timedelta;
}

struct headers_t {
    steering_t steering;
    seen_t seen;
}

#ifdef RANKED
struct tm_t {
    bit<64> rank;
}
#endif

struct metadata_t {
    @field_list(1)
    bit<8> passes;
#ifdef RANKED
    @field_list(1)
    tm_t tm;
#endif
}

struct message_t {
    bit<16> port;
    bit<32> rank;
}

parser SteeredParser(packet_in packet, out headers_t headers, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(headers.steering);
        packet.extract(headers.seen);
        transition accept;
    }
}

control SteeredVerify(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control SteeredIngress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    table known {
        key = {
            headers.steering.port: exact;
        }
        actions = {
            NoAction;
        }
        support_timeout = true;
    }

    apply {
        known.apply();
        standard_metadata.egress_spec = (bit<9>)headers.steering.port;
        standard_metadata.priority = (bit<3>)headers.steering.priority;
#ifdef RANKED
        meta.tm.rank = (bit<64>)headers.steering.rank;
#endif
        if (meta.passes < headers.steering.times) {
            meta.passes = meta.passes |+| 1;
            if (headers.steering.ingress & CLONE != 0) {
                clone_preserving_field_list(CloneType.I2E, (bit<32>)headers.steering.session, 1);
            }
            if (headers.steering.ingress & AGAIN != 0) {
                resubmit_preserving_field_list(1);
            }
            if (headers.steering.ingress & DIGEST != 0) {
                digest<message_t>(1, {headers.steering.port, headers.steering.rank});
            }
            if (headers.steering.ingress & MULTICAST != 0) {
                standard_metadata.mcast_grp = headers.steering.group;
            }
            if (headers.steering.ingress & DROP != 0) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control SteeredEgress(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        headers.seen.passes = meta.passes;
        headers.seen.instance_type = (bit<8>)standard_metadata.instance_type;
        headers.seen.egress_port = (bit<16>)standard_metadata.egress_port;
        headers.seen.egress_rid = standard_metadata.egress_rid;
        headers.seen.enq_qdepth = (bit<16>)standard_metadata.enq_qdepth;
        headers.seen.deq_qdepth = (bit<16>)standard_metadata.deq_qdepth;
        headers.seen.deq_timedelta = standard_metadata.deq_timedelta;
        if (meta.passes < headers.steering.times) {
            if (headers.steering.egress != 0) {
                meta.passes = meta.passes |+| 1;
            }
            if (headers.steering.egress & CLONE != 0) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)headers.steering.session, 1);
            }
            if (headers.steering.egress & AGAIN != 0) {
                recirculate_preserving_field_list(1);
            }
            if (headers.steering.egress & DROP != 0) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control SteeredUpdate(inout headers_t headers, inout metadata_t meta) {
    apply { }
}

control SteeredDeparser(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.steering);
        packet.emit(headers.seen);
    }
}

V1Switch(SteeredParser(), SteeredVerify(), SteeredIngress(), SteeredEgress(), SteeredUpdate(), SteeredDeparser()) main;
