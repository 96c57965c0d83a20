//! Bytes as text in lines of JSON.

use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

/// Bytes that are written as hexadecimal digits.
struct Digits<'a>(&'a [u8]);

impl Display for Digits<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // In pieces, because a formatter takes text, not bytes.
        let mut piece = [0; 64];
        for bytes in self.0.chunks(piece.len() / 2) {
            for (pair, byte) in piece.chunks_exact_mut(2).zip(bytes) {
                pair[0] = DIGITS[usize::from(byte >> 4)];
                pair[1] = DIGITS[usize::from(byte & 15)];
            }
            let written = &piece[..2 * bytes.len()];
            formatter.write_str(std::str::from_utf8(written).map_err(|_| fmt::Error)?)?;
        }
        Ok(())
    }
}

struct Prefixed<'a>(&'a [u8]);

impl Serialize for Prefixed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("0x{}", Digits(self.0)))
    }
}

/// Numbers of the program: `0x0a000001`.
pub(super) fn hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    Prefixed(bytes).serialize(serializer)
}

/// Several numbers of the program.
pub(super) fn hex_all<S: Serializer>(
    numbers: &[Vec<u8>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().map(|bytes| Prefixed(bytes)))
}

/// Bytes of frames: `0a000001`.
pub(super) fn hex_bare<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Digits(bytes))
}
