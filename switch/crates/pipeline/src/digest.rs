//! Digests: messages of a few fields that a program sends to its controller.

use crate::packet::{Packet, Slot};
use crate::pipeline::Pipeline;
use crate::program::DigestFields;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Position of its list among [`Pipeline::digest_lists`].
    pub list: u32,
    /// The values, big-endian, in as many bytes as their fields take.
    pub fields: Vec<Vec<u8>>,
}

/// The fields of one kind of message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestList {
    /// Name in the program.
    pub name: String,
    /// Id in the artifact.
    pub id: u32,
    /// Names and widths in bits.
    pub fields: Vec<(String, u32)>,
}

/// Messages kept until somebody takes them; further ones are lost, and counted.
const MOST: usize = 4096;

/// Messages that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Digests {
    waiting: Vec<Digest>,
    lost: u64,
}

impl Digests {
    /// Notes the message of a packet. This allocates, as a message for the controller may.
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

/// The low `bits` of a number given least significant word first.
pub(crate) fn big_endian(words: &[u64], bits: u32) -> Vec<u8> {
    let length = bits.div_ceil(8) as usize;
    let bytes = words.iter().rev().flat_map(|word| word.to_be_bytes());
    let mut bytes: Vec<u8> = bytes.skip(words.len() * 8 - length).collect();
    if let Some(first) = bytes.first_mut()
        && !bits.is_multiple_of(8)
    {
        // A signed field is kept sign-extended.
        *first &= crate::bits::mask(bits % 8) as u8;
    }
    bytes
}

impl Pipeline {
    /// The messages packets have sent since last asked; `None` if there are none.
    pub fn take_digests(&mut self) -> Option<Vec<Digest>> {
        if self.digests.waiting.is_empty() {
            None
        } else {
            Some(std::mem::take(&mut self.digests.waiting))
        }
    }

    /// Messages that were lost because nobody took those before them.
    #[must_use]
    pub fn lost_digests(&self) -> u64 {
        self.digests.lost
    }

    /// The kinds of messages the program sends.
    #[must_use]
    pub fn digest_lists(&self) -> Vec<DigestList> {
        let lists = self.program().digests.iter();
        lists
            .map(|list| DigestList {
                name: list.name.clone(),
                id: list.id,
                fields: list
                    .fields
                    .iter()
                    .map(|(name, _, bits)| (name.clone(), *bits))
                    .collect(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::big_endian;

    #[test]
    fn values_have_the_width_of_their_fields() {
        assert_eq!(big_endian(&[0x1234], 9), [0x00, 0x34]);
        assert_eq!(big_endian(&[u64::MAX], 9), [0x01, 0xff]);
        assert_eq!(big_endian(&[7], 8), [7]);
        assert_eq!(
            big_endian(&[0x0102_0304_0506_0708, 0xa], 68),
            [0xa, 1, 2, 3, 4, 5, 6, 7, 8]
        );
    }
}
