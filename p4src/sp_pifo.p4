/*
 * SP-PIFO (Alcoz, Dietmueller, Vanbever, NSDI 2020): ranks on strict-priority queues, for targets that have no PIFO.
 *
 * Each queue has a bound, the smallest rank it takes. A packet goes to the first queue, from the lowest priority up, whose
 * bound its rank reaches, and raises that bound to its rank (push-up): what comes with a smaller rank finds a higher queue.
 * If it is below the bound of the highest queue as well, it joins that queue, behind packets with larger ranks; then all
 * bounds are lowered by what it missed (push-down). The order is that of a PIFO as far as the bounds fit the ranks that
 * come; docs/inside/scheduling.md has how far.
 *
 * Part of stage schedule, for the packets of one level: those of strict levels have queues of their own, which are exact.
 */
#ifndef PHB_SP_PIFO_P4
#define PHB_SP_PIFO_P4

#include "headers.p4"
#include "state.p4"

control SpPifo(inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {

    bit<4> count = 0;            // 0: the port's queues are not for ranks
    bit<3> queue = 0;            // as standard_metadata.priority: 0 is served last
    bit<64> bound = 0;

    // count: how many of the eight queues the packets of the level have, from the lowest up.
    action use_queues(bit<4> queues) {
        count = queues;
    }

    table map_ranks {
        key = {
            meta.schedule.profile : exact @name("profile");
            meta.schedule.level   : exact @name("level");
        }
        actions = { use_queues; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    action try_queue(bit<3> number) {
        queue = number;
        queue_bound.read(bound, (bit<32>)(standard_metadata.egress_spec ++ number));
    }

    action set_bound(bit<3> number, bit<64> value) {
        queue_bound.write((bit<32>)(standard_metadata.egress_spec ++ number), value);
    }

    action lower_bound(bit<3> number, bit<64> cost) {
        bit<64> value;
        queue_bound.read(value, (bit<32>)(standard_metadata.egress_spec ++ number));
        queue_bound.write((bit<32>)(standard_metadata.egress_spec ++ number), value |-| cost);
    }

    apply {
        map_ranks.apply();
        if (count != 0) {
            // Tags start anew at 0 when the port is empty. Bounds of the time before would be far above them: all packets
            // would join the highest queue until push-downs have brought the bounds down to the new tags.
            if (meta.schedule.port_queued == 0) {
                set_bound(0, 0);
                set_bound(1, 0);
                set_bound(2, 0);
                set_bound(3, 0);
                set_bound(4, 0);
                set_bound(5, 0);
                set_bound(6, 0);
                set_bound(7, 0);
            }
            try_queue(0);
            if (bound > meta.tm.rank && count > 1) {
                try_queue(1);
            }
            if (bound > meta.tm.rank && count > 2) {
                try_queue(2);
            }
            if (bound > meta.tm.rank && count > 3) {
                try_queue(3);
            }
            if (bound > meta.tm.rank && count > 4) {
                try_queue(4);
            }
            if (bound > meta.tm.rank && count > 5) {
                try_queue(5);
            }
            if (bound > meta.tm.rank && count > 6) {
                try_queue(6);
            }
            if (bound > meta.tm.rank && count > 7) {
                try_queue(7);
            }
            if (bound > meta.tm.rank) {
                bit<64> cost = bound - meta.tm.rank;
                lower_bound(0, cost);
                lower_bound(1, cost);
                lower_bound(2, cost);
                lower_bound(3, cost);
                lower_bound(4, cost);
                lower_bound(5, cost);
                lower_bound(6, cost);
            }
            set_bound(queue, meta.tm.rank);
            standard_metadata.priority = queue;
        }
    }
}

#endif
