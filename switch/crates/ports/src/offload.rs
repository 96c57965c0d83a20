//! Does work that the kernel leaves to hardware, so that frames look as on a cable.
//!
//! A frame has a virtio header (`struct virtio_net_hdr`, linux/virtio_net.h: flags, kind of
//! segmentation, header length, segment size, checksum start and offset; native byte order) and, in
//! the ring or auxiliary data, the VLAN [`tag`](crate::tag) that the kernel took out.

use crate::checksum;
use crate::counters::Counters;
use crate::segment;
use crate::tag::{Tag, append_tagged};

/// Length of the virtio header.
pub const VIRTIO_HEADER: usize = 10;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum field holds only the sum over the pseudo header.
const NEEDS_CHECKSUM: u8 = 1;

/// The header of a complete frame to be sent. The kernel copies the first `copied` bytes at once.
#[inline]
#[must_use]
pub fn virtio_header(copied: u16) -> [u8; VIRTIO_HEADER] {
    let [low, high] = copied.to_ne_bytes();
    [0, 0, low, high, 0, 0, 0, 0, 0, 0]
}

/// Gives `take` the frame in `received` (behind its virtio header) as on a cable: with checksum and
/// tag, cut into segments. Counts impossible ones as refused. `scratch` is working memory.
#[inline]
pub fn finish(
    received: &mut [u8],
    tag: Option<Tag>,
    scratch: &mut Vec<u8>,
    counters: &Counters,
    take: &mut dyn FnMut(&[u8]),
) {
    let Some((header, frame)) = received.split_first_chunk_mut::<VIRTIO_HEADER>() else {
        return counters.refuse();
    };
    let number = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
    let checksum_start = usize::from(number(6));
    if header[1] != 0 {
        let size = usize::from(number(4));
        match segment::segment(header[1], size, checksum_start, frame, tag, scratch, take) {
            Some(()) => counters.segment(),
            None => counters.refuse(),
        }
        return;
    }
    if header[0] & NEEDS_CHECKSUM != 0 {
        complete_checksum(frame, checksum_start, usize::from(number(8)));
    }
    if tag.is_none() {
        return take(frame);
    }
    scratch.clear();
    append_tagged(scratch, frame, tag);
    take(scratch);
}

/// Stores the complement of the sum from `start` on at `start + offset`, if within the frame.
fn complete_checksum(frame: &mut [u8], start: usize, offset: usize) {
    if let Some(covered) = frame
        .get_mut(start..)
        .filter(|covered| covered.len() >= offset + 2)
    {
        let complement = checksum::complement(checksum::sum(covered));
        covered[offset..offset + 2].copy_from_slice(&complement.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames that `take` gets, and the number of refused ones.
    fn finished(received: &mut [u8], tag: Option<Tag>) -> (Vec<Vec<u8>>, u64) {
        let (mut taken, counters) = (Vec::new(), Counters::default());
        finish(received, tag, &mut Vec::new(), &counters, &mut |frame| {
            taken.push(frame.to_vec());
        });
        (taken, counters.read().refused)
    }

    #[test]
    fn a_tag_is_put_back_behind_the_addresses() {
        let tag = Some([0x88, 0xa8, 0xa0, 0x0b]);
        let mut received = vec![0; VIRTIO_HEADER];
        received.extend(0..14);
        let frame = [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x88, 0xa8, 0xa0, 0x0b, 12, 13,
        ];
        assert_eq!(finished(&mut received, tag), (vec![frame.to_vec()], 0));
    }

    #[test]
    fn a_partial_checksum_is_completed() {
        // RFC 1071's own example, behind 2 bytes that are not covered and with room for the checksum in front.
        let mut received = vec![NEEDS_CHECKSUM, 0, 0, 0, 0, 0];
        received.extend(2u16.to_ne_bytes());
        received.extend(0u16.to_ne_bytes());
        received.extend([9, 9, 0, 0, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        let (taken, _) = finished(&mut received, None);
        assert_eq!(taken[0][2..4], (!0xddf2u16).to_be_bytes());
    }

    #[test]
    fn nonsense_is_refused_or_left_alone() {
        assert_eq!(finished(&mut [0; 9], None), (vec![], 1));
        let mut unsegmented = [0u8; 30];
        unsegmented[1] = 1;
        assert_eq!(finished(&mut unsegmented, None), (vec![], 1));
        let mut beyond = [0u8; 20];
        beyond[0] = NEEDS_CHECKSUM;
        beyond[6..8].copy_from_slice(&500u16.to_ne_bytes());
        assert_eq!(finished(&mut beyond, None), (vec![vec![0; 10]], 0));
        let (taken, _) = finished(&mut [0; 15], Some([1, 2, 3, 4]));
        assert_eq!(taken, [vec![0; 5]]);
    }
}
