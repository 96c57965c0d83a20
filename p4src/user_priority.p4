/*
 * Stage user_priority: the 802.1p priority of a tagged frame, by the port it leaves through and the packet's ToS
 * (IEEE 802.1Q, the Policy Agent's SetSubnetPrioTosMask).
 *
 * Comes after both marks, as an adapter's driver maps what the stack hands it: by the packet's final ToS, whatever
 * priority a policy set before. A ToS that nobody maps keeps the priority it has.
 */
#ifndef PHB_USER_PRIORITY_P4
#define PHB_USER_PRIORITY_P4

#include "headers.p4"

control UserPriority(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {

    action set_priority(bit<3> pcp) {
        hdr.vlan.pcp = pcp;
    }

    // Of a port with a map of its own, what that map leaves out.
    action keep() {}

    table map {
        key = {
            standard_metadata.egress_spec : optional @name("egress_port");
            meta.flow.tos                 : ternary  @name("tos");
        }
        actions = { set_priority; keep; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    apply {
        if (hdr.vlan.isValid() && (hdr.ipv4.isValid() || hdr.ipv6.isValid())) {
            map.apply();
        }
    }
}

#endif
