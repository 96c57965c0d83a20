//! Choices among what a test may do, taken from bytes: a property test shrinks them, a fuzzer steers them. Bytes that
//! have run out choose the first of everything.

use arbitrary::Unstructured;

pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    pub fn are_left(&self) -> bool {
        !self.0.is_empty()
    }

    /// 0 to `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        self.0.int_in_range(0..=most).unwrap_or(0)
    }

    /// Holds once in `times`, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.up_to(times - 1) == 1
    }

    pub fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.up_to(among.len() - 1)].clone()
    }

    pub fn word(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let _ = self.0.fill_buffer(&mut bytes);
        bytes
    }

    /// Big-endian bytes that fit a width; often a small number, so that keys meet packets.
    pub fn fitting(&mut self, bits: u32) -> Vec<u8> {
        let length = bits.div_ceil(8) as usize;
        let mut value = vec![0; length];
        if self.one_in(3) {
            value = self.bytes(length);
        } else if let Some(last) = value.last_mut() {
            *last = self.up_to(3) as u8;
        }
        if !bits.is_multiple_of(8)
            && let Some(first) = value.first_mut()
        {
            *first &= (1 << (bits % 8)) - 1;
        }
        value
    }

    /// The same, but now and then too large.
    pub fn value(&mut self, bits: u32) -> Vec<u8> {
        let mut value = self.fitting(bits);
        if self.one_in(48)
            && let Some(first) = value.first_mut()
        {
            *first = 0xff;
        }
        value
    }
}
