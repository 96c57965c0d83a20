//! Random losses of frames.

use crate::error::WorldError;
use crate::random::SplitMix64;

/// Losses are given in frames of a million.
const MILLION: u64 = 1_000_000;

/// Draws for each frame of one direction whether it is lost.
#[derive(Clone, Debug)]
pub struct Losses {
    per_million: u64,
    random: SplitMix64,
}

impl Losses {
    /// Independent losses of a wire's two directions; a seed always loses the same frames.
    pub fn of_both_directions(per_million: u32, seed: u64) -> Result<[Self; 2], WorldError> {
        if u64::from(per_million) > MILLION {
            return Err(WorldError::LossTooLarge(per_million));
        }
        let mut seeds = SplitMix64::new(seed);
        Ok([(); 2].map(|()| Self {
            per_million: u64::from(per_million),
            random: SplitMix64::new(seeds.next_u64()),
        }))
    }

    /// Whether the next frame is lost. Without losses it draws nothing.
    pub fn take_next(&mut self) -> bool {
        self.per_million > 0 && self.random.below(MILLION) < self.per_million
    }
}
