/*
 * Egress runs at the moment the scheduler takes a packet: virtual time moves on, occupancy goes down, delay is counted.
 *
 * It runs as well when the traffic manager has dropped a packet that ingress had counted as queued (meta.tm.dropped): then
 * occupancy goes down all the same, the conversation's tag goes back to where it was, and that is counted instead. Such a
 * packet is the newest of its conversation: it came last, or its rank was the highest of all that waited.
 */
#ifndef PHB_EGRESS_P4
#define PHB_EGRESS_P4

#include "headers.p4"
#include "state.p4"

control PhbEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {

    // Delay histogram: index = traffic class x 256 + bucket. Delays below 8 us have a bucket each; above, each octave is cut
    // into eight equal parts, so that the middle of a bucket is at most 6.25 percent off.
    counter(CLASSES * 256, CounterType.packets_and_bytes) class_delay;
    counter(PORTS, CounterType.packets_and_bytes) port_transmit;
    counter(QUEUES, CounterType.packets_and_bytes) conversation_transmitted;
    counter(QUEUES, CounterType.packets_and_bytes) conversation_refused;

    bit<8> bucket = 0;

    // Octave 0 is of delays up to 15 us.
    action set_bucket(bit<8> first, bit<8> octave) {
        bucket = first + (bit<8>)(standard_metadata.deq_timedelta >> octave);
    }

    table delay_bucket {
        key = { standard_metadata.deq_timedelta : lpm @name("delay_us"); }
        actions = { set_bucket; }
        const default_action = set_bucket(0, 0);
        const entries = {
            0x80000000 &&& 0x80000000 : set_bucket(224, 28);
            0x40000000 &&& 0xc0000000 : set_bucket(216, 27);
            0x20000000 &&& 0xe0000000 : set_bucket(208, 26);
            0x10000000 &&& 0xf0000000 : set_bucket(200, 25);
            0x08000000 &&& 0xf8000000 : set_bucket(192, 24);
            0x04000000 &&& 0xfc000000 : set_bucket(184, 23);
            0x02000000 &&& 0xfe000000 : set_bucket(176, 22);
            0x01000000 &&& 0xff000000 : set_bucket(168, 21);
            0x00800000 &&& 0xff800000 : set_bucket(160, 20);
            0x00400000 &&& 0xffc00000 : set_bucket(152, 19);
            0x00200000 &&& 0xffe00000 : set_bucket(144, 18);
            0x00100000 &&& 0xfff00000 : set_bucket(136, 17);
            0x00080000 &&& 0xfff80000 : set_bucket(128, 16);
            0x00040000 &&& 0xfffc0000 : set_bucket(120, 15);
            0x00020000 &&& 0xfffe0000 : set_bucket(112, 14);
            0x00010000 &&& 0xffff0000 : set_bucket(104, 13);
            0x00008000 &&& 0xffff8000 : set_bucket(96, 12);
            0x00004000 &&& 0xffffc000 : set_bucket(88, 11);
            0x00002000 &&& 0xffffe000 : set_bucket(80, 10);
            0x00001000 &&& 0xfffff000 : set_bucket(72, 9);
            0x00000800 &&& 0xfffff800 : set_bucket(64, 8);
            0x00000400 &&& 0xfffffc00 : set_bucket(56, 7);
            0x00000200 &&& 0xfffffe00 : set_bucket(48, 6);
            0x00000100 &&& 0xffffff00 : set_bucket(40, 5);
            0x00000080 &&& 0xffffff80 : set_bucket(32, 4);
            0x00000040 &&& 0xffffffc0 : set_bucket(24, 3);
            0x00000020 &&& 0xffffffe0 : set_bucket(16, 2);
            0x00000010 &&& 0xfffffff0 : set_bucket(8, 1);
        }
    }

    action leave_port() {
        bit<32> queued;
        port_occupancy.read(queued, (bit<32>)standard_metadata.egress_port);
        port_occupancy.write((bit<32>)standard_metadata.egress_port, queued |-| 1);
    }

    // How many packets of the conversation were queued, this one included.
    bit<32> conversation_queued = 0;

    // The last packet of a queue: the port is empty, whatever was counted.
    action empty_port() {
        port_occupancy.write((bit<32>)standard_metadata.egress_port, 0);
    }

    action leave_conversation() {
        conversation_occupancy.read(conversation_queued, meta.schedule.slot);
        conversation_occupancy.write(meta.schedule.slot, conversation_queued |-| 1);
    }

    action advance_virtual_time() {
        virtual_time.write((bit<32>)(standard_metadata.egress_port ++ meta.schedule.level),
                           (bit<64>)meta.schedule.finish);
    }

    // Others may have gone on while a shaped class was held back: then V has passed its tags.
    action advance_virtual_time_shaped() {
        bit<64> passed;
        virtual_time.read(passed, (bit<32>)(standard_metadata.egress_port ++ meta.schedule.level));
        virtual_time.write((bit<32>)(standard_metadata.egress_port ++ meta.schedule.level),
                           passed > (bit<64>)meta.schedule.finish ? passed : (bit<64>)meta.schedule.finish);
    }

    action take_back_tag() {
        conversation_finish.write(meta.schedule.slot, meta.schedule.start);
    }

    action leave_class() {
        bit<32> queued;
        bit<32> flows;
        class_occupancy.read(queued, meta.schedule.queue);
        class_occupancy.write(meta.schedule.queue, queued |-| 1);
        class_flows.read(flows, meta.schedule.queue);
        class_flows.write(meta.schedule.queue, flows |-| (conversation_queued == 1 ? 32w1 : 32w0));
    }

    action leave_private() {
        bit<32> held;
        stream_private.read(held, meta.buffer.account);
        stream_private.write(meta.buffer.account, held |-| meta.buffer.own);
    }

    action leave_shared() {
        bit<32> held;
        stream_shared.read(held, meta.buffer.account);
        stream_shared.write(meta.buffer.account, held |-| meta.buffer.shared);
        pool_shared.read(held, meta.buffer.pool);
        pool_shared.write(meta.buffer.pool, held |-| meta.buffer.shared);
    }

    apply {
        if (standard_metadata.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = standard_metadata.ingress_port;
            hdr.packet_in.exception = meta.verdict.exception;
        } else {
            // deq_qdepth is the depth of one queue. FIFO has one; of strict-priority queues the last one is served when
            // the others are empty.
            if (standard_metadata.deq_qdepth == 0 && meta.tm.dropped == 0
                && (meta.schedule.discipline == Discipline.FIFO || standard_metadata.priority == 0)) {
                empty_port();
            } else {
                leave_port();
            }
            if (meta.schedule.discipline != Discipline.FIFO) {
                leave_conversation();
                if (meta.schedule.discipline == Discipline.CLASS_WFQ) {
                    leave_class();
                }
            }
            if (meta.buffer.accounted == 1) {
                leave_private();
                if (meta.buffer.shared != 0) {
                    leave_shared();
                }
            }
            if (meta.tm.dropped == 1) {
                if (meta.schedule.discipline != Discipline.FIFO) {
                    take_back_tag();
                }
                conversation_refused.count(meta.schedule.slot);
                class_drops.count((bit<32>)(meta.verdict.traffic_class ++ DropReason.PUSHED_OUT));
                if (meta.tm.push_out == 1 || meta.tm.pushed_out == 1) {
                    drops.count((bit<32>)(bit<5>)DropReason.PUSHED_OUT);
                    policy_drops.count((bit<32>)(meta.verdict.policy ++ DropReason.PUSHED_OUT));
                    if (meta.verdict.output_policy != 0) {
                        policy_drops.count((bit<32>)(meta.verdict.output_policy ++ DropReason.PUSHED_OUT));
                    }
                }
            } else {
                if (meta.tm.rate != 0) {
                    advance_virtual_time_shaped();
                } else if (meta.schedule.discipline != Discipline.FIFO) {
                    advance_virtual_time();
                }
                if (meta.schedule.early == 1) {
                    queue_left.write(meta.schedule.queue, standard_metadata.egress_global_timestamp);
                }
                conversation_transmitted.count(meta.schedule.slot);
                delay_bucket.apply();
                class_delay.count((bit<32>)(meta.verdict.traffic_class ++ bucket));
                port_transmit.count((bit<32>)standard_metadata.egress_port);
            }
        }
    }
}

#endif
