//! Hash maps keyed on match keys.
//!
//! The hasher is ours so that a run is the same on every machine; keys come from the control plane, and lookups by
//! packets change nothing, so it need not resist chosen keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from one `u128` per key field, looked up by slice without allocating.
pub(crate) type KeyMap = HashMap<Box<[u128]>, u32, BuildHasherDefault<KeyHasher>>;

/// Multiply and rotate, 64 bits at a time; the multiplier is 2^64 divided by the golden ratio (Knuth, TAOCP 6.4).
#[derive(Default)]
pub(crate) struct KeyHasher {
    state: u64,
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }

    fn write_usize(&mut self, length: usize) {
        self.write_u64(length as u64);
    }

    fn finish(&self) -> u64 {
        // The map takes its bucket from the low bits, which a multiplication mixes least.
        self.state ^ self.state >> 32
    }
}
