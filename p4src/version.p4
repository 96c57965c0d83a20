/*
 * Stage version: which version of the policies is in force.
 *
 * Comes first: every packet is stamped once, and all tables whose entries differ between versions match the stamp. One
 * write of the default action puts a whole new policy into force.
 */
#ifndef PHB_VERSION_P4
#define PHB_VERSION_P4

#include "headers.p4"

control Version(inout metadata_t meta) {

    // track_connections: whether some policy needs TCP connections counted or measured.
    action set_version(version_t version, bit<1> track_connections) {
        meta.version = version;
        meta.track_connections = track_connections;
    }

    table active {
        actions = { set_version; }
        default_action = set_version(0, 0);
    }

    apply {
        active.apply();
    }
}

#endif
