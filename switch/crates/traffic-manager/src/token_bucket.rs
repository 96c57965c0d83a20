//! A token bucket: when frames may start at a port shaped with a burst.
//!
//! Tokens come at the shaper's rate, up to its burst; a frame takes its length in tokens when it
//! starts, or waits for them. So waiting frames pass at the rate, up to a burst after a pause as
//! fast as the line. Policers of RFC 2697 pass no packet longer than their burst, so section 2
//! there has bursts at least as long as the longest packet. A shaper would hold up everything
//! behind such a packet; here the bucket is at least as deep as the waiting frame, or the one
//! before: no token is lost while frames wait.

const BITS_PER_BYTE: u128 = 8;
const NANOSECONDS_PER_SECOND: u128 = 1_000_000_000;

/// A limit on a port's rate besides the line's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Rate in bit/s; 0 holds everything back once the burst is spent.
    pub rate_bps: u64,
    /// Bytes that may pass at the line's rate after a pause. At 0 the port is a line of this rate:
    /// a frame has left when its time has passed.
    pub burst_bytes: u32,
    /// Bytes added to the Ethernet frame's length (without frame check sequence) for the shaper;
    /// -14, for example, for a rate of IP.
    pub overhead_bytes: i32,
}

/// A bucket that starts full.
///
/// The level is in 10^-9 bits, of which a rate in bit/s adds a whole number per ns: it is exact.
/// Starts are rounded up to whole ns; tokens of the rest are the next frame's.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: u128,
    depth: u128,
    /// The level ...
    level: u128,
    /// ... at this time (ns), the start of the last frame.
    at: u64,
    /// Tokens taken by the last frame.
    last: u128,
}

fn tokens(bytes: u64) -> u128 {
    u128::from(bytes) * BITS_PER_BYTE * NANOSECONDS_PER_SECOND
}

impl TokenBucket {
    /// A full bucket of `burst_bytes` with tokens at `rate_bps`.
    #[must_use]
    pub fn new(rate_bps: u64, burst_bytes: u32) -> Self {
        let depth = tokens(u64::from(burst_bytes));
        Self {
            rate: u128::from(rate_bps),
            depth,
            level: depth,
            at: 0,
            last: 0,
        }
    }

    /// The same bucket, without tokens from before `now` (ns): a frame longer than its burst waits.
    #[must_use]
    pub fn since(self, now: u64) -> Self {
        Self { at: now, ..self }
    }

    /// Changes rate and burst. Tokens since the last frame count at the new rate.
    pub fn set(&mut self, rate_bps: u64, burst_bytes: u32) {
        self.rate = u128::from(rate_bps);
        self.depth = tokens(u64::from(burst_bytes));
    }

    /// When a frame of `bytes` has tokens (ns), if no other takes them first.
    #[must_use]
    pub fn due(&self, bytes: u64) -> u64 {
        self.clone().start(self.at, bytes)
    }

    /// Takes a frame's tokens from `now` (ns) on; gives its start (rounded up; `u64::MAX`: never).
    pub fn start(&mut self, now: u64, bytes: u64) -> u64 {
        let cost = tokens(bytes);
        let now = now.max(self.at);
        let flowed = self.rate.saturating_mul(u128::from(now - self.at));
        let depth = self.depth.max(self.last).max(cost);
        self.level = self.level.saturating_add(flowed).min(depth);
        self.last = cost;
        let missing = cost.saturating_sub(self.level);
        if missing == 0 {
            self.at = now;
            self.level -= cost;
        } else if self.rate == 0 {
            self.at = u64::MAX;
            self.level = 0;
        } else {
            let wait = missing.div_ceil(self.rate);
            let start = u128::from(now).saturating_add(wait);
            self.at = u64::try_from(start).unwrap_or(u64::MAX);
            self.level = wait.saturating_mul(self.rate) - missing;
        }
        self.at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        // 1 byte each µs, 3,000 bytes of burst.
        let mut bucket = TokenBucket::new(8_000_000, 3000);
        let starts: Vec<u64> = (0..5).map(|_| bucket.start(5_000, 1000)).collect();
        assert_eq!(starts, [5_000, 5_000, 5_000, 1_005_000, 2_005_000]);
        // After a pause of less than the burst, the tokens that have come meanwhile.
        let starts: Vec<u64> = (0..3).map(|_| bucket.start(4_005_000, 1000)).collect();
        assert_eq!(starts, [4_005_000, 4_005_000, 5_005_000]);
    }

    #[test]
    fn a_frame_longer_than_the_burst_passes_and_the_rate_stays() {
        let mut bucket = TokenBucket::new(8_000_000, 100);
        assert_eq!(bucket.start(0, 1500), 1_400_000);
        // The line takes as long as the tokens do: they are for the next frame, short as it is.
        assert_eq!(bucket.start(2_900_000, 64), 2_900_000);
        assert_eq!(bucket.start(2_900_000, 1500), 2_964_000);
    }

    #[test]
    fn nothing_flows_into_a_closed_one() {
        let mut bucket = TokenBucket::new(0, 100);
        assert_eq!(bucket.start(7, 100), 7);
        assert_eq!(bucket.start(8, 1), u64::MAX);
    }

    #[test]
    fn a_new_burst_and_rate_count_from_the_last_frame() {
        let mut bucket = TokenBucket::new(8_000, 1000);
        assert_eq!(bucket.start(0, 1000), 0);
        bucket.set(8_000_000, 10);
        assert_eq!(bucket.start(0, 5), 5_000);
        assert_eq!(bucket.start(1_000_000, 20), 1_000_000 + 10_000 - 10_000);
    }

    /// The virtual scheduling algorithm of ITU-T I.371, which knows no tokens, in exact fractions: the time, in 1/rate
    /// ns, at which the bucket would be full.
    struct Model {
        rate: u128,
        burst: u128,
        full: i128,
        last: u128,
    }

    impl Model {
        fn start(&mut self, now: u64, bytes: u64) -> u128 {
            let signed = |number: u128| i128::try_from(number).expect("small enough");
            let cost = u128::from(bytes) * 8_000_000_000;
            let over = self.burst.max(self.last).max(cost) - self.burst;
            let here = u128::from(now) * self.rate;
            self.full = self.full.max(signed(here) - signed(over)) + signed(cost);
            self.last = cost;
            let exact = u128::try_from(self.full - signed(self.burst)).unwrap_or(0);
            exact.div_ceil(self.rate).max(u128::from(now))
        }
    }

    fn rates() -> impl Strategy<Value = u64> {
        prop_oneof![
            prop::sample::select(vec![64_000, 512_000, 1_000_000_000, 100_000_000_000]),
            8_000u64..=100_000_000_000,
        ]
    }

    fn lengths() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..=9_000, prop::sample::select(vec![64, 1500])]
    }

    proptest! {
        #[test]
        fn starts_are_exact(
            rate in rates(), burst in 0u32..=100_000,
            frames in prop::collection::vec((0u64..300_000_000, lengths()), 1..200),
        ) {
            let mut bucket = TokenBucket::new(rate, burst);
            let burst_tokens = u128::from(burst) * 8_000_000_000;
            let mut model = Model { rate: u128::from(rate), burst: burst_tokens, full: 0, last: 0 };
            let mut now = 0;
            for (pause, bytes) in frames {
                now += pause;
                let start = bucket.start(now, bytes);
                prop_assert_eq!(u128::from(start), model.start(now, bytes));
                now = start;
            }
        }

        /// Between any two starts there is no more than the bucket holds and what comes meanwhile, and as long as frames
        /// wait, no less than what comes: both to the nanosecond, for starts are whole ones.
        #[test]
        fn what_passes_is_the_rate_and_at_most_a_burst(
            rate in rates(), burst in 0u32..=100_000, sent in prop::collection::vec(lengths(), 1..100),
        ) {
            let mut bucket = TokenBucket::new(rate, burst);
            let starts: Vec<u64> = sent.iter().map(|bytes| bucket.start(0, *bytes)).collect();
            let longest = sent.iter().copied().max().unwrap_or(0).max(u64::from(burst));
            for first in 0..sent.len() {
                let mut passed = 0u128;
                for last in first..sent.len() {
                    passed += u128::from(sent[last]) * 8_000_000_000;
                    let came = u128::from(starts[last] - starts[first] + 1) * u128::from(rate);
                    prop_assert!(passed <= u128::from(longest) * 8_000_000_000 + came);
                }
            }
            let end = starts[starts.len() - 1];
            if end > 0 {
                let all: u128 = sent.iter().map(|bytes| u128::from(*bytes) * 8_000_000_000).sum();
                prop_assert!(all > u128::from(end - 1) * u128::from(rate));
            }
        }
    }
}
