//! Rings of a packet socket: frames in memory shared with the kernel (packet(7), TPACKET_V2).
//!
//! A ring has slots of one size. Each begins with `struct tpacket2_hdr`, whose first word says
//! whose turn it is. Version 3 would hand over blocks, when full or after at least a millisecond:
//! longer than a frame may take through a switch. Version 2 hands over slots at once.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use crate::system::{self, SharedMemory};
use crate::tag::{self, Tag};

/// From linux/if_packet.h.
const PACKET_RX_RING: i32 = 5;
const PACKET_TX_RING: i32 = 13;

const STATUS_KERNEL: u32 = 0;
const STATUS_USER: u32 = 1;
const STATUS_COPY: u32 = 1 << 1;
const STATUS_AVAILABLE: u32 = 0;
const STATUS_SEND_REQUEST: u32 = 1;

/// Places in `struct tpacket2_hdr`.
const AT_LENGTH: usize = 4;
const AT_CAPTURED: usize = 8;
const AT_MAC: usize = 12;
const AT_VLAN: usize = 24;
/// Length of the header: the place of a frame to send.
const HEADER: usize = 32;
/// Most bytes before a received frame: header, `struct sockaddr_ll`, alignment, virtio header.
const RECEIVE_HEADROOM: usize = 96;

/// Cache lines of the next slot and frame header, which another processor wrote.
const PREFETCHED_LINES: usize = 4;

/// Number and size of slots, in blocks of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    slot: usize,
    per_block: usize,
    block: usize,
    blocks: usize,
}

impl Layout {
    /// Room for `slots` frames of up to `longest` bytes with headers.
    #[must_use]
    pub fn new(slots: usize, longest: usize) -> Self {
        const BLOCK: usize = 1 << 16;
        // An odd multiple of the cache line: slots a power of two apart would compete for lines.
        let lines = (longest + RECEIVE_HEADROOM).div_ceil(64) | 1;
        let slot = lines * 64;
        let block = BLOCK.max(slot.next_power_of_two());
        let per_block = block / slot;
        Self {
            slot,
            per_block,
            block,
            blocks: slots.div_ceil(per_block).max(1),
        }
    }

    /// Slots in the ring.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.per_block * self.blocks
    }

    /// Length in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.block * self.blocks
    }

    fn request(&self) -> [u32; 4] {
        [self.block, self.blocks, self.slot, self.slots()].map(|number| number as u32)
    }
}

/// Walks a ring's slots cyclically, without dividing.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    layout: Layout,
    start: usize,
    index: usize,
    in_block: usize,
    /// Place of the slot in the mapping.
    at: usize,
}

impl Cursor {
    fn new(layout: Layout, start: usize) -> Self {
        Self {
            layout,
            start,
            index: 0,
            in_block: 0,
            at: start,
        }
    }

    #[inline]
    fn advance(&mut self) {
        self.index += 1;
        self.in_block += 1;
        self.at += self.layout.slot;
        if self.in_block == self.layout.per_block {
            self.in_block = 0;
            self.at += self.layout.block - self.layout.per_block * self.layout.slot;
            if self.index == self.layout.slots() {
                self.index = 0;
                self.at = self.start;
            }
        }
    }
}

/// A received frame in its slot.
#[derive(Debug)]
pub struct Received<'a> {
    /// Virtio header and frame, without the tag in `tag`.
    pub bytes: &'a mut [u8],
    /// The VLAN tag that the kernel took out.
    pub tag: Option<Tag>,
    /// The frame did not fit: all of it is in the socket's queue.
    pub copied: bool,
    /// The frame did not fit, and is lost.
    pub truncated: bool,
}

/// A receive and a transmit ring of one packet socket.
#[derive(Debug)]
pub struct Rings {
    memory: SharedMemory,
    receive: Cursor,
    transmit: Cursor,
    /// The oldest slot that the kernel may have to send.
    unsent: Cursor,
    pending: usize,
}

impl Rings {
    /// Makes the rings of an unbound socket with version and virtio header set. Fails with the
    /// kernel's error, for example without enough memory.
    pub fn new(socket: &OwnedFd, receive: Layout, transmit: Layout) -> io::Result<Self> {
        for (option, layout) in [(PACKET_RX_RING, receive), (PACKET_TX_RING, transmit)] {
            system::set_option(socket, libc::SOL_PACKET, option, &layout.request())?;
        }
        let memory = SharedMemory::map(socket, receive.length() + transmit.length())?;
        let transmit = Cursor::new(transmit, receive.length());
        Ok(Self {
            memory,
            receive: Cursor::new(receive, 0),
            transmit,
            unsent: transmit,
            pending: 0,
        })
    }

    /// The next received frame, in its slot until [`release`](Self::release).
    #[inline]
    pub fn next(&mut self, virtio_header: usize) -> Option<Received<'_>> {
        let at = self.receive.at;
        let status = self.memory.word(at).load(Ordering::Acquire);
        if status & STATUS_USER == 0 {
            return None;
        }
        let mut following = self.receive;
        following.advance();
        self.memory.prefetch(following.at, PREFETCHED_LINES);
        let length = self.memory.word(at + AT_LENGTH).load(Ordering::Relaxed);
        let captured = self.memory.word(at + AT_CAPTURED).load(Ordering::Relaxed);
        let places = self
            .memory
            .word(at + AT_MAC)
            .load(Ordering::Relaxed)
            .to_ne_bytes();
        let mac = usize::from(u16::from_ne_bytes([places[0], places[1]]));
        let words = self
            .memory
            .word(at + AT_VLAN)
            .load(Ordering::Relaxed)
            .to_ne_bytes();
        let control = u16::from_ne_bytes([words[0], words[1]]);
        let tag = tag::tag(status, control, u16::from_ne_bytes([words[2], words[3]]));
        let copied = status & STATUS_COPY != 0;
        // The kernel keeps within the slot; `bytes` checks that it is within the mapping.
        let bytes = self
            .memory
            .bytes(at + mac - virtio_header, captured as usize + virtio_header);
        Some(Received {
            bytes,
            tag,
            copied,
            truncated: captured < length && !copied,
        })
    }

    /// Received frames from the next one on, without taking them; gives their number.
    pub fn waiting<'a>(&'a self, frames: &mut [&'a [u8]]) -> usize {
        let mut cursor = self.receive;
        let mut count = 0;
        for frame in frames {
            let word = |place: usize| self.memory.word(cursor.at + place);
            if word(0).load(Ordering::Acquire) & STATUS_USER == 0 {
                break;
            }
            let captured = word(AT_CAPTURED).load(Ordering::Relaxed) as usize;
            let places = word(AT_MAC).load(Ordering::Relaxed).to_ne_bytes();
            let mac = usize::from(u16::from_ne_bytes([places[0], places[1]]));
            *frame = self.memory.look_at(cursor.at + mac, captured);
            count += 1;
            cursor.advance();
            if cursor.index == self.receive.index {
                break;
            }
        }
        count
    }

    /// Gives the slot of the last [`next`](Self::next) back.
    #[inline]
    pub fn release(&mut self) {
        self.memory
            .word(self.receive.at)
            .store(STATUS_KERNEL, Ordering::Release);
        self.receive.advance();
    }

    /// Bytes in a transmit slot.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.transmit.layout.slot - HEADER
    }

    /// Puts the parts into the next transmit slot; `false` if none is free or they don't fit.
    #[inline]
    pub fn put(&mut self, header: &[u8], frame: &[u8]) -> bool {
        let length = header.len() + frame.len();
        let at = self.transmit.at;
        let status = self.memory.word(at).load(Ordering::Acquire);
        if status != STATUS_AVAILABLE || length > self.longest() {
            return false;
        }
        let place = self.memory.bytes(at + HEADER, length);
        let (first, second) = place.split_at_mut(header.len());
        first.copy_from_slice(header);
        second.copy_from_slice(frame);
        self.memory
            .word(at + AT_LENGTH)
            .store(length as u32, Ordering::Relaxed);
        self.memory
            .word(at)
            .store(STATUS_SEND_REQUEST, Ordering::Release);
        self.transmit.advance();
        self.pending += 1;
        true
    }

    /// Frames put and not kicked.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Has the kernel send the put frames; gives how many it did not take, which are lost.
    #[inline]
    pub fn kick(&mut self, socket: &OwnedFd) -> usize {
        if self.pending == 0 {
            return 0;
        }
        let result = system::kick(socket);
        let pending = std::mem::take(&mut self.pending);
        if result.is_ok()
            && self.memory.word(self.last()).load(Ordering::Relaxed) != STATUS_SEND_REQUEST
        {
            self.unsent = self.transmit;
            return 0;
        }
        self.take_back(pending)
    }

    fn last(&self) -> usize {
        let layout = &self.transmit.layout;
        let index = self
            .transmit
            .index
            .checked_sub(1)
            .unwrap_or(layout.slots() - 1);
        self.transmit.start
            + index / layout.per_block * layout.block
            + index % layout.per_block * layout.slot
    }

    /// The kernel sends in order and stops at a failure. Untouched slots are a row at the end; the
    /// next frame has to go to its beginning.
    fn take_back(&mut self, pending: usize) -> usize {
        let mut lost = 0;
        let mut first = None;
        let mut cursor = self.unsent;
        for _ in 0..pending {
            let word = self.memory.word(cursor.at);
            let taken = word.compare_exchange(
                STATUS_SEND_REQUEST,
                STATUS_AVAILABLE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                first.get_or_insert(cursor);
                lost += 1;
            }
            cursor.advance();
        }
        self.transmit = first.unwrap_or(cursor);
        self.unsent = self.transmit;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_follow_each_other_and_come_round(slots in 1usize..5000, longest in 60usize..70_000, start in 0usize..1000) {
            let layout = Layout::new(slots, longest);
            // What the kernel asks of a ring (packet(7)).
            prop_assert!(layout.slot.is_multiple_of(16) && layout.block.is_multiple_of(4096));
            prop_assert_eq!(layout.per_block, layout.block / layout.slot);
            prop_assert!(layout.slots() >= slots && layout.slot >= longest + RECEIVE_HEADROOM);
            let mut cursor = Cursor::new(layout, start * layout.block);
            for index in 0..2 * layout.slots() + 1 {
                let index = index % layout.slots();
                let (block, place) = (index / layout.per_block, index % layout.per_block);
                let at = start * layout.block + block * layout.block + place * layout.slot;
                prop_assert_eq!((cursor.index, cursor.at), (index, at));
                prop_assert!(at + layout.slot <= start * layout.block + layout.length());
                cursor.advance();
            }
        }
    }
}
