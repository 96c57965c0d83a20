//! Messages of rtnetlink(7).

/// Lengths of `struct nlmsghdr` and `struct rtattr`.
pub(crate) const MESSAGE_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;

pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// The messages of a datagram: their types and what follows their headers. A message that is cut
/// short ends them.
pub(crate) fn messages(mut datagram: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = word(datagram, 0)? as usize;
        let kind = half(datagram, 4)?;
        let body = datagram.get(MESSAGE_HEADER..length)?;
        datagram = datagram.get(aligned(length)..).unwrap_or_default();
        Some((kind, body))
    })
}

/// The text of the first attribute of this kind.
pub(crate) fn text(mut attributes: &[u8], wanted: u16) -> Option<String> {
    loop {
        let (length, kind) = (half(attributes, 0)?, half(attributes, 2)?);
        let value = attributes.get(ATTRIBUTE_HEADER..usize::from(length))?;
        if kind == wanted {
            let text = value.split(|byte| *byte == 0).next()?;
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        attributes = attributes
            .get(aligned(usize::from(length))..)
            .unwrap_or_default();
    }
}

/// A message as the kernel lays it out.
#[cfg(test)]
pub(crate) fn message(kind: u16, body: &[u8], attributes: &[(u16, &str)]) -> Vec<u8> {
    let mut bytes = vec![0; MESSAGE_HEADER];
    bytes.extend(body);
    // An attribute of another kind and of odd length first.
    bytes.extend([5, 0, 99, 0, 1, 0, 0, 0]);
    for (kind, text) in attributes {
        bytes.extend((ATTRIBUTE_HEADER as u16 + text.len() as u16 + 1).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(aligned(bytes.len() + 1), 0);
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    bytes
}
