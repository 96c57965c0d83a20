/*
 * Stage output: the policy of the egress port (RFC 2475 section 2.3.1, IOS `service-policy output`).
 *
 * Classifies a second time, after forward, by what input policies made of the packet. What it says of class and stream
 * counts from here on; the input policy keeps its counters.
 */
#ifndef PHB_OUTPUT_P4
#define PHB_OUTPUT_P4

#include "headers.p4"

control Output(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {

    action set_class(policy_t policy, stream_t stream, traffic_class_t traffic_class) {
        meta.verdict.output_policy = policy;
        meta.verdict.stream = stream;
        meta.verdict.traffic_class = traffic_class;
    }

    // A packet that a rule excepts and no later rule takes.
    action leave_unclassified() {}

    table multi_field_ipv4 {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            hdr.ipv4.source                : range    @name("source");
            hdr.ipv4.destination           : range    @name("destination");
            meta.flow.protocol             : optional @name("protocol");
            meta.flow.source_port          : range    @name("source_port");
            meta.flow.destination_port     : range    @name("destination_port");
            meta.flow.tos                  : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            meta.flow.pcp                  : ternary  @name("pcp");
            meta.flow.vlan                 : ternary  @name("vlan");
            meta.flow.flags_or_type        : ternary  @name("flags_or_type");
            meta.flow.qos_group            : ternary  @name("qos_group");
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table multi_field_ipv6 {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            hdr.ipv6.source                : ternary  @name("source");
            hdr.ipv6.destination           : ternary  @name("destination");
            meta.flow.protocol             : optional @name("protocol");
            meta.flow.source_port          : range    @name("source_port");
            meta.flow.destination_port     : range    @name("destination_port");
            meta.flow.tos                  : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            meta.flow.pcp                  : ternary  @name("pcp");
            meta.flow.vlan                 : ternary  @name("vlan");
            meta.flow.flags_or_type        : ternary  @name("flags_or_type");
            meta.flow.qos_group            : ternary  @name("qos_group");
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table behaviour_aggregate {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
            meta.flow.tos                  : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            meta.flow.pcp                  : ternary  @name("pcp");
            meta.flow.vlan                 : ternary  @name("vlan");
            meta.flow.qos_group            : ternary  @name("qos_group");
        }
        actions = { set_class; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    action allow() {}

    action block() {
        meta.verdict.drop_reason = DropReason.BLOCKED;
    }

    table permission {
        key = { meta.verdict.output_policy : exact @name("policy"); }
        actions = { allow; block; }
        default_action = allow();
        size = POLICIES;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            multi_field_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            multi_field_ipv6.apply();
        }
        if (meta.verdict.output_policy == 0) {
            behaviour_aggregate.apply();
        }
        if (meta.verdict.output_policy != 0) {
            permission.apply();
        }
    }
}

#endif
