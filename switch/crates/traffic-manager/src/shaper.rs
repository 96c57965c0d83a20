//! Ends of transmissions on a line of a given rate.
//!
//! A busy line carries its rate in every window of time, as on a cable: a frame's bits pass from
//! the previous frame's end to its own. Ends are whole nanoseconds: a deviation of 2 ns per window,
//! 2 * 10^-9 of a second's bits. In whole frames, as in a capture, a window has up to one more or
//! less: at 64 kbit/s a frame of 1,500 bytes is 19 % of a second.

const BITS_PER_BYTE: u64 = 8;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// A line with a rate in bit/s.
///
/// The last transmission's end is kept in whole ns and units of 1/rate ns: frames sent back to back
/// end where their bits do. Callers see it rounded up: then all bits have left.
#[derive(Clone, Debug, Default)]
pub struct Shaper {
    rate: Option<u64>,
    /// End of the last transmission: this many whole ns ...
    whole: u64,
    /// ... and this many 1/rate ns (less than one ns).
    fraction: u64,
}

impl Shaper {
    /// An idle line of `rate` bit/s. `None` is unlimited; 0 never ends a transmission.
    #[must_use]
    pub fn new(rate: Option<u64>) -> Self {
        Self {
            rate,
            whole: 0,
            fraction: 0,
        }
    }

    /// The rate in bit/s.
    #[must_use]
    pub fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Changes the rate (bit/s) for later transmissions. The present one ends as announced.
    pub fn set_rate(&mut self, rate: Option<u64>) {
        self.whole = self.end();
        self.fraction = 0;
        self.rate = rate;
    }

    /// End of the last transmission (ns, rounded up).
    #[must_use]
    pub fn end(&self) -> u64 {
        self.whole.saturating_add(u64::from(self.fraction > 0))
    }

    /// Sends `bytes` at `now` (ns) or when free; gives the end (ns, rounded up; saturates).
    pub fn send(&mut self, now: u64, bytes: u64) -> u64 {
        if now > self.end() {
            self.whole = now;
            self.fraction = 0;
        }
        match self.rate {
            None => {}
            Some(0) => self.whole = u64::MAX,
            Some(rate) => {
                let (whole, fraction) = self.duration(rate, bytes);
                self.whole = self.whole.saturating_add(whole);
                self.fraction = fraction;
            }
        }
        self.end()
    }

    /// How long `bytes` take after the fraction of before: whole ns, and units of 1/rate ns.
    fn duration(&self, rate: u64, bytes: u64) -> (u64, u64) {
        // A division of 128 bits takes several times as long, and no frame needs it.
        let parts = bytes.checked_mul(BITS_PER_BYTE * NANOSECONDS_PER_SECOND);
        if let Some(parts) = parts.and_then(|parts| parts.checked_add(self.fraction)) {
            return (parts / rate, parts % rate);
        }
        let rate = u128::from(rate);
        let parts = u128::from(bytes) * u128::from(BITS_PER_BYTE * NANOSECONDS_PER_SECOND)
            + u128::from(self.fraction);
        let fraction = u64::try_from(parts % rate).unwrap_or(0);
        (u64::try_from(parts / rate).unwrap_or(u64::MAX), fraction)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rates from 64 kbit/s to 100 Gbit/s, among them those of real lines and many that don't divide 10^9.
    fn rates() -> impl Strategy<Value = u64> {
        prop_oneof![
            prop::sample::select(vec![
                64_000,
                224_000,
                256_000,
                1_536_000,
                2_048_000,
                44_736_000,
                155_520_000
            ]),
            prop::sample::select(vec![
                100_000_000,
                1_000_000_000,
                10_000_000_000,
                100_000_000_000
            ]),
            64_000u64..=100_000_000_000,
        ]
    }

    /// ceil(numerator / denominator): the model works on one exact fraction and rounds once, at the end.
    fn ceil_div(numerator: u128, denominator: u128) -> u128 {
        numerator.div_ceil(denominator)
    }

    #[test]
    fn a_second_of_bits_takes_a_second() {
        let mut shaper = Shaper::new(Some(256_000));
        let ends: Vec<u64> = (0..32).map(|_| shaper.send(0, 1000)).collect();
        assert_eq!(ends[0], 31_250_000);
        assert_eq!(ends[31], 1_000_000_000);
    }

    #[test]
    fn unlimited_and_closed_lines() {
        assert_eq!(Shaper::new(None).send(17, 1500), 17);
        assert_eq!(Shaper::new(Some(0)).send(17, 1500), u64::MAX);
    }

    #[test]
    fn a_new_rate_leaves_the_frame_on_the_line_alone() {
        let mut shaper = Shaper::new(Some(8_000));
        assert_eq!(shaper.send(0, 1), 1_000_000);
        shaper.set_rate(Some(16_000));
        assert_eq!(shaper.send(0, 1), 1_500_000);
    }

    #[test]
    fn a_transmission_of_many_years_is_exact_too() {
        let bytes = 1 << 40;
        let mut shaper = Shaper::new(Some(3_000_000));
        let exact = u128::from(2 * bytes) * 8_000_000_000 / 3_000_000 + 1;
        shaper.send(0, bytes);
        assert_eq!(u128::from(shaper.send(0, bytes)), exact);
        assert_eq!(Shaper::new(Some(1)).send(0, u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn back_to_back_frames_end_where_their_bits_put_them(
            rate in rates(), start in 0u64..1_000_000_000_000, lengths in prop::collection::vec(0u64..=65_600, 1..200),
        ) {
            let mut shaper = Shaper::new(Some(rate));
            let mut bits = 0u128;
            for bytes in lengths {
                let now = start.max(if bits == 0 { 0 } else { shaper.end() });
                bits += u128::from(bytes) * 8;
                let exact = u128::from(start) + ceil_div(bits * 1_000_000_000, u128::from(rate));
                prop_assert_eq!(u128::from(shaper.send(now, bytes)), exact);
            }
        }

        /// With pauses: a frame starts at the exact end of the one before, or when it arrives if the line idles then.
        #[test]
        fn ends_are_exact_with_idle_times_between(
            rate in rates(), frames in prop::collection::vec((0u64..3_000_000, 0u64..=9_000), 1..200),
        ) {
            let mut shaper = Shaper::new(Some(rate));
            let scale = u128::from(rate);
            let mut now = 0u64;
            let mut end = 0u128; // in 1/rate ns
            for (pause, bytes) in frames {
                now += pause;
                let idle = u128::from(now) > ceil_div(end, scale);
                let begin = if idle { u128::from(now) * scale } else { end };
                end = begin + u128::from(bytes) * 8 * 1_000_000_000;
                prop_assert_eq!(u128::from(shaper.send(now, bytes)), ceil_div(end, scale));
            }
        }
    }
}
