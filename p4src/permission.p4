/*
 * Whether a policy lets its packets through. Part of stage admit, and of the policy of the egress port.
 */
#ifndef PHB_PERMISSION_P4
#define PHB_PERMISSION_P4

#include "headers.p4"

control Permission(in policy_t policy, inout verdict_t verdict) {

    action allow() {}

    action block() {
        verdict.drop_reason = DropReason.BLOCKED;
    }

    // `Permission Allowed|Blocked` of a Policy Agent rule.
    table permission {
        key = { policy : exact @name("policy"); }
        actions = { allow; block; }
        default_action = allow();
        size = POLICIES;
    }

    apply {
        permission.apply();
    }
}

#endif
