/*
 * Stage mark: DSCP, precedence or the whole ToS octet, and the 802.1p priority, under masks (RFC 2474, RFC 791,
 * IEEE 802.1Q), and the group that the output policy may ask for.
 *
 * Comes after police (a colour may decide the mark) and before schedule (precedence decides the weight). Stands twice in
 * the pipeline: for the input policy, and for that of the egress port.
 */
#ifndef PHB_MARK_P4
#define PHB_MARK_P4

#include "headers.p4"

// All that a mark can be at once, under masks. First the packet's 802.1p priority becomes its class selector or
// precedence, and its precedence the priority, each as it was before; then new bits; and a group.
action write_marks(inout flow_t flow, bit<8> value, bit<8> mask, bit<8> from_pcp,
                   bit<3> pcp_value, bit<3> pcp_mask, bit<3> from_precedence, bit<7> qos_group, bit<7> qos_group_mask) {
    bit<3> precedence = flow.tos[7:5];
    flow.tos = (flow.tos & ~from_pcp) | ((flow.pcp ++ 5w0) & from_pcp);
    flow.tos = (flow.tos & ~mask) | (value & mask);
    flow.pcp = (flow.pcp & ~from_precedence) | (precedence & from_precedence);
    flow.pcp = (flow.pcp & ~pcp_mask) | (pcp_value & pcp_mask);
    flow.qos_group = (flow.qos_group & ~qos_group_mask) | (qos_group & qos_group_mask);
}

control Mark(inout headers_t hdr, inout flow_t flow, inout connection_t connection, in policy_t policy) {

    // Bits outside the mask keep their value, so ECN (RFC 3168) survives a DSCP remark with mask 0xfc.
    action set_tos(bit<8> value, bit<8> mask) {
        flow.tos = (flow.tos & ~mask) | (value & mask);
    }

    action set_pcp(bit<3> value, bit<3> mask) {
        flow.pcp = (flow.pcp & ~mask) | (value & mask);
    }

    action set_tos_and_pcp(bit<8> value, bit<8> mask, bit<3> pcp_value, bit<3> pcp_mask) {
        set_tos(value, mask);
        set_pcp(pcp_value, pcp_mask);
    }

    action set_marks(bit<8> value, bit<8> mask, bit<8> from_pcp,
                     bit<3> pcp_value, bit<3> pcp_mask, bit<3> from_precedence, bit<7> qos_group, bit<7> qos_group_mask) {
        write_marks(flow, value, mask, from_pcp, pcp_value, pcp_mask, from_precedence, qos_group, qos_group_mask);
    }

    table remark {
        key = { policy : exact @name("policy"); }
        actions = { set_tos; set_pcp; set_tos_and_pcp; set_marks; @defaultonly NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    // Rates in payload bytes per 2^20 microseconds; 0 is none.
    action clamp(bit<36> maximum, bit<36> minimum) {
        connection.maximum = maximum;
        connection.minimum = minimum;
    }

    // `MaxRate` and `MinRate` of each TCP connection; window.p4 keeps them.
    table window_clamp {
        key = { policy : exact @name("policy"); }
        actions = { clamp; @defaultonly NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    apply {
        remark.apply();
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.tos = flow.tos;
        } else if (hdr.ipv6.isValid()) {
            hdr.ipv6.traffic_class = flow.tos;
        }
        // A frame without a tag has no priority to set.
        if (hdr.vlan.isValid()) {
            hdr.vlan.pcp = flow.pcp;
        } else {
            flow.pcp = 0;
        }
        if (connection.known) {
            window_clamp.apply();
        }
    }
}

#endif
