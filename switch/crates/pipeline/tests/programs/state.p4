/* Registers, counters, meters, hashes, random numbers, header stacks, and what standard metadata says. */
#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>   what;
    bit<32>  index;
    bit<100> value;
    bit<4>   rest;
}

header item_t {
    bit<8> number;
}

header answer_t {
    bit<100> old;
    bit<4>   colour;
    bit<32>  hash;
    bit<8>   drawn;
    bit<32>  length;
    bit<48>  time;
    bit<16>  queue;
}

struct headers_t {
    request_t request;
    answer_t  answer;
    item_t[4] items;
    item_t    single;
}

struct tm_t {
    bit<64> rank;
}

struct metadata_t {
    tm_t    tm;
    bit<9>  short;
    bit<64> long;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.request);
        log_msg("what = {}", { hdr.request.what });
        transition select(hdr.request.rest) {
            0: accept;
            default: items;
        }
    }
    state items {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.number) {
            0: accept;
            default: items;
        }
    }
}

/* What it marks is a copy, which is copied back; that of `mark_copy` is not. */
action drop(inout standard_metadata_t copy) { mark_to_drop(copy); }

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control IngressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<9>>(4) narrow;
    register<bit<100>>(4) wide;
    counter(4, CounterType.packets_and_bytes) seen;
    meter(2, MeterType.bytes) metered;
    bit<2> colour = 0;

    action exchange() {
        wide.read(hdr.answer.old, hdr.request.index);
        wide.write(hdr.request.index, hdr.request.value);
        narrow.read(meta.short, hdr.request.index);
        meta.short = meta.short + 1;
        narrow.write(hdr.request.index, meta.short);
    }

    action branch(bit<8> limit) {
        if (hdr.request.value[7:0] > limit) {
            hdr.answer.drawn = 1;
        } else {
            hdr.answer.drawn = 2;
            return;
        }
        hdr.answer.hash = (bit<32>)limit;
    }

    table drop_copied {
        actions = { drop(standard); }
        const default_action = drop(standard);
    }

    action mark_copy() {
        standard_metadata_t copy = standard;
        mark_to_drop(copy);
        hdr.answer.drawn = copy.egress_spec[7:0];
    }

    apply {
        standard.egress_spec = 1;
        hdr.answer.setValid();
        hdr.answer.length = standard.packet_length;
        hdr.answer.time = standard.ingress_global_timestamp;
        meta.tm.rank = (bit<64>)hdr.request.value;
        standard.priority = 5;
        if (hdr.request.what == 0) {
            exchange();
        } else if (hdr.request.what == 1) {
            seen.count(hdr.request.index);
            metered.execute_meter(hdr.request.index, colour);
            hdr.answer.colour = (bit<4>)colour;
        } else if (hdr.request.what == 2) {
            hash(hdr.answer.hash, HashAlgorithm.crc32, 32w100, { hdr.request.index, hdr.request.rest }, 64w0x100000000);
        } else if (hdr.request.what == 3) {
            hash(hdr.answer.hash, HashAlgorithm.crc16, 32w0, { hdr.request.index, 8w0xab }, 32w1000);
        } else if (hdr.request.what == 4) {
            random(hdr.answer.drawn, 10, 19);
        } else if (hdr.request.what == 5) {
            hdr.items.push_front(1);
            hdr.items[0].setValid();
            hdr.items[0].number = 0xee;
        } else if (hdr.request.what == 6) {
            hdr.items.pop_front(2);
        } else if (hdr.request.what == 7) {
            hdr.single = hdr.items[1];
            if (hdr.items[hdr.request.index].isValid()) {
                hdr.items[hdr.request.index].number = 0x77;
            }
        } else if (hdr.request.what == 8) {
            standard.mcast_grp = (bit<16>)hdr.request.index;
        } else if (hdr.request.what == 9) {
            mark_to_drop(standard);
        } else if (hdr.request.what == 10) {
            truncate(hdr.request.index);
        } else if (hdr.request.what == 11) {
            assert(hdr.request.index == 0);
        } else if (hdr.request.what == 12) {
            branch(5);
        } else if (hdr.request.what == 13) {
            exit;
        } else if (hdr.request.what == 15) {
            standard.mcast_grp = 7;
            drop_copied.apply();
        } else if (hdr.request.what == 16) {
            mark_copy();
        }
        hdr.answer.colour = hdr.answer.colour | 8;
    }
}

control EgressControl(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.request.setInvalid();
        hdr.answer.queue = standard.deq_timedelta[7:0] ++ standard.enq_qdepth[7:0];
        if (standard.packet_length < 40) {
            mark_to_drop(standard);
        }
    }
}
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.request);
        packet.emit(hdr.answer);
        packet.emit(hdr.items);
        packet.emit(hdr.single);
    }
}

V1Switch(Parse(), Verify(), IngressControl(), EgressControl(), Compute(), Deparse()) main;
