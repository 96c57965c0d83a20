//! Random numbers: xoshiro256** seeded by splitmix64 (Blackman and Vigna, ACM TOMS 47/4, 2021), so
//! that a run depends on its seed alone.

#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: [u64; 4],
}

impl Random {
    pub(crate) fn new(mut seed: u64) -> Self {
        let state = std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        });
        Self { state }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let result = self.state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = self.state[1] << 17;
        self.state[2] ^= self.state[0];
        self.state[3] ^= self.state[1];
        self.state[1] ^= self.state[2];
        self.state[0] ^= self.state[3];
        self.state[2] ^= shifted;
        self.state[3] = self.state[3].rotate_left(45);
        result
    }

    /// A number from `low` to `high`, both included; `None` if there is none.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> Option<u64> {
        let count = high.checked_sub(low)?;
        if count == u64::MAX {
            return Some(self.next());
        }
        // Multiplication is uniform within 2^-64 times the count, which no test can see.
        Some(low + ((u128::from(self.next()) * (u128::from(count) + 1)) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_between_and_repeats() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..1000)
                .map(|_| random.between(3, 7).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        for value in 3..=7 {
            assert!(draw(1).iter().filter(|&&drawn| drawn == value).count() > 150);
        }
        assert!(Random::new(1).between(2, 1).is_none());
        assert!(Random::new(1).between(0, u64::MAX).is_some());
    }
}
