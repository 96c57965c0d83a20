//! Digests: messages of a few fields that a program sends to its controller.

use crate::bits::big_endian;
use crate::packet::Packet;
use crate::program::{DigestFields, Slot};

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Position of its list among [`crate::Pipeline::digest_lists`].
    pub list: u32,
    /// The values, big-endian, in as many bytes as their fields take.
    pub fields: Vec<Vec<u8>>,
}

/// Messages that wait; further ones are lost, and counted.
const MOST: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Digests {
    pub(crate) waiting: Vec<Digest>,
    pub(crate) lost: u64,
}

impl Digests {
    /// Notes a packet's message. This allocates, unlike the rest of the packet path.
    pub(crate) fn push(&mut self, lists: &[DigestFields], list: u32, packet: &Packet) {
        if self.waiting.len() >= MOST {
            self.lost += 1;
            return;
        }
        let fields = lists[list as usize].fields.iter();
        let fields = fields.map(|(_, slot, bits)| match *slot {
            Slot::Word { word } => big_endian(&[packet.word(word)], *bits),
            Slot::Wide { word, words } => big_endian(packet.wide(word, words), *bits),
            Slot::Variable { .. } => Vec::new(),
        });
        self.waiting.push(Digest {
            list,
            fields: fields.collect(),
        });
    }
}
