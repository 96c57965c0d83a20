/*
 * TCP connections: which one a packet belongs to, and how many of a policy there are.
 *
 * Both directions find the same slot: a connection's two ends are put in order before they are hashed. It has two
 * candidates; where others live in both, it isn't tracked, and that is counted. A SYN opens, the first FIN or RST of
 * either side closes. What neither closed is given up after the times of RFC 5382 (REQ-5): every packet looks at one
 * slot after another, and a SYN at those it could take.
 *
 * IPv4 connections are told apart by their addresses and ports, those of IPv6 by their ports and 64 bits of hash.
 * Runs only while some policy needs it. All registers are ingress's own, and bmv2 has one ingress thread.
 */
#ifndef PHB_CONNECTION_P4
#define PHB_CONNECTION_P4

#include "headers.p4"

#define CONNECTIONS 65536

const bit<8> TCP_FIN = 0x01;
const bit<8> TCP_SYN = 0x02;
const bit<8> TCP_RST = 0x04;
const bit<8> TCP_ACK = 0x10;

// RFC 5382, REQ-5, microseconds: at least 2 hours 4 minutes once established, at least 4 minutes before.
const bit<48> ESTABLISHED_IDLE_US = 7440000000;
const bit<48> TRANSITORY_IDLE_US  = 240000000;

// By slot. `seen` is the time of the last packet in microseconds plus 1; 0: nobody's slot.
register<bit<48>>(CONNECTIONS) connection_seen;
register<bit<64>>(CONNECTIONS) connection_addresses;
register<bit<32>>(CONNECTIONS) connection_ports;
register<bit<1>>(CONNECTIONS) connection_established;
register<policy_t>(CONNECTIONS) connection_policy;

// How far stage applicability has followed the connection; what took the slot begins anew.
enum bit<2> Followed {
    UNSEEN      = 0,             // its SYN didn't pass there
    OPENING     = 1,
    ESTABLISHED = 2,
    WELL_SUITED = 3
}
register<Followed>(CONNECTIONS) connection_followed;

// By policy: connections that are open and count for its limit.
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
        bit<32> open;
        connection_policy.read(policy, slot);
        connection_count.read(open, (bit<32>)policy);
        connection_count.write((bit<32>)policy, open |-| 1);
        connection_policy.write(slot, 0);
        connection_seen.write(slot, 0);
    }

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
        bit<1> established;

        // One slot of all after the other.
        bit<32> swept;
        connection_sweep.read(swept, 0);
        connection_sweep.write(0, (swept + 1) & (CONNECTIONS - 1));
        connection_seen.read(seen, swept);
        connection_established.read(established, swept);
        if (seen != 0 && (now - seen > ESTABLISHED_IDLE_US || (established == 0 && now - seen > TRANSITORY_IDLE_US))) {
            release(swept);
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
        bit<48> second_seen;
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

        if (meta.connection.known) {
            if (hdr.tcp.flags & (TCP_FIN | TCP_RST) != 0) {
                release(meta.connection.slot);
                meta.connection.known = false;
                meta.connection.closed = true;
            } else {
                connection_seen.write(meta.connection.slot, now);
                if (hdr.tcp.flags & (TCP_SYN | TCP_ACK) == TCP_ACK) {
                    connection_established.write(meta.connection.slot, 1);
                }
            }
        } else if (hdr.tcp.flags & (TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK) == TCP_SYN) {
            // A slot whose owner has been idle for too long is free, too.
            meta.connection.slot = first;
            connection_established.read(established, first);
            if (first_seen != 0 && (now - first_seen > ESTABLISHED_IDLE_US
                || (established == 0 && now - first_seen > TRANSITORY_IDLE_US))) {
                release(first);
                first_seen = 0;
            }
            if (first_seen != 0) {
                meta.connection.slot = second;
                connection_established.read(established, second);
                if (second_seen != 0 && (now - second_seen > ESTABLISHED_IDLE_US
                    || (established == 0 && now - second_seen > TRANSITORY_IDLE_US))) {
                    release(second);
                    second_seen = 0;
                }
            }
            bit<32> open;
            connection_count.read(open, (bit<32>)limited_policy);
            if (limited_policy != 0 && open >= maximum) {
                meta.verdict.drop_reason = DropReason.CONNECTION_LIMIT;
            } else if (first_seen != 0 && second_seen != 0) {
                untracked_connections.count(0);
            } else {
                meta.connection.known = true;
                meta.connection.closed = false;
                connection_followed.write(meta.connection.slot, Followed.UNSEEN);
                connection_seen.write(meta.connection.slot, now);
                connection_addresses.write(meta.connection.slot, addresses);
                connection_ports.write(meta.connection.slot, ports);
                connection_established.write(meta.connection.slot, 0);
                connection_policy.write(meta.connection.slot, limited_policy);
                connection_count.write((bit<32>)limited_policy, open + 1);
            }
        }
    }
}

#endif
