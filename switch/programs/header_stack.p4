// Header stacks: extraction into next, last and lastIndex, push_front, pop_front, elements by index, a stack that overflows.

#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> operation;
    bit<8> argument;
}

header label_t {
    bit<20> label;
    bit<3>  class;
    bit<1>  bottom;
    bit<8>  time_to_live;
}

header answer_t {
    bit<8> overflow;
    bit<8> last_index;
    bit<8> last_class;
}

struct headers_t {
    command_t  command;
    answer_t   answer;
    label_t[3] labels;
}

struct metadata_t {
    bit<8> last_index;
    bit<8> last_class;
}

parser StackParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.command);
        transition label;
    }

    state label {
        packet.extract(hdr.labels.next);
        meta.last_index = (bit<8>)hdr.labels.lastIndex;
        meta.last_class = (bit<8>)hdr.labels.last.class;
        transition select(hdr.labels.last.bottom) {
            0: label;
            default: accept;
        }
    }
}

control StackIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action push_one() {
        hdr.labels.push_front(1);
        hdr.labels[0].setValid();
        hdr.labels[0].label = 0xfffff;
        hdr.labels[0].class = 7;
        hdr.labels[0].bottom = 0;
        hdr.labels[0].time_to_live = hdr.command.argument;
    }

    action push_two_empty() {
        hdr.labels.push_front(2);
    }

    action pop_one() {
        hdr.labels.pop_front(1);
    }

    action pop_two() {
        hdr.labels.pop_front(2);
    }

    action swap() {
        label_t first = hdr.labels[0];
        hdr.labels[0] = hdr.labels[1];
        hdr.labels[1] = first;
    }

    action drop_middle() {
        hdr.labels[1].setInvalid();
    }

    table operate {
        key = {
            hdr.command.operation: exact;
        }
        actions = {
            push_one;
            push_two_empty;
            pop_one;
            pop_two;
            swap;
            drop_middle;
            NoAction;
        }
        const entries = {
            1: push_one();
            2: push_two_empty();
            3: pop_one();
            4: pop_two();
            5: swap();
            6: drop_middle();
        }
        const default_action = NoAction();
    }

    apply {
        operate.apply();
        hdr.answer.setValid();
        hdr.answer.overflow = standard.parser_error == error.StackOutOfBounds ? 8w1 : 8w0;
        hdr.answer.last_index = meta.last_index;
        hdr.answer.last_class = meta.last_class;
        standard.egress_spec = 1;
    }
}

#include "stages.p4i"

V1Switch(StackParser(), NoVerify(), StackIngress(), NoEgress(), NoUpdate(), EmitAll()) main;
