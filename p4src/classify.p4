/*
 * Stages classify and output: which policy, stream and class a packet belongs to (RFC 2475 section 2.3.1).
 *
 * Multi-field rules are asked first; a packet that none of them takes is classified by its behaviour aggregate.
 *
 * Stands twice in the pipeline: first of all stages for the input policy, and after forward for the policy of the egress
 * port (IOS `service-policy output`), by what the input policy made of the packet. What that says of class and stream
 * counts from there on; the input policy keeps its counters. Before forward no packet has an egress port or a QoS group.
 */
#ifndef PHB_CLASSIFY_P4
#define PHB_CLASSIFY_P4

#include "headers.p4"

control Classify(in headers_t hdr,
                 in version_t version,
                 in flow_t flow,
                 in standard_metadata_t standard_metadata,
                 inout policy_t chosen,
                 inout stream_t chosen_stream,
                 inout traffic_class_t chosen_class) {

    action set_class(policy_t policy, stream_t stream, traffic_class_t traffic_class) {
        chosen = policy;
        chosen_stream = stream;
        chosen_class = traffic_class;
    }

    // A packet that a rule excepts and no later rule takes.
    action leave_unclassified() {}

    table multi_field_ipv4 {
        key = {
            version                        : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            hdr.ipv4.source                : range    @name("source");
            hdr.ipv4.destination           : range    @name("destination");
            flow.protocol                  : optional @name("protocol");
            flow.source_port               : range    @name("source_port");
            flow.destination_port          : range    @name("destination_port");
            flow.tos                       : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            flow.pcp                       : ternary  @name("pcp");
            flow.vlan                      : ternary  @name("vlan");
            flow.flags_or_type             : ternary  @name("flags_or_type");
            flow.qos_group                 : ternary  @name("qos_group");
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table multi_field_ipv6 {
        key = {
            version                        : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            hdr.ipv6.source                : ternary  @name("source");
            hdr.ipv6.destination           : ternary  @name("destination");
            flow.protocol                  : optional @name("protocol");
            flow.source_port               : range    @name("source_port");
            flow.destination_port          : range    @name("destination_port");
            flow.tos                       : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            flow.pcp                       : ternary  @name("pcp");
            flow.vlan                      : ternary  @name("vlan");
            flow.flags_or_type             : ternary  @name("flags_or_type");
            flow.qos_group                 : ternary  @name("qos_group");
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table behaviour_aggregate {
        key = {
            version                        : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            flow.tos                       : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            flow.pcp                       : ternary  @name("pcp");
            flow.vlan                      : ternary  @name("vlan");
            flow.qos_group                 : ternary  @name("qos_group");
        }
        actions = { set_class; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            multi_field_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            multi_field_ipv6.apply();
        }
        if (chosen == 0) {
            behaviour_aggregate.apply();
        }
    }
}

#endif
