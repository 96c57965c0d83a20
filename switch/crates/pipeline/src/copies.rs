//! Copies of packets: clones, multicast replicas, and packets that pass once more.
//! Headers, metadata and `instance_type` are as in simple_switch. Except replicas, copies start
//! with zero metadata, also the ingress port, but for the fields that the program lists.

use crate::packet::Packet;
use crate::path::Processed;
use crate::pipeline::Pipeline;
use crate::program::{FieldList, Slot};
use crate::psa::NORMAL_MULTICAST;
use crate::time::Time;

/// Values of `standard_metadata.instance_type`.
const INGRESS_CLONE: u64 = 1;
const EGRESS_CLONE: u64 = 2;
const RECIRCULATED: u64 = 4;
const REPLICATION: u64 = 5;
const RESUBMITTED: u64 = 6;

impl Pipeline {
    /// A clone of the frame as it arrived, to be queued for egress: parsed once more, with the
    /// listed metadata of `of`.
    pub fn clone_ingress(
        &mut self,
        now: Time,
        port: u16,
        frame: &[u8],
        of: &Packet,
        fields: FieldList,
    ) -> Box<Packet> {
        if self.is_psa() {
            return self.psa_clone_ingress(frame);
        }
        let mut packet = self.fresh(frame);
        let standard = &self.program.standard;
        // A parser may select on the port.
        packet.set_field(standard.ingress_port, port.into());
        self.parse_again(now, &mut packet, frame);
        self.keep_only(&mut packet, of, fields, INGRESS_CLONE);
        packet
    }

    /// A clone of a packet after egress, to be queued for egress: its headers and payload as they
    /// are, and the listed metadata.
    pub fn clone_egress(&mut self, of: &Packet, fields: FieldList) -> Box<Packet> {
        if self.is_psa() {
            return self.psa_clone_egress(of);
        }
        let mut packet = self.duplicate(of);
        self.keep_only(&mut packet, of, fields, EGRESS_CLONE);
        packet.truncate_to = None;
        packet
    }

    /// A copy for one member of a multicast group: the packet as it is, with `rid` as its instance.
    pub fn replicate(&mut self, of: &Packet, rid: u16) -> Box<Packet> {
        let mut packet = self.duplicate(of);
        self.mark_replicated(&mut packet);
        self.set_instance(&mut packet, rid);
        packet
    }

    /// Marks a packet as a multicast copy; clones for a group stay clones.
    pub fn mark_replicated(&self, packet: &mut Packet) {
        let path = if self.is_psa() {
            NORMAL_MULTICAST
        } else {
            REPLICATION
        };
        packet.set_field(self.program.standard.instance_type, path);
    }

    /// Sets the number that tells copies for the same port apart.
    pub fn set_instance(&self, packet: &mut Packet, rid: u16) {
        packet.set_field(self.program.standard.egress_rid, rid.into());
    }

    /// Ingress once more for the frame as it arrived, with the listed metadata of `of`, and its record.
    pub fn resubmit(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &mut Packet,
        fields: FieldList,
    ) -> Processed {
        match self.psa_again(now, frame, of, true) {
            Some(processed) => processed,
            None => self.again(now, frame, of, fields, RESUBMITTED),
        }
    }

    /// Ingress once more for a frame that [`Pipeline::deparse`] made of `of`, with listed metadata, and
    /// its record.
    pub fn recirculate(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &mut Packet,
        fields: FieldList,
    ) -> Processed {
        match self.psa_again(now, frame, of, false) {
            Some(processed) => processed,
            None => self.again(now, frame, of, fields, RECIRCULATED),
        }
    }

    fn again(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &mut Packet,
        fields: FieldList,
        instance_type: u64,
    ) -> Processed {
        let mut packet = self.fresh(frame);
        packet.record = of.record.take();
        self.keep_only(&mut packet, of, fields, instance_type);
        let standard = &self.program.standard;
        packet.set_field(standard.packet_length, frame.len() as u64);
        self.process(now, packet, frame)
    }

    /// An equal packet, without its requests.
    pub fn duplicate(&mut self, of: &Packet) -> Box<Packet> {
        let mut packet = self.pooled();
        packet.words.clone_from(&of.words);
        packet.bytes.clone_from(&of.bytes);
        packet.payload.clone_from(&of.payload);
        packet.received_length = of.received_length;
        packet.current_length = of.current_length;
        packet.truncate_to = of.truncate_to;
        packet.wishes = None;
        packet.exhausted = of.exhausted;
        packet.record = None;
        packet
    }

    /// Zeroes the metadata of a copy except the listed fields.
    fn keep_only(&self, packet: &mut Packet, of: &Packet, fields: FieldList, instance_type: u64) {
        let program = &self.program;
        let (words, bytes) = (program.metadata_words, program.metadata_bytes);
        packet.wide_mut(0, words).fill(0);
        packet.span_mut(0, bytes).fill(0);
        for slot in &program.field_lists[fields.0 as usize] {
            match *slot {
                Slot::Word { word } => packet.set_word(word, of.word(word)),
                Slot::Wide { word, words } => packet
                    .wide_mut(word, words)
                    .copy_from_slice(of.wide(word, words)),
                Slot::Variable {
                    byte,
                    capacity,
                    length_word,
                } => {
                    packet
                        .span_mut(byte, capacity)
                        .copy_from_slice(of.span(byte, capacity));
                    packet.set_word(length_word, of.word(length_word));
                }
            }
        }
        packet.set_field(program.standard.instance_type, instance_type);
    }
}
