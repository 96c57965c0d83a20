//! Sees what an executor does. The interpreter is compiled twice: for [`Unseen`], where all of this is
//! nothing, and for the recorder of traces.

use crate::packet::Packet;
use crate::program::{HeaderSpan, Place, Span};
use crate::record::Part;
use crate::state::externs::counter::Count;
use crate::state::tables::{Table, Taken};
use crate::time::Time;

/// Who sees what an executor does.
pub(crate) trait Observe {
    /// Whether anything is seen. Where it isn't, what would be computed for it alone is left out.
    const ON: bool;

    /// The same observer for a while.
    type Short<'s>: Observe
    where
        Self: 's;

    /// Lends it.
    fn lend(&mut self) -> Self::Short<'_>;

    /// An instruction sets a word.
    #[inline(always)]
    fn set(&mut self, words: &mut [u64], to: Place, value: u64) {
        words[usize::from(to)] = value;
    }

    /// An operation has set several words.
    #[inline(always)]
    fn span(&mut self, _: Span, _: &[u64]) {}

    /// A part of the program begins, at a time in nanoseconds.
    #[inline(always)]
    fn part(&mut self, _: Part, _: Time) {}

    #[inline(always)]
    fn mark(&mut self, _: u32) {}

    #[inline(always)]
    fn state(&mut self, _: u32) {}

    /// A header was extracted from bytes of the frame.
    #[inline(always)]
    fn extracted(&mut self, _: HeaderSpan, _: std::ops::Range<usize>, _: &Packet) {}

    /// The next state was chosen by these words; none: no case matches.
    #[inline(always)]
    fn selected(&mut self, _: &[Place], _: Option<u32>, _: &Packet) {}

    /// The parser has ended, so many bytes into the frame, perhaps with an error.
    #[inline(always)]
    fn parsed(&mut self, _: usize, _: Option<u64>) {}

    /// A checksum was computed for a word.
    #[inline(always)]
    fn checksum(&mut self, _: u32, _computed: u64, _carried: u64) {}

    /// Applies the table of this number.
    #[inline(always)]
    fn table<'t>(
        &mut self,
        _: u32,
        table: &'t mut Table,
        packet: &mut Packet,
        now: Time,
    ) -> Taken<'t> {
        table.apply(packet, now)
    }

    /// A cell of a register was read, or written.
    #[inline(always)]
    fn register(&mut self, _: u32, _index: u64, _before: &[u64], _after: &[u64], _written: bool) {}

    /// A cell of a counter has counted; none beyond its end.
    #[inline(always)]
    fn counter(&mut self, _: u32, _index: u64, _: Option<[Count; 2]>) {}

    /// An operation of this number is about to be performed.
    #[inline(always)]
    fn before(&mut self, _: &Packet) {}

    /// It was performed: whatever it changed in the packet is seen.
    #[inline(always)]
    fn changed(&mut self, _: &Packet) {}

    /// A meter has coloured a packet: tokens of its buckets before and after, if it has rates.
    #[inline(always)]
    fn meter(&mut self, _: u32, _index: u64, _colour: u64, _: Option<[[u64; 2]; 2]>) {}

    /// An extern of this kind gave a result.
    #[inline(always)]
    fn result(&mut self, _: ResultKind, _: u64) {}

    /// The program asks the switch for something.
    #[inline(always)]
    fn request(&mut self, _: RequestKind, _: u64) {}

    /// A header was written to bytes of the frame; of headers of no whole bytes, nobody knows which.
    #[inline(always)]
    fn emitted(&mut self, _: HeaderSpan, _: std::ops::Range<usize>) {}

    /// All headers were written, so many bytes.
    #[inline(always)]
    fn deparsed(&mut self, _: usize) {}
}

/// Externs that give results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultKind {
    Hash,
    Random,
    Sum,
}

/// What a program asks the switch for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Clone,
    Resubmit,
    Recirculate,
    Digest,
    Truncate,
    MarkToDrop,
    Log,
    Assert,
}

/// Nobody looks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unseen;

impl Observe for Unseen {
    const ON: bool = false;

    type Short<'s> = Self;

    fn lend(&mut self) -> Self {
        Self
    }
}
