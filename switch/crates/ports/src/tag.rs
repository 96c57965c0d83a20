//! VLAN tags that the kernel took out of frames (`struct tpacket_auxdata`, linux/if_packet.h).

/// `TP_STATUS_VLAN_VALID` and `TP_STATUS_VLAN_TPID_VALID`.
const TAG_VALID: u32 = 1 << 4;
const TYPE_VALID: u32 = 1 << 6;
/// IEEE 802.1Q's EtherType, the kernel's default.
const TYPE_8021Q: u16 = 0x8100;
/// Both addresses; the tag follows.
const ADDRESSES: usize = 12;

/// Length of the auxiliary data in bytes.
pub const AUXILIARY_DATA: usize = 20;

/// A VLAN tag: type and control information, network byte order.
pub type Tag = [u8; 4];

/// The VLAN tag in the fields of a ring or of auxiliary data.
#[inline]
#[must_use]
pub fn tag(status: u32, control: u16, kind: u16) -> Option<Tag> {
    if status & TAG_VALID == 0 {
        return None;
    }
    let kind = if status & TYPE_VALID == 0 {
        TYPE_8021Q
    } else {
        kind
    };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), control.to_be_bytes());
    Some([a, b, c, d])
}

/// The VLAN tag in a packet socket's auxiliary data.
#[must_use]
pub fn tag_of_auxiliary(auxiliary: &[u8]) -> Option<Tag> {
    let status = u32::from_ne_bytes(auxiliary.get(..4)?.try_into().ok()?);
    tag(status, half(auxiliary, 16)?, half(auxiliary, 18)?)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Appends the beginning of a frame with its tag.
pub(crate) fn append_tagged(buffer: &mut Vec<u8>, frame: &[u8], tag: Option<Tag>) {
    match (frame.split_at_checked(ADDRESSES), tag) {
        (Some((addresses, rest)), Some(tag)) => {
            buffer.extend_from_slice(addresses);
            buffer.extend_from_slice(&tag);
            buffer.extend_from_slice(rest);
        }
        _ => buffer.extend_from_slice(frame),
    }
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
    fn tags_of_auxiliary_data() {
        let tag = tag_of_auxiliary(&auxiliary(TAG_VALID | TYPE_VALID, 0xa00b, 0x88a8));
        assert_eq!(tag, Some([0x88, 0xa8, 0xa0, 0x0b]));
        assert_eq!(
            tag_of_auxiliary(&auxiliary(TAG_VALID, 7, 0)),
            Some([0x81, 0, 0, 7])
        );
        assert_eq!(tag_of_auxiliary(&auxiliary(0, 7, 0x8100)), None);
        assert_eq!(tag_of_auxiliary(&[1, 2]), None);
    }
}
