/*
 * State that ingress and egress share: what is queued, and how far each port's virtual time has come.
 *
 * Ingress adds, egress subtracts. Every read-modify-write stands in one action, because bmv2 locks a register array
 * for one action at a time and runs ingress and egress in different threads.
 *
 * No count outlives its packets. What the traffic manager drops comes to egress as well (meta.tm.dropped), so counts are
 * exact on phb-switch. bmv2 drops without a word; the compiler keeps the limits of its policies below bmv2's own. Should a
 * count be wrong all the same, it lasts no longer than the port is busy: egress knows when the queue is empty, and at an
 * empty port ingress takes whatever else is counted there for zero.
 */
#ifndef PHB_STATE_P4
#define PHB_STATE_P4

#include "headers.p4"

// Packets between ingress and the moment the scheduler takes them (IOS counts the hold queue so); by egress port.
register<bit<32>>(PORTS) port_occupancy;

// The same per conversation slot.
register<bit<32>>(CONVERSATION_SLOTS) conversation_occupancy;

// The same for all conversations of the queue of a class, by its first slot.
register<bit<32>>(CONVERSATION_SLOTS) class_occupancy;

// How many conversations of the queue of a class have packets queued, by its first slot.
register<bit<32>>(CONVERSATION_SLOTS) class_flows;

// Bytes that a stream's packets hold of its private buffer, and of the pool; by account.
register<bit<32>>(ACCOUNTS) stream_private;
register<bit<32>>(ACCOUNTS) stream_shared;

// Bytes that all packets hold of a pool.
register<bit<32>>(PORTS) pool_shared;

// Private buffers that are lent. When a stream's last packet came (us), and the round in which it was found idle, by
// account; the round, the stream that is looked at next, and the bytes of those found idle in this round, and in the one
// before and not looked at since, by pool. Only ingress touches them.
register<bit<48>>(ACCOUNTS) stream_seen;
register<bit<32>>(ACCOUNTS) stream_idle;
register<bit<32>>(PORTS) pool_round;
register<bit<32>>(PORTS) pool_turn;
register<bit<32>>(PORTS) pool_lent;
register<bit<32>>(PORTS) pool_lent_before;

// When the scheduler last took a packet from a queue (us), by the queue's slot; of queues with early detection.
register<bit<48>>(QUEUES) queue_left;

// Whose slot it is: the signature of the flow that took it last, by conversation slot.
register<bit<32>>(CONVERSATION_SLOTS) conversation_owner;

// Who else has packets queued in it, for want of a free one: a flow's signature, or SEVERAL. 0: nobody.
register<bit<32>>(CONVERSATION_SLOTS) conversation_guest;

// Who the owner is, for a person who asks: IPv4 source and destination (0 of other packets), protocol, ToS, source port,
// destination port; by conversation slot.
register<bit<112>>(CONVERSATION_SLOTS) conversation_flow;

// Finish tag of the packet that the scheduler took last, by (egress port, level): the virtual time V of self-clocked
// fair queueing (Golestani, INFOCOM 1994).
register<bit<64>>(PORTS << LEVEL_BITS) virtual_time;

// Finish tag of a conversation's newest packet, by conversation slot. It counts while a packet of it is queued.
register<bit<64>>(CONVERSATION_SLOTS) conversation_finish;

// The smallest rank that a strict-priority queue takes by SP-PIFO, by (egress port, priority). Only ingress touches it.
register<bit<64>>(PORTS << 3) queue_bound;

// Meters, by stream: when the last packet came, in microseconds, and how many millionths of a bit are missing in the
// committed bucket and in the other one (excess or peak). Only ingress touches them, and bmv2 has one ingress thread.
register<bit<48>>(STREAMS) meter_time;
register<bit<64>>(STREAMS) committed_used;
register<bit<64>>(STREAMS) other_used;

// Indirect counters, because P4Runtime servers of bmv2 can read nothing else. They have the names of ingress's own.

// Index: policy x 4 + colour; a packet of an output policy counts for that one too.
@name("PhbIngress.policy_traffic")
counter(POLICIES << 2, CounterType.packets_and_bytes) policy_traffic;

// Index: policy x 32 + drop reason; likewise. Egress counts what the traffic manager pushes out.
@name("PhbIngress.policy_drops")
counter(POLICIES << 5, CounterType.packets_and_bytes) policy_drops;
// Index: class x 32 + drop reason; each dropped packet once, by the class that it had then. What the traffic manager dropped,
// also for want of room, is PUSHED_OUT.
@name("PhbIngress.class_drops")
counter(CLASSES << 5, CounterType.packets_and_bytes) class_drops;
// By drop reason: each dropped packet once.
@name("PhbIngress.drops")
counter(32, CounterType.packets_and_bytes) drops;

// By stream x 4 + colour: what the meters and private buffers of streams have seen.
counter(STREAMS << 2, CounterType.packets_and_bytes) stream_traffic;

#endif
