// What the server's tests load for what `router.p4` does not have: action profiles with and without selector, a direct
// meter, idle timeouts, a digest, multicast and clones.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<2> colour;
}

struct learned_t {
    bit<48> source;
    bit<9>  port;
}

parser FeaturesParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control FeaturesVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FeaturesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action_profile(4) next_hops;
    @max_group_size(8)
    action_selector(HashAlgorithm.crc16, 16, 16) paths;
    direct_meter<bit<2>>(MeterType.bytes) policer;
    register<bit<48>>(200000) large;
    register<bit<1>>(4) flags;

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action multicast(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

    action clone_to(bit<32> session) {
        clone(CloneType.I2E, session);
    }

    action learn() {
        digest<learned_t>(1, { hdr.ethernet.source, standard_metadata.ingress_port });
    }

    action police() {
        policer.read(meta.colour);
    }

    table known_sources {
        key = { hdr.ethernet.source : exact; }
        actions = { NoAction; learn; }
        const default_action = learn();
        support_timeout = true;
        size = 16;
    }

    table limits {
        key = { standard_metadata.ingress_port : exact; }
        actions = { police; NoAction; }
        default_action = NoAction();
        meters = policer;
        size = 16;
    }

    table mirrors {
        key = { standard_metadata.ingress_port : exact; }
        actions = { clone_to; NoAction; }
        default_action = NoAction();
    }

    table by_profile {
        key = { hdr.ethernet.type : exact; }
        actions = { forward; drop; NoAction; }
        default_action = NoAction();
        implementation = next_hops;
    }

    table by_selector {
        key = {
            hdr.ethernet.destination : exact;
            hdr.ethernet.source : selector;
        }
        actions = { forward; drop; NoAction; }
        default_action = NoAction();
        implementation = paths;
    }

    table switching {
        key = { hdr.ethernet.destination : exact; }
        actions = { forward; multicast; drop; }
        default_action = drop();
    }

    apply {
        known_sources.apply();
        limits.apply();
        if (meta.colour == 2) {
            drop();
            return;
        }
        mirrors.apply();
        large.write(0, hdr.ethernet.source);
        flags.write(0, 1);
        if (!by_profile.apply().hit && !by_selector.apply().hit) {
            switching.apply();
        }
    }
}

control FeaturesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control FeaturesComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FeaturesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FeaturesParser(), FeaturesVerifyChecksum(), FeaturesIngress(), FeaturesEgress(), FeaturesComputeChecksum(),
         FeaturesDeparser()) main;
