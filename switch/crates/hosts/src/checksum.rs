//! TCP's checksum (RFC 9293, section 3.1), by words: smoltcp's sums two bytes at a time.

use std::net::Ipv4Addr;

const PROTOCOL: u64 = 6;
/// Where a TCP header has its checksum.
const CHECKSUM: std::ops::Range<usize> = 16..18;

/// The sum of 16-bit words in the processor's order: it swaps with the bytes (RFC 1071, section 2).
/// Not folded; of less than 16 GiB.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum = words.iter().fold(0u64, |sum, word| {
        sum.wrapping_add(u64::from(u32::from_ne_bytes(*word)))
    });
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(u64::from(u32::from_ne_bytes(last)))
}

/// The folded sum of a segment with its pseudo header, in the processor's order.
fn of_segment(source: Ipv4Addr, destination: Ipv4Addr, segment: &[u8]) -> u16 {
    let pseudo = (PROTOCOL + segment.len() as u64).to_be();
    let mut folded = sum(&source.octets()) + sum(&destination.octets()) + sum(segment);
    folded += pseudo >> 32;
    folded += pseudo & 0xffff_ffff;
    while folded > 0xffff {
        folded = (folded >> 16) + (folded & 0xffff);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is folded")]
    {
        folded as u16
    }
}

/// Whether the checksum of a segment, header and data, is right.
pub(crate) fn is_right(source: Ipv4Addr, destination: Ipv4Addr, segment: &[u8]) -> bool {
    of_segment(source, destination, segment) == 0xffff
}

/// Writes the checksum of a segment of at least a header.
pub(crate) fn fill(source: Ipv4Addr, destination: Ipv4Addr, segment: &mut [u8]) {
    segment[CHECKSUM].fill(0);
    let checksum = !of_segment(source, destination, segment);
    segment[CHECKSUM].copy_from_slice(&checksum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smoltcp::wire::{IpAddress, TcpPacket};

    use super::*;

    proptest! {
        /// smoltcp has checksums of its own.
        #[test]
        fn checksums_are_smoltcps(
            source: u32, destination: u32, mut segment in prop::collection::vec(any::<u8>(), 20..1600), place: prop::sample::Index,
        ) {
            let (source, destination) = (Ipv4Addr::from(source), Ipv4Addr::from(destination));
            let ends = (IpAddress::Ipv4(source), IpAddress::Ipv4(destination));
            segment[12] = 5 << 4;
            let mut theirs = segment.clone();
            TcpPacket::new_unchecked(&mut theirs).fill_checksum(&ends.0, &ends.1);
            fill(source, destination, &mut segment);
            prop_assert_eq!(&segment, &theirs);
            prop_assert!(is_right(source, destination, &segment));
            segment[place.index(theirs.len())] ^= 4;
            prop_assert!(!is_right(source, destination, &segment));
            let is_right = TcpPacket::new_unchecked(&theirs).verify_checksum(&ends.0, &ends.1);
            prop_assert!(is_right);
        }
    }
}
