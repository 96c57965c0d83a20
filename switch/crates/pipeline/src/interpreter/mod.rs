//! The reference executor: runs a program on a packet with the state, in the order `parse`,
//! `execute`, `checksum` (also the deparser). It needs nothing of the machine but memory.

mod checksum;
mod execute;
mod parse;

use crate::machine::{Machine, Observe};
use crate::packet::Packet;
use crate::path::QueueMetadata;
use crate::record::Part;
use crate::state::tables::Table;

impl<O: Observe> Machine<'_, O> {
    /// Takes a frame that arrives at a port through parser, checksums and ingress. The packet may
    /// have memory of another one.
    pub(crate) fn arrive(
        &mut self,
        tables: &mut [Table],
        packet: &mut Packet,
        frame: &[u8],
        port: u16,
    ) {
        let program = self.program;
        packet.reset(program.words as usize, program.bytes as usize, frame.len());
        let standard = &program.standard;
        packet.set_field(standard.ingress_port, port.into());
        packet.set_field(standard.packet_length, frame.len() as u64);
        packet.set_field(standard.ingress_global_timestamp, self.now / 1000);
        self.process(tables, packet, frame);
    }

    /// As [`Self::arrive`], for a packet whose metadata are set.
    pub(crate) fn process(&mut self, tables: &mut [Table], packet: &mut Packet, frame: &[u8]) {
        let program = self.program;
        let standard = &program.standard;
        self.observer.part(Part::Parser, self.now);
        let (consumed, error) = self.parse(packet, frame, program.initial_state);
        packet.payload.extend_from_slice(&frame[consumed..]);
        let error = error.unwrap_or(program.errors.no_error);
        packet.set_field(standard.parser_error, error);
        if !self.verify_checksums(packet) {
            packet.set_field(standard.checksum_error, 1);
        }
        self.observer.part(Part::Ingress, self.now);
        self.apply(tables, packet, program.ingress);
    }

    /// Applies egress to a packet that leaves its queue.
    pub(crate) fn egress(
        &mut self,
        tables: &mut [Table],
        packet: &mut Packet,
        queue: &QueueMetadata,
    ) {
        let program = self.program;
        let standard = &program.standard;
        packet.set_field(standard.egress_port, queue.egress_port.into());
        packet.set_field(standard.enq_timestamp, queue.enq_timestamp_ns / 1000);
        packet.set_field(standard.enq_qdepth, queue.enq_qdepth.into());
        packet.set_field(standard.deq_timedelta, queue.deq_timedelta_ns / 1000);
        packet.set_field(standard.deq_qdepth, queue.deq_qdepth.into());
        packet.set_field(standard.egress_global_timestamp, self.now / 1000);
        packet.set_field(standard.packet_length, packet.current_length.into());
        // Not the drop port: the value that ingress left has no meaning in egress.
        packet.set_field(standard.egress_spec, u64::from(self.drop_port) + 1);
        self.observer.part(Part::Egress, self.now);
        self.apply(tables, packet, program.egress);
    }
}
