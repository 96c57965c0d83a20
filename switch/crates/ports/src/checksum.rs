//! The Internet checksum (RFC 1071).

/// The sum of 16-bit numbers, not folded, zero after an odd length. Parts of even length add up.
#[inline]
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    // 32-bit numbers give the same sum when folded, in half the steps.
    let (words, rest) = bytes.as_chunks::<4>();
    let mut sum: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_be_bytes(*word)))
        .sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum += u64::from(u32::from_be_bytes(last));
    sum
}

/// Folds a sum to 16 bits.
#[inline]
#[must_use]
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// A TCP or UDP checksum for the sum over the rest. In UDP zero means "none", and ones replace it
/// (RFC 768); in TCP both mean the same number.
#[inline]
#[must_use]
pub fn complement(sum: u64) -> u16 {
    match !fold(sum) {
        0 => 0xffff,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rfc_1071_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes)), 0xddf2);
        assert_eq!(complement(0xffff), 0xffff);
        assert_eq!(complement(0), 0xffff);
        assert_eq!(complement(1), 0xfffe);
    }

    proptest! {
        #[test]
        fn equals_the_sum_of_halves(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let halves = bytes.chunks(2).map(|pair| {
                u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
            });
            prop_assert_eq!(fold(sum(&bytes)), fold(halves.sum()));
        }
    }
}
