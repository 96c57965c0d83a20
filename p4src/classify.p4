/*
 * Stage classify: which policy, stream and class a packet belongs to (RFC 2475 section 2.3.1).
 *
 * Multi-field rules are asked first; a packet that none of them takes is classified by its behaviour aggregate.
 * Must come first: every later stage reads the verdict.
 */
#ifndef PHB_CLASSIFY_P4
#define PHB_CLASSIFY_P4

#include "headers.p4"

control Classify(inout headers_t hdr,
                 inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {

    action set_class(policy_t policy, stream_t stream, traffic_class_t traffic_class) {
        meta.verdict.policy = policy;
        meta.verdict.stream = stream;
        meta.verdict.traffic_class = traffic_class;
    }

    // A packet that a rule excepts and no later rule takes.
    action leave_unclassified() {}

    table multi_field_ipv4 {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
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
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table multi_field_ipv6 {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
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
        }
        actions = { set_class; leave_unclassified; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 65536;
    }

    table behaviour_aggregate {
        key = {
            meta.version                   : ternary  @name("version");
            standard_metadata.ingress_port : optional @name("ingress_port");
            meta.flow.tos                  : ternary  @name("tos");
            hdr.vlan.isValid()             : optional @name("tagged");
            meta.flow.pcp                  : ternary  @name("pcp");
            meta.flow.vlan                 : ternary  @name("vlan");
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
        if (meta.verdict.policy == 0) {
            behaviour_aggregate.apply();
        }
    }
}

#endif
