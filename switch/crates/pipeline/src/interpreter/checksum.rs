//! The checksums a program verifies and keeps, and the deparser.

use crate::bits::Writer;
use crate::machine::{Machine, Observe, write_header};
use crate::packet::Packet;
use crate::program::{Deparser, Guard};
use crate::record::Part;

impl<O: Observe> Machine<'_, O> {
    fn holds(&mut self, guard: Guard, packet: &mut Packet) -> bool {
        if let Some(start) = guard.start {
            self.apply(&mut [], packet, start);
        }
        packet.word(guard.word.into()) != 0
    }

    pub(crate) fn verify_checksums(&mut self, packet: &mut Packet) -> bool {
        let program = self.program;
        self.observer.part(Part::Verify, self.now);
        let mut correct = true;
        for checksum in &program.verified {
            let present = checksum.valid.is_none_or(|valid| packet.word(valid) != 0);
            if present
                && checksum
                    .condition
                    .is_none_or(|guard| self.holds(guard, packet))
            {
                let sum = self.calculate(checksum.calculation, packet);
                let (sum, carried) = (
                    checksum.target.fit.word(sum),
                    packet.word(checksum.target.word),
                );
                self.observer.checksum(checksum.target.word, sum, carried);
                correct &= sum == carried;
            }
        }
        correct
    }

    /// Updates checksums and writes headers and payload.
    pub(crate) fn deparse(&mut self, packet: &mut Packet, out: &mut Vec<u8>) {
        let program = self.program;
        self.observer.part(Part::Deparser, self.now);
        for checksum in &program.updated {
            if checksum
                .condition
                .is_none_or(|guard| self.holds(guard, packet))
            {
                let sum = self.calculate(checksum.calculation, packet);
                let target = checksum.target;
                let sum = target.fit.word(sum);
                self.observer
                    .checksum(target.word, sum, packet.word(target.word));
                packet.set_word(target.word, sum);
            }
        }
        out.clear();
        self.emit(&program.deparser, packet, out);
        out.extend_from_slice(&packet.payload);
        if let Some(limit) = packet.truncate_to {
            out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
    }

    /// Runs a deparser's statements and appends its headers.
    pub(crate) fn emit(&mut self, deparser: &Deparser, packet: &mut Packet, out: &mut Vec<u8>) {
        let program = self.program;
        if let Some(start) = deparser.start {
            self.apply(&mut [], packet, start);
        }
        out.reserve(packet.payload.len() + HEADROOM);
        if deparser.in_bytes {
            for &header in &deparser.emitted {
                if packet.word(header.word) == 0 {
                    continue;
                }
                let layout = &program.layouts[header.layout as usize];
                let before = out.len();
                match &layout.plan {
                    Some(plan) => plan.append(packet.wide(header.word, layout.words), out),
                    None => {
                        let mut writer = Writer::new(out);
                        write_header(&mut writer, header, program, packet);
                        writer.finish();
                    }
                }
                self.observer.emitted(header, before..out.len());
            }
        } else {
            let mut writer = Writer::new(out);
            for &header in &deparser.emitted {
                if packet.word(header.word) != 0 {
                    write_header(&mut writer, header, program, packet);
                    self.observer.emitted(header, 0..0);
                }
            }
            writer.finish();
        }
        self.observer.deparsed(out.len());
    }
}

/// Room for headers, so that few packets make the buffer grow twice.
const HEADROOM: usize = 256;
