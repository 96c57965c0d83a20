/*
 * Stage wred: early drop or ECN mark on an average of the occupancy (RFC 7567, RFC 3168).
 *
 * Reserved: the table has no action yet, nothing is dropped early, and the controller refuses policies that ask for it.
 * It will read the occupancy that buffer.p4 keeps, so it stands after that stage.
 */
#ifndef PHB_WRED_P4
#define PHB_WRED_P4

#include "headers.p4"

control Wred(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    // Minimum, maximum, mark probability and average weight per class and drop precedence.
    table thresholds {
        key = {
            meta.schedule.profile       : exact @name("profile");
            meta.schedule.traffic_class : exact @name("traffic_class");
            meta.verdict.colour         : exact @name("colour");
        }
        actions = { NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    apply {
        thresholds.apply();
    }
}

#endif
