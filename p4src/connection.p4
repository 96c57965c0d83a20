/*
 * TCP connections: which one a packet belongs to, and how many of a policy there are.
 *
 * Both directions find the same slot: a connection's two ends are put in order before they are hashed. It has two
 * candidates; where established ones live in both, it isn't tracked, and that is counted.
 *
 * Only what the receiver of a segment would act on counts (RFC 9293 section 3.10.7, RFC 5961), as far as its numbers and
 * checksum say it: a slot knows how far each side has sent, what it has acknowledged, and up to where it takes more. A
 * receiver knows no less than what has come by here, so what fits it fits here.
 *
 *   SYN       opens. Until it is answered the newest one counts; later ones of the connection change nothing.
 *   SYN, ACK  answers if it acknowledges the SYN.
 *   ACK       of that answer establishes, by the side that opened. From here on the connection counts for its policy's
 *             limit. Who only makes up addresses never sees the answer, and so counts for nothing (RFC 4987 section 3).
 *   FIN       closes when the other side acknowledges it, the first of the two.
 *   RST       closes at the number that the receiver waits for. Which number that is this node knows while nothing is on
 *             its way; else the connection goes on if the receiver does, and is given up if not.
 *
 * Half-open ones give way to any SYN that finds both slots taken, the older first. What neither side closed is given up
 * after the times of RFC 5382 (REQ-5): every packet looks at one slot after another, and a SYN at those it could take.
 *
 * IPv4 connections are told apart by their addresses and ports, those of IPv6 by their ports and 64 bits of hash.
 * Runs only while some policy needs it. All registers are ingress's own, and bmv2 has one ingress thread.
 */
#ifndef PHB_CONNECTION_P4
#define PHB_CONNECTION_P4

#include "headers.p4"
#include "segment.p4"

#define CONNECTIONS 65536
#define SIDES (CONNECTIONS << 1)

// RFC 5382, REQ-5, microseconds: at least 2 hours 4 minutes while established, at least 4 minutes else.
const bit<48> ESTABLISHED_IDLE_US = 7440000000;
const bit<48> TRANSITORY_IDLE_US  = 240000000;

// By slot. `seen` is the time of the last packet in microseconds plus 1; 0: nobody's slot.
register<bit<48>>(CONNECTIONS) connection_seen;
register<bit<64>>(CONNECTIONS) connection_addresses;
register<bit<32>>(CONNECTIONS) connection_ports;
register<policy_t>(CONNECTIONS) connection_policy;
register<bit<32>>(CONNECTIONS) connection_maximum;    // of its policy when it was opened

// What has become of a connection, and the side that made it so. Those from 4 on count for the limit of the policy, those
// from 5 on live long without a packet.
const bit<3> OPENING     = 0;
const bit<3> ANSWERED    = 1;
const bit<3> DOUBTFUL    = 4;            // this side sent a RST that the other may have taken
const bit<3> ESTABLISHED = 5;
const bit<3> FINISHING   = 6;            // this side sent a FIN
register<bit<4>>(CONNECTIONS) connection_progress;
register<bit<32>>(CONNECTIONS) connection_finish;     // what acknowledges that FIN

// By slot ++ side. What it has sent: its window scale as 0x80 + shift, and the number behind the last one. What it takes:
// the number behind the last one that it has offered, and the first that it hasn't acknowledged. What the side that opens
// takes is relative to the first number of the other one until that is known.
register<bit<40>>(SIDES) connection_sent;
register<bit<64>>(SIDES) connection_taken;

// RFC 7323 section 2.3. A SYN may have a scale where the parser doesn't find it: then it is taken for the largest.
const bit<8> LARGEST_SCALE = 14;
// TCP headers of SYNs without options, and with a segment size only.
const bit<4> SMALL_SYN_WORDS = 6;

// Sequence numbers wrap around (RFC 9293 section 3.4): what is less than this ahead is ahead.
const bit<32> HALF = 0x80000000;

// How far stage applicability has followed the connection; what took the slot begins anew.
enum bit<2> Followed {
    UNSEEN      = 0,             // its SYN didn't pass there
    OPENING     = 1,
    ESTABLISHED = 2,
    WELL_SUITED = 3
}
register<Followed>(CONNECTIONS) connection_followed;

// By policy: connections that are established and not closed.
register<bit<32>>(POLICIES) connection_count;

register<bit<32>>(1) connection_sweep;

control Connection(inout headers_t hdr,
                   inout metadata_t meta,
                   in standard_metadata_t standard_metadata,
                   in policy_t limited_policy,
                   in bit<32> maximum) {

    // SYNs that found no slot: their connections count for no limit and have no window clamp.
    counter(1, CounterType.packets_and_bytes) untracked_connections;

    action release(bit<32> slot) {
        policy_t policy;
        bit<4> progress;
        bit<32> open;
        connection_policy.read(policy, slot);
        connection_progress.read(progress, slot);
        connection_count.read(open, (bit<32>)policy);
        connection_count.write((bit<32>)policy, open |-| (bit<32>)progress[3:3]);
        connection_policy.write(slot, 0);
        connection_progress.write(slot, 0);
        connection_seen.write(slot, 0);
    }

    Segment() segment;
    bit<48> now = standard_metadata.ingress_global_timestamp + 1;

    bit<64> addresses = 0;
    bit<32> ports = 0;
    bit<32> signature = 0;
    // Of an IPv6 connection, in their order.
    bit<128> lower_end = 0;
    bit<128> upper_end = 0;

    // As the keys of flows (conversation.p4), so that nobody can choose connections that fill another's slots.
    action keyed_slot(bit<64> key0, bit<64> key1, bit<64> key2, bit<64> key3) {
        bit<64> sum = key0 + key1 * (bit<64>)addresses[63:32] + key2 * (bit<64>)addresses[31:0] + key3 * (bit<64>)ports;
        signature = sum[63:32];
    }

    table connection_key {
        key = { hdr.tcp.isValid() : exact @name("tcp"); }
        actions = { keyed_slot; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 2;
    }

    // Two such sums stand for the addresses.
    action keyed_addresses(bit<64> key0, bit<64> key1, bit<64> key2, bit<64> key3, bit<64> key4, bit<64> key5,
                           bit<64> key6, bit<64> key7, bit<64> key8, bit<64> key9, bit<64> key10, bit<64> key11,
                           bit<64> key12, bit<64> key13, bit<64> key14, bit<64> key15, bit<64> key16, bit<64> key17) {
        bit<64> first = key0 + key1 * (bit<64>)lower_end[127:96] + key2 * (bit<64>)lower_end[95:64]
                        + key3 * (bit<64>)lower_end[63:32] + key4 * (bit<64>)lower_end[31:0]
                        + key5 * (bit<64>)upper_end[127:96] + key6 * (bit<64>)upper_end[95:64]
                        + key7 * (bit<64>)upper_end[63:32] + key8 * (bit<64>)upper_end[31:0];
        bit<64> second = key9 + key10 * (bit<64>)lower_end[127:96] + key11 * (bit<64>)lower_end[95:64]
                         + key12 * (bit<64>)lower_end[63:32] + key13 * (bit<64>)lower_end[31:0]
                         + key14 * (bit<64>)upper_end[127:96] + key15 * (bit<64>)upper_end[95:64]
                         + key16 * (bit<64>)upper_end[63:32] + key17 * (bit<64>)upper_end[31:0];
        addresses = first[63:32] ++ second[63:32];
    }

    table address_key {
        key = { hdr.ipv6.isValid() : exact @name("ipv6"); }
        actions = { keyed_addresses; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 2;
    }

    apply {
        bit<48> seen;
        bit<4> progress;

        // One slot of all after the other.
        bit<32> swept;
        connection_sweep.read(swept, 0);
        connection_sweep.write(0, (swept + 1) & (CONNECTIONS - 1));
        connection_seen.read(seen, swept);
        if (seen != 0 && now - seen > TRANSITORY_IDLE_US) {
            connection_progress.read(progress, swept);
            if (progress[3:1] < ESTABLISHED || now - seen > ESTABLISHED_IDLE_US) {
                release(swept);
            }
        }

        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.source ++ hdr.tcp.source_port < hdr.ipv4.destination ++ hdr.tcp.destination_port) {
                meta.connection.side = 0;
                addresses = hdr.ipv4.source ++ hdr.ipv4.destination;
            } else {
                meta.connection.side = 1;
                addresses = hdr.ipv4.destination ++ hdr.ipv4.source;
            }
        } else {
            if (hdr.ipv6.source < hdr.ipv6.destination
                || (hdr.ipv6.source == hdr.ipv6.destination && hdr.tcp.source_port < hdr.tcp.destination_port)) {
                meta.connection.side = 0;
                lower_end = hdr.ipv6.source;
                upper_end = hdr.ipv6.destination;
            } else {
                meta.connection.side = 1;
                lower_end = hdr.ipv6.destination;
                upper_end = hdr.ipv6.source;
            }
            if (!address_key.apply().hit) {
                bit<32> upper;
                bit<32> lower;
                hash(upper, HashAlgorithm.crc32, 32w0, { lower_end, upper_end }, 32w0xffffffff);
                hash(lower, HashAlgorithm.crc32, 32w0, { upper_end, lower_end, 8w1 }, 32w0xffffffff);
                addresses = upper ++ lower;
            }
        }
        ports = meta.connection.side == 0 ? hdr.tcp.source_port ++ hdr.tcp.destination_port
                                          : hdr.tcp.destination_port ++ hdr.tcp.source_port;

        if (!connection_key.apply().hit) {
            hash(signature, HashAlgorithm.crc32, 32w0, { addresses, ports }, 32w0xffffffff);
        }
        bit<32> first = signature & (CONNECTIONS - 1);
        bit<32> second = signature >> 16;
        if (second == first) {
            second = first ^ 1;
        }

        bit<48> first_seen;
        bit<48> second_seen = 0;
        bit<64> owner_addresses;
        bit<32> owner_ports;
        meta.connection.slot = first;
        connection_seen.read(first_seen, first);
        connection_addresses.read(owner_addresses, first);
        connection_ports.read(owner_ports, first);
        if (owner_addresses == addresses && owner_ports == ports) {
            meta.connection.known = first_seen != 0;
            meta.connection.closed = first_seen == 0;
        }
        if (!meta.connection.known) {
            connection_seen.read(second_seen, second);
            connection_addresses.read(owner_addresses, second);
            connection_ports.read(owner_ports, second);
            if (owner_addresses == addresses && owner_ports == ports) {
                meta.connection.known = second_seen != 0;
                meta.connection.closed = second_seen == 0;
                meta.connection.slot = second;
            }
        }

        progress = 0;
        if (meta.connection.known) {
            connection_progress.read(progress, meta.connection.slot);
        }
        bool opens = hdr.tcp.flags & (TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK) == TCP_SYN && progress[3:1] == OPENING;
        bool sound = false;
        bool certain = false;
        bit<32> length = 0;
        if (opens || meta.connection.known) {
            segment.apply(hdr, meta, standard_metadata, sound, certain, length);
        }
        bit<32> sequence = hdr.tcp.sequence;
        bit<32> acknowledgement = hdr.tcp.acknowledgement;
        bit<32> end = sequence + length;
        bit<8> scale = meta.connection.scale;
        if (scale == 0 && hdr.tcp.data_offset > SMALL_SYN_WORDS) {
            scale = 0x80 | LARGEST_SCALE;
        }

        if (sound && opens) {
            bool free = meta.connection.known;
            if (!free) {
                // A slot whose owner has been idle for too long is free, too.
                bit<4> first_progress;
                bit<4> second_progress = 0;
                connection_progress.read(first_progress, first);
                if (first_seen != 0 && now - first_seen > TRANSITORY_IDLE_US
                    && (first_progress[3:1] < ESTABLISHED || now - first_seen > ESTABLISHED_IDLE_US)) {
                    release(first);
                    first_seen = 0;
                }
                if (first_seen != 0) {
                    connection_progress.read(second_progress, second);
                    if (second_seen != 0 && now - second_seen > TRANSITORY_IDLE_US
                        && (second_progress[3:1] < ESTABLISHED || now - second_seen > ESTABLISHED_IDLE_US)) {
                        release(second);
                        second_seen = 0;
                    }
                }
                meta.connection.slot = second;
                if (first_seen == 0 || (second_seen != 0 && first_progress[3:3] == 0
                    && (second_progress[3:3] == 1 || first_seen <= second_seen))) {
                    meta.connection.slot = first;
                    free = true;
                } else if (second_seen == 0 || second_progress[3:3] == 0) {
                    free = true;
                }
            }
            bit<32> open;
            connection_count.read(open, (bit<32>)limited_policy);
            if (limited_policy != 0 && open >= maximum) {
                meta.verdict.drop_reason = DropReason.CONNECTION_LIMIT;
            } else if (!free) {
                untracked_connections.count(0);
            } else {
                meta.connection.known = true;
                meta.connection.closed = false;
                meta.connection.accepted = true;
                bit<32> side = (bit<32>)((bit<16>)meta.connection.slot ++ meta.connection.side);
                connection_followed.write(meta.connection.slot, Followed.UNSEEN);
                connection_seen.write(meta.connection.slot, now);
                connection_addresses.write(meta.connection.slot, addresses);
                connection_ports.write(meta.connection.slot, ports);
                connection_policy.write(meta.connection.slot, limited_policy);
                connection_maximum.write(meta.connection.slot, maximum);
                connection_progress.write(meta.connection.slot, OPENING ++ meta.connection.side);
                connection_sent.write(side, scale ++ end);
                connection_taken.write(side, (bit<32>)hdr.tcp.window ++ 32w0);
                // The answer must acknowledge the SYN, and may acknowledge the payload that came with it.
                connection_sent.write(side ^ 1, 0);
                connection_taken.write(side ^ 1, end ++ (sequence + 1));
            }
        } else if (sound && meta.connection.known) {
            bit<32> here = (bit<32>)((bit<16>)meta.connection.slot ++ meta.connection.side);
            bit<32> there = here ^ 1;
            bit<40> sent_here;
            bit<40> sent_there;
            bit<64> taken_here;
            bit<64> taken_there;
            connection_sent.read(sent_here, here);
            connection_sent.read(sent_there, there);
            connection_taken.read(taken_here, here);
            connection_taken.read(taken_there, there);
            bit<32> next_here = sent_here[31:0];
            bit<32> next_there = sent_there[31:0];
            bit<32> edge_here = taken_here[63:32];
            bit<32> edge_there = taken_there[63:32];
            bit<32> acknowledged_here = taken_here[31:0];
            bit<32> acknowledged_there = taken_there[31:0];
            bool own = progress[0:0] == meta.connection.side;
            bool closes = false;

            if (hdr.tcp.flags & TCP_RST != 0) {
                if (progress[3:1] == OPENING && !own) {
                    // RFC 9293 section 3.10.7.3: nothing was sent but the SYN.
                    closes = certain && hdr.tcp.flags & TCP_ACK != 0
                        && acknowledgement - acknowledged_here < HALF && next_there - acknowledgement < HALF;
                } else if (certain && sequence - acknowledged_there < HALF && next_here - sequence < HALF) {
                    // RFC 5961 section 3.2.
                    closes = acknowledged_there == next_here;
                    if (!closes && progress[3:3] == 1) {
                        connection_progress.write(meta.connection.slot, DOUBTFUL ++ meta.connection.side);
                        connection_seen.write(meta.connection.slot, now);
                    }
                }
            } else if (hdr.tcp.flags & TCP_ACK != 0) {
                // What it acknowledges, the other side has sent; RFC 5961 section 5.2 has the lower bound. Of that side's
                // largest window only the present one is known here, so there is room for one without a scale.
                bit<32> oldest = acknowledged_here;
                if (progress[3:3] == 1) {
                    oldest = acknowledged_here - (edge_here - acknowledged_here) - 0xffff;
                }
                bool fits = acknowledgement - oldest < HALF && next_there - acknowledgement < HALF;
                if (hdr.tcp.flags & TCP_SYN != 0) {
                    if (fits && !own && progress[3:3] == 0) {
                        meta.connection.accepted = true;
                        connection_seen.write(meta.connection.slot, now);
                        connection_progress.write(meta.connection.slot, ANSWERED ++ progress[0:0]);
                        connection_sent.write(here, scale ++ end);
                        connection_taken.write(here, (acknowledgement + (bit<32>)hdr.tcp.window) ++ acknowledgement);
                        connection_taken.write(there, (sequence + 1 + edge_there - acknowledged_there) ++ (sequence + 1));
                    }
                } else if (fits && progress[3:1] != OPENING
                           // RFC 9293 section 3.10.7.4; a keepalive begins one before what is acknowledged (RFC 9293
                           // section 3.8.4).
                           && end - (acknowledged_there - 1) < HALF && edge_there - sequence < HALF) {
                    meta.connection.accepted = true;
                    connection_seen.write(meta.connection.slot, now);
                    bit<4> before = progress;
                    if (progress[3:1] == ANSWERED && own) {
                        policy_t policy;
                        bit<32> open;
                        bit<32> allowed;
                        connection_policy.read(policy, meta.connection.slot);
                        connection_maximum.read(allowed, meta.connection.slot);
                        connection_count.read(open, (bit<32>)policy);
                        if (policy != 0 && open >= allowed) {
                            // Others were faster. It may try again as long as its slot is its own.
                            meta.connection.accepted = false;
                            meta.verdict.drop_reason = DropReason.CONNECTION_LIMIT;
                        } else {
                            connection_count.write((bit<32>)policy, open + 1);
                            progress = ESTABLISHED ++ 1w0;
                        }
                    } else if (progress[3:1] == DOUBTFUL && !own) {
                        progress = ESTABLISHED ++ 1w0;
                    } else if (progress[3:1] == FINISHING) {
                        bit<32> finish;
                        connection_finish.read(finish, meta.connection.slot);
                        if (!own) {
                            closes = acknowledgement - finish < HALF;
                        } else if (finish - end >= HALF) {
                            // It goes on sending, so that was no FIN of its own.
                            progress = ESTABLISHED ++ 1w0;
                        }
                    }
                    if (hdr.tcp.flags & TCP_FIN != 0 && certain && progress[3:1] == ESTABLISHED) {
                        progress = FINISHING ++ meta.connection.side;
                        connection_finish.write(meta.connection.slot, end);
                    }
                    if (progress != before) {
                        connection_progress.write(meta.connection.slot, progress);
                    }
                    if (meta.connection.accepted) {
                        if (next_here - end >= HALF) {
                            connection_sent.write(here, sent_here[39:32] ++ end);
                        }
                        // Windows are scaled if both sides offered it.
                        bit<8> shift = 0;
                        if (sent_here[39:39] == 1 && sent_there[39:39] == 1) {
                            shift = sent_here[39:32] & 0x7f;
                            if (shift > LARGEST_SCALE) {
                                shift = LARGEST_SCALE;
                            }
                        }
                        bit<32> edge = acknowledgement + ((bit<32>)hdr.tcp.window << shift);
                        if (acknowledged_here - acknowledgement >= HALF) {
                            acknowledged_here = acknowledgement;
                        }
                        if (edge_here - edge >= HALF) {
                            edge_here = edge;
                        }
                        connection_taken.write(here, edge_here ++ acknowledged_here);
                    }
                }
            }
            if (closes) {
                release(meta.connection.slot);
                meta.connection.known = false;
                meta.connection.closed = true;
                meta.connection.accepted = false;
            }
        }
    }
}

#endif
