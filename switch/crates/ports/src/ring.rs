//! The rings of a packet socket: frames in memory that the kernel shares with us (packet(7), TPACKET_V2).
//!
//! A ring is a row of slots of one size. Each begins with `struct tpacket2_hdr`, whose first word says whose turn it is.
//! Version 2 rather than 3: version 3 hands over blocks of frames, when a block is full or after at least a millisecond,
//! which is longer than a frame may take through a switch. A slot of version 2 is there at once.

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

/// Where things are in `struct tpacket2_hdr`.
const AT_LENGTH: usize = 4;
const AT_CAPTURED: usize = 8;
const AT_MAC: usize = 12;
const AT_VLAN: usize = 24;
/// Length of the header, and so the place of the frame to send.
const HEADER: usize = 32;
/// The most that the kernel puts in front of a received frame: header, `struct sockaddr_ll`, alignment, virtio header.
const RECEIVE_HEADROOM: usize = 96;

/// Cache lines of the following slot that are fetched while a frame is dealt with, for another processor has written
/// them: the slot's header, and of its frame the headers.
const PREFETCHED_LINES: usize = 4;

/// How many slots of which size, in blocks that the kernel allocates as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    slot: usize,
    per_block: usize,
    block: usize,
    blocks: usize,
}

impl Layout {
    /// Room for `slots` frames of up to `longest` bytes, each with its headers.
    #[must_use]
    pub fn new(slots: usize, longest: usize) -> Self {
        const BLOCK: usize = 1 << 16;
        // A multiple of the cache line, and an odd one: slots a power of two apart would fight for the same lines.
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

    /// Bytes of the ring.
    #[must_use]
    pub fn length(&self) -> usize {
        self.block * self.blocks
    }

    fn request(&self) -> [u32; 4] {
        [self.block, self.blocks, self.slot, self.slots()].map(|number| number as u32)
    }
}

/// Walks the slots of one ring, round and round, without dividing.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    layout: Layout,
    /// Where the ring begins in the mapping.
    start: usize,
    index: usize,
    in_block: usize,
    /// Where the slot is in the mapping.
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
    /// The virtio header and the frame, in one piece; the frame lacks the tag in `tag`.
    pub bytes: &'a mut [u8],
    /// The VLAN tag that the kernel took out.
    pub tag: Option<Tag>,
    /// The frame did not fit: the whole of it waits in the socket's queue.
    pub copied: bool,
    /// The frame did not fit, and is nowhere else.
    pub truncated: bool,
}

/// A receive and a transmit ring of one packet socket.
#[derive(Debug)]
pub struct Rings {
    memory: SharedMemory,
    receive: Cursor,
    transmit: Cursor,
    /// The oldest slot that may be the kernel's to send.
    unsent: Cursor,
    pending: usize,
}

impl Rings {
    /// Makes the rings of a socket whose version and virtio header are set and which is not bound yet.
    ///
    /// # Errors
    /// Those of the kernel, for example that there is not so much memory.
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

    /// The next received frame, if there is one. It stays in its slot until [`release`](Self::release).
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
        // The kernel keeps within the slot; the memory checks that it is within the mapping.
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

    /// Gives the slot of the last [`next`](Self::next) back to the kernel.
    #[inline]
    pub fn release(&mut self) {
        self.memory
            .word(self.receive.at)
            .store(STATUS_KERNEL, Ordering::Release);
        self.receive.advance();
    }

    /// Bytes that fit into a transmit slot.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.transmit.layout.slot - HEADER
    }

    /// Puts the parts into the next transmit slot. `false` if there is none free, or they don't fit.
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

    /// Frames put and not yet kicked.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Has the kernel send the frames that were put. Gives the number of frames that it did not take, which are lost.
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

    /// Where the slot before the next one is.
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

    /// The kernel sends in order and stops where it fails, to go on at that place: untouched slots are a row at the end,
    /// and the next frame has to go to its beginning.
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
