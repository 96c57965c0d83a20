/*
 * Stage admit: may this traffic enter at all. Comes after classify, before anything spends tokens on the packet.
 */
#ifndef PHB_ADMIT_P4
#define PHB_ADMIT_P4

#include "headers.p4"

control Admit(inout headers_t hdr, inout metadata_t meta) {

    action allow() {}

    action block() {
        meta.verdict.drop_reason = DropReason.BLOCKED;
    }

    // `Permission Allowed|Blocked` of a Policy Agent rule.
    table permission {
        key = { meta.verdict.policy : exact @name("policy"); }
        actions = { allow; block; }
        default_action = allow();
        size = POLICIES;
    }

    // Reserved for the limit of concurrent TCP connections per policy (Policy Agent's MaxConnections). It has no
    // action yet: the controller compiles nothing to it and says so for policies that ask for it.
    table connection_limit {
        key = { meta.verdict.policy : exact @name("policy"); }
        actions = { NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    apply {
        permission.apply();
        connection_limit.apply();
    }
}

#endif
