//! Hash algorithms, over a string of bytes.

use twox_hash::XxHash64;

use super::crc::Crc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Crc16,
    Crc32,
    Csum16,
    Identity,
    Xor16,
    Xor32,
    /// XXH64 without a seed, the hash of bmv2's own.
    Xxh64,
    /// Any other CRC.
    Crc(Crc),
    /// A random number, whatever the data.
    Random,
}

impl Algorithm {
    pub(crate) const NAMES: &'static str =
        "expected csum16, identity, xor16, xor32, xxh64, random or a CRC";

    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "crc16" | "crc_16" => Self::Crc16,
            "crc32" | "crc_32" => Self::Crc32,
            "crcCCITT" => Self::Crc(Crc::named("crc_ccitt_false")?),
            "csum16" | "cksum16" => Self::Csum16,
            "identity" => Self::Identity,
            "xor16" => Self::Xor16,
            "xor32" => Self::Xor32,
            "xxh64" | "bmv2_hash" => Self::Xxh64,
            "random" => Self::Random,
            other => Self::Crc(Crc::custom(other).or_else(|| Crc::named(other))?),
        })
    }

    pub(crate) fn hash(self, data: &[u8]) -> u64 {
        match self {
            Self::Crc16 => u64::from(data.iter().fold(0u16, |crc, byte| {
                CRC16[usize::from(crc as u8 ^ byte)] ^ crc >> 8
            })),
            Self::Crc32 => u64::from(crc32(data)),
            Self::Csum16 => u64::from(internet_checksum(data)),
            Self::Identity => data
                .iter()
                .take(8)
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
            Self::Random => 0,
            Self::Xor16 => u64::from(words(data).fold(0, |sum, word| sum ^ word)),
            Self::Xor32 => data.chunks(4).fold(0, |sum, chunk| {
                let part = |index| u64::from(chunk.get(index).copied().unwrap_or(0));
                sum ^ (part(0) << 24 | part(1) << 16 | part(2) << 8 | part(3))
            }),
            Self::Xxh64 => XxHash64::oneshot(0, data),
            Self::Crc(crc) => crc.of(data),
        }
    }
}

/// RFC 1071: the complement of the one's complement sum of 16-bit words, padded with zero.
fn internet_checksum(data: &[u8]) -> u16 {
    finish_sum(sum_of(data)) as u16
}

/// Equal modulo 2^16-1 to the sum of 16-bit words, padded with zero; zero only if all are zero.
pub(crate) fn sum_of(data: &[u8]) -> u64 {
    let chunks = data.chunks_exact(4);
    let rest = words(chunks.remainder()).map(u64::from).sum::<u64>();
    let whole =
        chunks.map(|chunk| u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])));
    whole.sum::<u64>() + rest
}

pub(crate) fn finish_sum(sum: u64) -> u64 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !sum & 0xffff
}

fn words(data: &[u8]) -> impl Iterator<Item = u16> {
    data.chunks(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

/// CRC-16/ARC: x^16+x^15+x^2+1, reflected.
pub(crate) static CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u16;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xa001
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

/// CRC-32 of IEEE 802.3, reflected: the effect of a byte with none to three bytes after it.
pub(crate) static CRC32: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 256 {
        let mut crc = index as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
            bit += 1;
        }
        tables[0][index] = crc;
        index += 1;
    }
    let mut after = 1;
    while after < 4 {
        let mut index = 0;
        while index < 256 {
            let before: u32 = tables[after - 1][index];
            tables[after][index] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            index += 1;
        }
        after += 1;
    }
    tables
};

fn crc32(data: &[u8]) -> u32 {
    let chunks = data.chunks_exact(4);
    let rest = chunks.remainder();
    let crc = chunks.fold(u32::MAX, |crc, chunk| {
        let [a, b, c, d] =
            (crc ^ u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])).to_le_bytes();
        CRC32[3][usize::from(a)]
            ^ CRC32[2][usize::from(b)]
            ^ CRC32[1][usize::from(c)]
            ^ CRC32[0][usize::from(d)]
    });
    !rest.iter().fold(crc, |crc, byte| {
        CRC32[0][usize::from(crc as u8 ^ byte)] ^ crc >> 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The check values of the CRC catalogue, over the digits 1 to 9.
    #[test]
    fn check_values() {
        assert_eq!(Algorithm::Crc16.hash(b"123456789"), 0xbb3d);
        assert_eq!(Algorithm::Crc32.hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(Algorithm::Identity.hash(&[1, 2, 3]), 0x01_02_03);
        assert_eq!(Algorithm::Xor16.hash(&[0x12, 0x34, 0x56]), 0x4434);
        // The values of the specification's own test, without a seed.
        assert_eq!(Algorithm::Xxh64.hash(b""), 0xef46_db37_51d8_e999);
        assert_eq!(Algorithm::Xxh64.hash(b"abc"), 0x44bc_2cf5_ad77_0999);
        assert_eq!(Algorithm::Xor32.hash(&[1, 2, 3, 4, 5, 6]), 0x0404_0304);
        // The example of RFC 1071 section 3.
        assert_eq!(
            Algorithm::Csum16.hash(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]),
            0xffff - 0xddf2
        );
        assert_eq!(Algorithm::Csum16.hash(&[]), 0xffff);
    }

    proptest! {
        /// Four bytes at a time, or bit by bit as the standard says.
        #[test]
        fn crc32_is_the_remainder(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let expected = !data.iter().fold(u32::MAX, |crc, byte| {
                (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1)))
            });
            prop_assert_eq!(crc32(&data), expected);
        }

        #[test]
        fn checksum_verifies_itself(mut data in prop::collection::vec(any::<u8>(), 0..64)) {
            if data.len() % 2 == 1 {
                data.pop();
            }
            let sum = internet_checksum(&data);
            data.extend_from_slice(&sum.to_be_bytes());
            prop_assert_eq!(internet_checksum(&data), 0);
        }
    }
}
