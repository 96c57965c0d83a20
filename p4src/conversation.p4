/*
 * Stage conversation: which scheduler the egress port runs, which class's queue a packet takes there, and which of the
 * queue's conversations it belongs to.
 *
 * Comes after forward (needs the port) and after mark (a remark changes the flow as it does on a router that marks before
 * it queues); buffer, wred and schedule account by its result.
 *
 * A flow is addresses, protocol, ports and DSCP; not the ECN field, which may differ from packet to packet (RFC 3168), and
 * the code points of an AF class count as one: a meter may change the drop precedence of some of a flow's packets, and they
 * must stay in order whatever theirs is (RFC 2597 section 2).
 *
 * A flow that hashes to a slot where another has packets queued would wait behind them. So a flow has two candidate slots
 * and takes the one it owns, else one where nothing is queued: the finish tag of such a slot lies in the past, so taking it
 * over changes nobody's turn. Only when others have packets queued in both does it share the first; that is counted. From
 * then until that slot is empty it stays there: in a slot of its own it would overtake its own packets. The slot remembers
 * one such guest; when there are several, whoever has the slot as its first stays there.
 */
#ifndef PHB_CONVERSATION_P4
#define PHB_CONVERSATION_P4

#include "headers.p4"
#include "state.p4"

// No flow's signature: the hash stays below.
const bit<32> SEVERAL = 0xffffffff;

control Conversation(inout headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {

    bit<32> first_slot = 0;
    bit<32> slots = 0;           // 0: no flows to tell apart

    // A queue without conversations has a slot too, so that its counters stand in the same arrays.
    action fifo(profile_t profile) {
        meta.schedule.discipline = Discipline.FIFO;
        meta.schedule.profile = profile;
        meta.schedule.slot = CONVERSATION_SLOTS + (bit<32>)standard_metadata.egress_spec;
        meta.schedule.queue = CONVERSATION_SLOTS + (bit<32>)standard_metadata.egress_spec;
    }

    // overhead: bytes that this port's encapsulation adds to an Ethernet frame, two's complement (PPP: 4 - 14 = -10).
    action flow_wfq(profile_t profile, bit<32> base, bit<32> conversations, bit<32> overhead) {
        meta.schedule.discipline = Discipline.FLOW_WFQ;
        meta.schedule.profile = profile;
        meta.schedule.overhead = overhead;
        meta.schedule.queue = CONVERSATION_SLOTS + (bit<32>)standard_metadata.egress_spec;
        meta.schedule.by_precedence = 1;
        first_slot = base;
        slots = conversations;
    }

    action class_wfq(profile_t profile, bit<32> overhead) {
        meta.schedule.discipline = Discipline.CLASS_WFQ;
        meta.schedule.profile = profile;
        meta.schedule.overhead = overhead;
    }

    table port_scheduler {
        key = {
            meta.version                  : ternary @name("version");
            standard_metadata.egress_spec : exact   @name("egress_port");
        }
        actions = { fifo; flow_wfq; class_wfq; }
        default_action = fifo(0);
        size = 1024;
    }

    // traffic_class: whose queue it is; that of class-default where the packet's class has none.
    action single(traffic_class_t traffic_class, bit<32> slot, level_t level, bit<32> weight, bit<32> limit_packets) {
        meta.schedule.traffic_class = traffic_class;
        meta.schedule.slot = slot;
        meta.schedule.queue = slot;
        meta.schedule.level = level;
        meta.schedule.weight = weight;
        meta.schedule.limit_packets = limit_packets;
    }

    // shared: the flows have the weight together (IOS since HQF); else each has that of its precedence (schedule.weight).
    action flows(traffic_class_t traffic_class, bit<32> base, bit<32> conversations, level_t level, bit<32> weight,
                 bit<32> threshold_packets, bit<32> limit_packets, bit<1> shared) {
        meta.schedule.traffic_class = traffic_class;
        meta.schedule.queue = base;
        meta.schedule.level = level;
        meta.schedule.weight = weight;
        meta.schedule.threshold_packets = threshold_packets;
        meta.schedule.limit_packets = limit_packets;
        meta.schedule.by_precedence = ~shared;
        meta.schedule.by_flows = shared;
        first_slot = base;
        slots = conversations;
    }

    // The queues of a port that has one for each class. The row without a class is class-default's.
    table class_queue {
        key = {
            meta.schedule.profile      : exact    @name("profile");
            meta.verdict.traffic_class : optional @name("traffic_class");
        }
        actions = { single; flows; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 8192;
    }

    counter(PORTS, CounterType.packets_and_bytes) shared_conversation;

    bit<8> marks;
    bit<32> signature = 0;

    // The keys are the switch's secret: without them nobody can choose a flow that shares another's conversation. The sum
    // of words times keys modulo 2^64, of which the upper half counts, is strongly universal: any two flows collide with
    // probability 2^-31 over the keys (MULTILINEAR: Lemire and Kaser, "Strongly universal string hashing is fast", 2014).
    // CRC-32 with a secret would not do: it is linear, so two flows of one CRC have one with every secret.
    action keyed_ipv4(bit<64> key0, bit<64> key1, bit<64> key2, bit<64> key3, bit<64> key4) {
        bit<64> sum = key0 + key1 * (bit<64>)hdr.ipv4.source + key2 * (bit<64>)hdr.ipv4.destination
                      + key3 * (bit<64>)(meta.flow.source_port ++ meta.flow.destination_port) + key4 * (bit<64>)(16w4 ++ meta.flow.protocol ++ marks);
        signature = (bit<32>)sum[63:33];
    }

    action keyed_ipv6(bit<64> key0, bit<64> key1, bit<64> key2, bit<64> key3, bit<64> key4, bit<64> key5, bit<64> key6,
                      bit<64> key7, bit<64> key8, bit<64> key9, bit<64> key10) {
        bit<64> sum = key0 + key1 * (bit<64>)hdr.ipv6.source[127:96] + key2 * (bit<64>)hdr.ipv6.source[95:64]
                      + key3 * (bit<64>)hdr.ipv6.source[63:32] + key4 * (bit<64>)hdr.ipv6.source[31:0]
                      + key5 * (bit<64>)hdr.ipv6.destination[127:96] + key6 * (bit<64>)hdr.ipv6.destination[95:64]
                      + key7 * (bit<64>)hdr.ipv6.destination[63:32] + key8 * (bit<64>)hdr.ipv6.destination[31:0]
                      + key9 * (bit<64>)(meta.flow.source_port ++ meta.flow.destination_port) + key10 * (bit<64>)(16w6 ++ meta.flow.protocol ++ marks);
        signature = (bit<32>)sum[63:33];
    }

    action keyed_ethernet(bit<64> key0, bit<64> key1, bit<64> key2, bit<64> key3, bit<64> key4) {
        bit<64> sum = key0 + key1 * (bit<64>)hdr.ethernet.source[47:24] + key2 * (bit<64>)hdr.ethernet.source[23:0]
                      + key3 * (bit<64>)(hdr.ethernet.ethertype[15:8] ++ hdr.ethernet.destination[47:24])
                      + key4 * (bit<64>)(hdr.ethernet.ethertype[7:0] ++ hdr.ethernet.destination[23:0]);
        signature = (bit<32>)sum[63:33];
    }

    // Filled by the controller, once for each switch. Without a row flows are told apart by CRC-32.
    table flow_key {
        key = {
            hdr.ipv4.isValid() : exact @name("ipv4");
            hdr.ipv6.isValid() : exact @name("ipv6");
        }
        actions = { keyed_ipv4; keyed_ipv6; keyed_ethernet; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 4;
    }

    // At an empty port nothing waits, whatever is counted.
    action forget_conversation() {
        conversation_occupancy.write(meta.schedule.slot, 0);
    }

    action forget_class() {
        class_occupancy.write(meta.schedule.queue, 0);
        class_flows.write(meta.schedule.queue, 0);
    }

    apply {
        port_occupancy.read(meta.schedule.port_queued, (bit<32>)standard_metadata.egress_spec);
        port_scheduler.apply();
        if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
            class_queue.apply();
        }
        if (slots != 0) {
            marks = meta.flow.tos & 0xfc;
            if (marks[7:5] >= 1 && marks[7:5] <= 4 && marks[4:3] != 0 && marks[2:2] == 0) {
                // AFx1, AFx2, AFx3.
                marks[4:3] = 1;
            }
            if (!flow_key.apply().hit) {
                if (hdr.ipv4.isValid()) {
                    hash(signature, HashAlgorithm.crc32, 32w0,
                         { hdr.ipv4.source, hdr.ipv4.destination, meta.flow.protocol,
                           meta.flow.source_port, meta.flow.destination_port, marks },
                         32w0xffffffff);
                } else if (hdr.ipv6.isValid()) {
                    hash(signature, HashAlgorithm.crc32, 32w0,
                         { hdr.ipv6.source, hdr.ipv6.destination, meta.flow.protocol,
                           meta.flow.source_port, meta.flow.destination_port, marks },
                         32w0xffffffff);
                } else {
                    hash(signature, HashAlgorithm.crc32, 32w0,
                         { hdr.ethernet.source, hdr.ethernet.destination, hdr.ethernet.ethertype },
                         32w0xffffffff);
                }
            }

            // The number of conversations is a power of two up to 4096, so both candidates have bits of their own.
            bit<32> mask = slots - 1;
            bit<32> first = first_slot + (signature & mask);
            bit<32> second = first_slot + ((signature >> 16) & mask);
            bit<32> first_owner;
            bit<32> second_owner;
            bit<32> first_queued = 0;
            bit<32> second_queued = 0;
            bit<32> guest = 0;
            conversation_owner.read(first_owner, first);
            conversation_owner.read(second_owner, second);
            if (meta.schedule.port_queued != 0) {
                conversation_occupancy.read(first_queued, first);
                conversation_occupancy.read(second_queued, second);
                conversation_guest.read(guest, first);
            }
            bool taken = false;
            bool idle = first_queued == 0;
            meta.schedule.slot = first;
            if (first_owner != signature) {
                bool stays = !idle && (guest == signature || guest == SEVERAL);
                if (second_owner == signature && (second_queued != 0 || !stays)) {
                    meta.schedule.slot = second;
                    idle = second_queued == 0;
                } else if (idle) {
                    taken = true;
                } else if (second_queued == 0 && !stays) {
                    meta.schedule.slot = second;
                    taken = true;
                    idle = true;
                } else {
                    shared_conversation.count((bit<32>)standard_metadata.egress_spec);
                    if (guest != signature) {
                        conversation_guest.write(first, guest == 0 ? signature : SEVERAL);
                    }
                }
            }
            if (idle) {
                conversation_guest.write(meta.schedule.slot, 0);
            }
            if (taken) {
                conversation_owner.write(meta.schedule.slot, signature);
                bit<64> addresses = 0;
                if (hdr.ipv4.isValid()) {
                    addresses = hdr.ipv4.source ++ hdr.ipv4.destination;
                }
                conversation_flow.write(meta.schedule.slot,
                                        addresses ++ meta.flow.protocol ++ meta.flow.tos ++
                                        meta.flow.source_port ++ meta.flow.destination_port);
            }
        }
        if (meta.schedule.port_queued == 0 && meta.schedule.discipline != Discipline.FIFO) {
            forget_conversation();
            if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
                forget_class();
            }
        }
    }
}

#endif
