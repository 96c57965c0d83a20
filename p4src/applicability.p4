/*
 * Stage applicability: how much of a host's TCP traffic another transport between it and some of its peers could carry.
 * It counts for the report of z/OS's SMC Applicability Tool, and changes no packet.
 *
 * The host's segments are what comes in at its ports (outbound) and what goes out there (inbound). A segment is eligible
 * if its peer is listed. A connection is well suited unless it is short-lived and carries next to nothing; that shows
 * only after its first packets. Counters go up by one at a time, so what a connection has had before is counted then as
 * one packet in the cell of its number: number x packets is what to add.
 *
 * A send is what the host's end has put into the sequence space up to a segment with PSH (RFC 9293 section 3.9.1.2), or
 * FIN, since the one before. So it doesn't matter whether segments are lost, sent again or overtake each other.
 *
 * Comes after output, of packets that no stage has dropped, before the queue, which may.
 */
#ifndef PHB_APPLICABILITY_P4
#define PHB_APPLICABILITY_P4

#include "headers.p4"
#include "connection.p4"

enum bit<2> Connectivity {
    NONE   = 0,                  // no listed peer
    DIRECT = 1,                  // in a network of the host's own
    ROUTED = 2
}

// What a connection has had before it was found well suited.
enum bit<2> Before {
    OUTBOUND     = 0,            // segments
    INBOUND      = 1,
    SMALL_SENDS  = 2,            // of the first bucket
    MEDIUM_SENDS = 3             // of the second
}

const bit<8> TCP_PSH = 0x08;

// A connection of so many segments in one direction is no trivial one, and its number must have a cell.
const bit<6> MOST_BEFORE = 63;

// By slot of the connection; they count from its SYN until it is well suited.
register<bit<48>>(CONNECTIONS) applicability_opened;      // microseconds
register<bit<32>>(CONNECTIONS) applicability_payload;     // bytes, both ways
register<bit<6>>(CONNECTIONS) applicability_outbound;
register<bit<6>>(CONNECTIONS) applicability_inbound;
register<bit<6>>(CONNECTIONS) applicability_small;
register<bit<6>>(CONNECTIONS) applicability_medium;

// By slot ++ side: 1 and the sequence number that the next send begins with; 0 without a SYN.
register<bit<33>>(CONNECTIONS << 1) applicability_send;

control Applicability(in headers_t hdr, in metadata_t meta, in standard_metadata_t standard_metadata) {

    // Index: direction (1: inbound), connectivity, whether the connection is well suited.
    counter(16, CounterType.packets_and_bytes) applicability_segments;
    // Index: connectivity, whether it is well suited; those that were established, and those that are found well suited.
    counter(8, CounterType.packets_and_bytes) applicability_connections;
    // Index: connectivity, size bucket; outbound, of well-suited connections.
    counter(32, CounterType.packets_and_bytes) applicability_sends;
    // Index: connectivity, Before, number.
    counter(1024, CounterType.packets_and_bytes) applicability_before;

    bool observed = false;
    bit<1> direction = 0;
    bit<32> trivial = 0;
    bit<48> short_lived = 0;
    Connectivity reached = Connectivity.NONE;

    // A connection is well suited with so many bytes of payload, or when it has lived for so long.
    action outbound(bit<13> trivial_bytes, bit<32> short_lived_us) {
        observed = true;
        trivial = (bit<32>)trivial_bytes;
        short_lived = (bit<48>)short_lived_us;
    }

    action inbound(bit<13> trivial_bytes, bit<32> short_lived_us) {
        observed = true;
        direction = 1;
        trivial = (bit<32>)trivial_bytes;
        short_lived = (bit<48>)short_lived_us;
    }

    // The ports that the host is behind.
    table host_port {
        key = {
            standard_metadata.ingress_port : optional @name("ingress_port");
            standard_metadata.egress_spec  : optional @name("egress_port");
        }
        actions = { outbound; inbound; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    action eligible(Connectivity connectivity) {
        reached = connectivity;
    }

    bit<32> peer_ipv4_address = 0;
    bit<128> peer_ipv6_address = 0;

    table peer_ipv4 {
        key = { peer_ipv4_address : lpm @name("peer"); }
        actions = { eligible; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    table peer_ipv6 {
        key = { peer_ipv6_address : lpm @name("peer"); }
        actions = { eligible; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 1024;
    }

    apply {
        host_port.apply();
        if (observed) {
            bit<16> header_bytes = (bit<16>)hdr.tcp.data_offset << 2;
            bit<16> payload;
            if (hdr.ipv4.isValid()) {
                peer_ipv4_address = direction == 0 ? hdr.ipv4.destination : hdr.ipv4.source;
                peer_ipv4.apply();
                payload = hdr.ipv4.total_length |-| ((bit<16>)hdr.ipv4.ihl << 2) |-| header_bytes;
            } else {
                peer_ipv6_address = direction == 0 ? hdr.ipv6.destination : hdr.ipv6.source;
                peer_ipv6.apply();
                payload = hdr.ipv6.payload_length |-| header_bytes;
            }

            // What follows the first FIN or RST is of the connection, too, as long as nobody else has its slot.
            Followed phase = Followed.UNSEEN;
            bit<32> slot = meta.connection.slot;
            if (meta.connection.known || meta.connection.closed) {
                connection_followed.read(phase, slot);
                bit<32> side = (bit<32>)((bit<16>)slot ++ meta.connection.side);
                if (hdr.tcp.flags & TCP_SYN != 0) {
                    if (meta.connection.accepted) {
                        applicability_send.write(side, 1w1 ++ (hdr.tcp.sequence + 1));
                        if (hdr.tcp.flags & TCP_ACK == 0) {
                            // A new connection, or the same SYN again.
                            phase = Followed.OPENING;
                            connection_followed.write(slot, phase);
                            applicability_send.write(side ^ 1, 0);
                            applicability_opened.write(slot, standard_metadata.ingress_global_timestamp);
                            applicability_payload.write(slot, 0);
                            applicability_outbound.write(slot, 0);
                            applicability_inbound.write(slot, 0);
                            applicability_small.write(slot, 0);
                            applicability_medium.write(slot, 0);
                        }
                    }
                    payload = 0;
                } else if (phase == Followed.OPENING && meta.connection.accepted) {
                    phase = Followed.ESTABLISHED;
                    connection_followed.write(slot, phase);
                    applicability_connections.count((bit<32>)(reached ++ 1w0));
                }

                if (reached != Connectivity.NONE && phase != Followed.UNSEEN) {
                    // The send that the segment ends.
                    bit<32> size = 0;
                    if (direction == 0 && payload != 0 && hdr.tcp.flags & (TCP_PSH | TCP_FIN) != 0) {
                        bit<33> start;
                        applicability_send.read(start, side);
                        bit<32> end = hdr.tcp.sequence + (bit<32>)payload;
                        if (start[32:32] == 1 && end - start[31:0] < 0x80000000) {
                            size = end - start[31:0];
                            applicability_send.write(side, 1w1 ++ end);
                        }
                    }

                    if (phase != Followed.WELL_SUITED) {
                        bit<48> opened;
                        bit<32> carried;
                        bit<6> sent;
                        bit<6> received;
                        bit<6> small;
                        bit<6> medium;
                        applicability_opened.read(opened, slot);
                        applicability_payload.read(carried, slot);
                        applicability_outbound.read(sent, slot);
                        applicability_inbound.read(received, slot);
                        applicability_small.read(small, slot);
                        applicability_medium.read(medium, slot);
                        carried = carried + (bit<32>)payload;
                        // Segments of the send may have been lost before they came here.
                        if (size > carried) {
                            carried = size;
                        }
                        if (phase == Followed.ESTABLISHED
                            && (carried >= trivial || sent == MOST_BEFORE || received == MOST_BEFORE
                                || standard_metadata.ingress_global_timestamp - opened >= short_lived)) {
                            phase = Followed.WELL_SUITED;
                            connection_followed.write(slot, phase);
                            applicability_connections.count((bit<32>)(reached ++ 1w1));
                            applicability_before.count((bit<32>)(reached ++ Before.OUTBOUND ++ sent));
                            applicability_before.count((bit<32>)(reached ++ Before.INBOUND ++ received));
                            applicability_before.count((bit<32>)(reached ++ Before.SMALL_SENDS ++ small));
                            applicability_before.count((bit<32>)(reached ++ Before.MEDIUM_SENDS ++ medium));
                        } else {
                            applicability_payload.write(slot, carried);
                            if (direction == 0) {
                                applicability_outbound.write(slot, sent |+| 1);
                            } else {
                                applicability_inbound.write(slot, received |+| 1);
                            }
                            // A larger one would be no trivial payload: `trivial` is 4096 at most.
                            if (size > 1500) {
                                applicability_medium.write(slot, medium |+| 1);
                            } else if (size != 0) {
                                applicability_small.write(slot, small |+| 1);
                            }
                        }
                    }

                    if (phase == Followed.WELL_SUITED && size != 0) {
                        bit<3> bucket = 7;
                        if (size <= 1500) {
                            bucket = 0;
                        } else if (size <= 4096) {
                            bucket = 1;
                        } else if (size <= 8192) {
                            bucket = 2;
                        } else if (size <= 16384) {
                            bucket = 3;
                        } else if (size <= 32768) {
                            bucket = 4;
                        } else if (size <= 65536) {
                            bucket = 5;
                        } else if (size <= 262144) {
                            bucket = 6;
                        }
                        applicability_sends.count((bit<32>)(reached ++ bucket));
                    }
                }
            }
            bit<1> well_suited = 0;
            if (phase == Followed.WELL_SUITED && reached != Connectivity.NONE) {
                well_suited = 1;
            }
            applicability_segments.count((bit<32>)(direction ++ reached ++ well_suited));
        }
    }
}

#endif
