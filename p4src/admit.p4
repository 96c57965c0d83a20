/*
 * Stage admit: may this traffic enter at all. Comes after classify, before anything spends tokens on the packet.
 */
#ifndef PHB_ADMIT_P4
#define PHB_ADMIT_P4

#include "headers.p4"
#include "permission.p4"
#include "connection.p4"

control Admit(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {

    @name(".PhbIngress.admit") Permission() permission;
    Connection() connection;
    policy_t limited_policy = 0;
    bit<32> maximum = 0;

    // policy: by which number the connections are counted; both directions of a rule have one.
    action limit_connections(policy_t policy, bit<32> maximum_connections) {
        limited_policy = policy;
        maximum = maximum_connections;
    }

    // `MaxConnections`: TCP connections of a policy that may exist at one time.
    table connection_limit {
        key = { meta.verdict.policy : exact @name("policy"); }
        actions = { limit_connections; @defaultonly NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    apply {
        permission.apply(meta.verdict.policy, meta.verdict);
        // With a damaged IPv4 header it goes no further than forward.
        if (meta.track_connections == 1 && hdr.tcp.isValid() && meta.verdict.drop_reason == DropReason.NONE
            && standard_metadata.checksum_error == 0) {
            if (hdr.tcp.flags & TCP_SYN != 0) {
                connection_limit.apply();
            }
            connection.apply(hdr, meta, standard_metadata, limited_policy, maximum);
        }
    }
}

#endif
