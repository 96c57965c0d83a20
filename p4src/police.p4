/*
 * Stage police: srTCM (RFC 2697) and trTCM (RFC 2698) per stream, and what happens to each colour.
 *
 * Both tables are reserved: they have no action yet, every packet stays green, and the controller refuses policies that
 * police. Single-rate and colour-aware metering will be built from registers, because v1model's meter is neither.
 */
#ifndef PHB_POLICE_P4
#define PHB_POLICE_P4

#include "headers.p4"

control Police(inout headers_t hdr, inout metadata_t meta) {

    // Rates and bursts of a stream.
    table stream_meter {
        key = { meta.verdict.stream : exact @name("stream"); }
        actions = { NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    // Transmit, remark or drop, by colour.
    table colour_action {
        key = {
            meta.verdict.policy : exact @name("policy");
            meta.verdict.colour : exact @name("colour");
        }
        actions = { NoAction; }
        const default_action = NoAction;
        size = 4096;
    }

    apply {
        stream_meter.apply();
        colour_action.apply();
    }
}

#endif
