//! The bytes of a stream: each depends on its place, so that the receiver finds wrong ones.

use smoltcp::socket::tcp::Socket;

/// Hands TCP up to `left` bytes; gives how many it took. `write` makes the bytes from a place on.
pub(super) fn push_bytes(
    socket: &mut Socket<'_>,
    left: u64,
    offset: &mut u64,
    write: impl Fn(u64, &mut [u8]),
) -> u64 {
    let mut pushed = 0;
    while pushed < left && socket.can_send() {
        let wanted = usize::try_from(left - pushed).unwrap_or(usize::MAX);
        let start = *offset;
        let taken = socket.send(|room| {
            let count = room.len().min(wanted);
            write(start, &mut room[..count]);
            (count, count)
        });
        match taken {
            Ok(count) if count > 0 => {
                *offset += count as u64;
                pushed += count as u64;
            }
            _ => break,
        }
    }
    pushed
}

/// Hands up to `left` bytes of the pattern to TCP; gives how many it took.
pub(super) fn push(socket: &mut Socket<'_>, left: u64, offset: &mut u64) -> u64 {
    push_bytes(socket, left, offset, write_pattern)
}

/// Gives `take` the bytes received in order, with their place in the stream; gives their number.
pub(super) fn pull_bytes(
    socket: &mut Socket<'_>,
    offset: &mut u64,
    mut take: impl FnMut(u64, &[u8]),
) -> u64 {
    let mut pulled = 0;
    while socket.can_recv() {
        let start = *offset;
        let taken = socket.recv(|data| {
            take(start, data);
            (data.len(), data.len())
        });
        match taken {
            Ok(count) if count > 0 => {
                *offset += count as u64;
                pulled += count as u64;
            }
            _ => break,
        }
    }
    pulled
}

/// Takes everything received in order; gives the number of bytes, and counts wrong ones.
pub(super) fn pull(socket: &mut Socket<'_>, offset: &mut u64, corrupted: &mut u64) -> u64 {
    pull_bytes(socket, offset, |start, data| {
        *corrupted += count_wrong(start, data);
    })
}

/// The number of bytes that differ from the pattern.
pub(super) fn count_wrong(start: u64, data: &[u8]) -> u64 {
    let (mut place, mut left, mut wrong) = (start, data, 0);
    while !left.is_empty() {
        let expected = pattern_at(place, left.len());
        let (part, rest) = left.split_at(expected.len());
        if part != expected {
            let differing = part.iter().zip(expected).filter(|(is, be)| is != be);
            wrong += differing.count() as u64;
        }
        place += part.len() as u64;
        left = rest;
    }
    wrong
}

pub(super) fn write_pattern(start: u64, room: &mut [u8]) {
    let (mut place, mut left) = (start, room);
    while !left.is_empty() {
        let bytes = pattern_at(place, left.len());
        let (part, rest) = left.split_at_mut(bytes.len());
        part.copy_from_slice(bytes);
        place += bytes.len() as u64;
        left = rest;
    }
}

/// A byte is its place in the stream modulo this prime, so no misplaced segment fits by chance.
const PERIOD: usize = 251;

/// Several periods, to compare several segments at once.
static PATTERN: [u8; 20 * PERIOD] = {
    let mut pattern = [0; 20 * PERIOD];
    let mut place = 0;
    while place < pattern.len() {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 251")]
        {
            pattern[place] = (place % PERIOD) as u8;
        }
        place += 1;
    }
    pattern
};

/// The pattern from a place on: at least one byte, up to `wanted`.
fn pattern_at(place: u64, wanted: usize) -> &'static [u8] {
    let start = usize::try_from(place % PERIOD as u64).unwrap_or(0);
    let end = start.saturating_add(wanted).min(PATTERN.len());
    &PATTERN[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_tells_its_place(start in 0..u64::MAX / 2, length in 0..20_000usize, wrong in 0..20_000usize) {
            let mut room = vec![0xff; length];
            write_pattern(start, &mut room);
            for (byte, place) in room.iter().zip(start..) {
                prop_assert_eq!(u64::from(*byte), place % PERIOD as u64);
            }
            prop_assert_eq!(count_wrong(start, &room), 0);
            if let Some(byte) = room.get_mut(wrong) {
                *byte ^= 0x80;
                prop_assert_eq!(count_wrong(start, &room), 1);
            }
        }
    }
}
