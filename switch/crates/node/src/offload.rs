//! Undoes what the kernel leaves to hardware, so that a frame looks as it would on a cable.
//!
//! Two things come beside a frame from a packet socket: the virtio header in front of it (`struct virtio_net_hdr`,
//! linux/virtio_net.h: flags, kind of segmentation, header length, segment size, where the checksum starts and where it
//! goes; native byte order) and the auxiliary data (`struct tpacket_auxdata`, linux/if_packet.h), which have the VLAN
//! tag that the kernel took out.

/// Length of the virtio header in bytes.
pub const VNET_HEADER: usize = 10;

/// Length of the auxiliary data in bytes.
pub const AUXILIARY_DATA: usize = 20;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum field holds only the sum over the pseudo header.
const NEEDS_CHECKSUM: u8 = 1;
/// `TP_STATUS_VLAN_VALID` and `TP_STATUS_VLAN_TPID_VALID`.
const TAG_VALID: u32 = 1 << 4;
const TYPE_VALID: u32 = 1 << 6;
/// IEEE 802.1Q's EtherType, which a kernel that does not say means.
const TYPE_8021Q: u16 = 0x8100;
/// Both addresses; the tag comes behind them.
const ADDRESSES: usize = 12;

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The VLAN tag (type and control information, network byte order) in a packet socket's auxiliary data.
#[must_use]
pub fn vlan_tag(auxiliary: &[u8]) -> Option<[u8; 4]> {
    let status = u32::from_ne_bytes(auxiliary.get(..4)?.try_into().ok()?);
    if status & TAG_VALID == 0 {
        return None;
    }
    let control = half(auxiliary, 16)?;
    let kind = if status & TYPE_VALID == 0 {
        TYPE_8021Q
    } else {
        half(auxiliary, 18)?
    };
    let [a, b] = kind.to_be_bytes();
    let [c, d] = control.to_be_bytes();
    Some([a, b, c, d])
}

/// The frame in `received` (virtio header and frame), its checksum completed and its tag put back; `None` if it is to be
/// segmented first, or is no frame at all.
pub fn finish(received: &mut [u8], tag: Option<[u8; 4]>) -> Option<Vec<u8>> {
    let (header, frame) = received.split_at_mut_checked(VNET_HEADER)?;
    if header[1] != 0 {
        return None;
    }
    if header[0] & NEEDS_CHECKSUM != 0 {
        complete_checksum(
            frame,
            usize::from(half(header, 6)?),
            usize::from(half(header, 8)?),
        );
    }
    let Some(tag) = tag.filter(|_| frame.len() >= ADDRESSES) else {
        return Some(frame.to_vec());
    };
    let mut tagged = Vec::with_capacity(frame.len() + tag.len());
    tagged.extend_from_slice(&frame[..ADDRESSES]);
    tagged.extend_from_slice(&tag);
    tagged.extend_from_slice(&frame[ADDRESSES..]);
    Some(tagged)
}

/// Sums the frame from `start` on (RFC 1071) and stores the complement at `start + offset`. Leaves the frame as it is if
/// that place is outside it.
fn complete_checksum(frame: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = frame
        .get_mut(start..)
        .filter(|covered| covered.len() >= offset + 2)
    else {
        return;
    };
    let mut sum = 0u64;
    for pair in covered.chunks(2) {
        sum += u64::from(u16::from_be_bytes([
            pair[0],
            pair.get(1).copied().unwrap_or(0),
        ]));
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    // UDP has no checksum of zero: it means "none", and ones stand for it (RFC 768). Right for TCP too, where both mean
    // the same number.
    let complement = match !(sum as u16) {
        0 => 0xffff,
        other => other,
    };
    covered[offset..offset + 2].copy_from_slice(&complement.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auxiliary(status: u32, control: u16, kind: u16) -> Vec<u8> {
        let mut data = status.to_ne_bytes().to_vec();
        data.extend([0; 12]);
        data.extend(control.to_ne_bytes());
        data.extend(kind.to_ne_bytes());
        data
    }

    #[test]
    fn a_tag_is_put_back_behind_the_addresses() {
        let tag = vlan_tag(&auxiliary(TAG_VALID | TYPE_VALID, 0xa00b, 0x88a8));
        assert_eq!(tag, Some([0x88, 0xa8, 0xa0, 0x0b]));
        assert_eq!(vlan_tag(&auxiliary(TAG_VALID, 7, 0)), Some([0x81, 0, 0, 7]));
        assert_eq!(vlan_tag(&auxiliary(0, 7, 0x8100)), None);
        assert_eq!(vlan_tag(&[1, 2]), None);

        let mut received = vec![0; VNET_HEADER];
        received.extend(0..14);
        let frame = finish(&mut received, tag).expect("a frame");
        assert_eq!(
            frame,
            [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x88, 0xa8, 0xa0, 0x0b, 12, 13
            ]
        );
    }

    #[test]
    fn a_partial_checksum_is_completed() {
        // RFC 1071's own example, behind 2 bytes that are not covered and with room for the checksum in front.
        let mut received = vec![NEEDS_CHECKSUM, 0, 0, 0, 0, 0];
        received.extend(2u16.to_ne_bytes());
        received.extend(0u16.to_ne_bytes());
        received.extend([9, 9, 0, 0, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        let frame = finish(&mut received, None).expect("a frame");
        assert_eq!(frame[2..4], (!0xddf2u16).to_be_bytes());
    }

    #[test]
    fn nonsense_is_refused_or_left_alone() {
        assert_eq!(finish(&mut [0; 9], None), None);
        let mut unsegmented = [0u8; 30];
        unsegmented[1] = 1;
        assert_eq!(finish(&mut unsegmented, None), None);
        let mut beyond = [0u8; 20];
        beyond[0] = NEEDS_CHECKSUM;
        beyond[6..8].copy_from_slice(&500u16.to_ne_bytes());
        assert_eq!(finish(&mut beyond, None), Some(vec![0; 10]));
        assert_eq!(finish(&mut [0; 15], Some([1, 2, 3, 4])), Some(vec![0; 5]));
    }
}
