//! Three-colour meters, colour-blind, over packets or frame bytes: of two rates (RFC 2698 section 3), or of one with an
//! excess burst (RFC 2697 section 3).

use super::counter::Count;
use crate::program::{MeterShape, Unit};

/// The parameters of RFC 2698, or of RFC 2697, in the meter's unit: bytes or packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeterRates {
    /// Committed information rate, units per second.
    pub committed_rate: u64,
    /// Committed burst size, units.
    pub committed_burst: u64,
    /// Peak information rate, units per second; not below the committed rate.
    pub peak_rate: u64,
    /// Peak burst size, units.
    pub peak_burst: u64,
    /// Excess burst size of RFC 2697, units. If it is not zero, the committed rate fills both buckets, and the peak
    /// rate and burst say nothing.
    pub excess_burst: u64,
}

/// Nanoseconds in a second: tokens are kept in units of 1/SECOND, so that refilling loses nothing.
const SECOND: u128 = 1_000_000_000;

impl MeterRates {
    fn second_burst(self) -> u64 {
        match self.excess_burst {
            0 => self.peak_burst,
            excess => excess,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    rates: Option<MeterRates>,
    committed: u128,
    /// Tokens of the peak bucket, or of the excess one.
    second: u128,
    refilled_at: u64,
    /// Packets and bytes that were green, yellow and red.
    counts: [Count; 3],
}

impl Meter {
    /// A meter with both buckets full; without rates every packet is green.
    pub(crate) fn new(rates: Option<MeterRates>) -> Self {
        let full =
            |burst: fn(MeterRates) -> u64| rates.map_or(0, |r| u128::from(burst(r)) * SECOND);
        Self {
            rates,
            committed: full(|rates| rates.committed_burst),
            second: full(MeterRates::second_burst),
            refilled_at: 0,
            counts: Default::default(),
        }
    }

    pub(crate) fn rates(&self) -> Option<MeterRates> {
        self.rates
    }

    /// Whole tokens of the committed bucket and of the other one at a time; none while there are no
    /// rates.
    pub(crate) fn tokens(&self, now: u64) -> Option<[u64; 2]> {
        self.rates?;
        let mut refilled = self.clone();
        refilled.colour(now, 0);
        let whole = |tokens: u128| u64::try_from(tokens / SECOND).unwrap_or(u64::MAX);
        Some([whole(refilled.committed), whole(refilled.second)])
    }

    /// Sets the rates and fills the buckets; the counts stay.
    pub(crate) fn configure(&mut self, rates: Option<MeterRates>) {
        let counts = self.counts;
        *self = Self {
            counts,
            ..Self::new(rates)
        };
    }

    /// Packets and bytes that were green, yellow and red.
    pub(crate) fn counts(&self) -> [Count; 3] {
        self.counts
    }

    pub(crate) fn set_counts(&mut self, counts: [Count; 3]) {
        self.counts = counts;
    }

    /// The colour of a packet: 0 green, 1 yellow, 2 red; green while not configured, as in bmv2.
    pub(crate) fn execute(&mut self, now: u64, unit: Unit, length: u32) -> u64 {
        let amount = match unit {
            Unit::Packets => 1,
            Unit::Bytes => length,
        };
        let colour = self.colour(now, amount);
        let (packets, bytes) = &mut self.counts[colour];
        *packets = packets.wrapping_add(1);
        *bytes = bytes.wrapping_add(length.into());
        colour as u64
    }

    fn colour(&mut self, now: u64, amount: u32) -> usize {
        let Some(rates) = self.rates else { return 0 };
        let elapsed = u128::from(now.saturating_sub(self.refilled_at));
        self.refilled_at = self.refilled_at.max(now);
        let refill = |tokens: u128, rate: u64, burst: u64| {
            tokens
                .saturating_add(elapsed.saturating_mul(rate.into()))
                .min(u128::from(burst) * SECOND)
        };
        let cost = u128::from(amount) * SECOND;
        if rates.excess_burst > 0 {
            let room = u128::from(rates.committed_burst) * SECOND - self.committed;
            let fresh = elapsed.saturating_mul(rates.committed_rate.into());
            self.committed += fresh.min(room);
            let full = u128::from(rates.excess_burst) * SECOND;
            self.second = self
                .second
                .saturating_add(fresh.saturating_sub(room))
                .min(full);
            return if self.committed >= cost {
                self.committed -= cost;
                0
            } else if self.second >= cost {
                self.second -= cost;
                1
            } else {
                2
            };
        }
        self.committed = refill(self.committed, rates.committed_rate, rates.committed_burst);
        self.second = refill(self.second, rates.peak_rate, rates.peak_burst);
        if self.second < cost {
            return 2;
        }
        self.second -= cost;
        if self.committed < cost {
            return 1;
        }
        self.committed -= cost;
        0
    }
}

const _: () = assert!(size_of::<Meter>() == MeterShape::CELL);

#[derive(Debug)]
pub(crate) struct MeterArray {
    unit: Unit,
    meters: Vec<Meter>,
}

impl MeterArray {
    pub(crate) fn new(shape: &MeterShape) -> Self {
        Self {
            unit: shape.unit,
            meters: vec![Meter::default(); shape.size as usize],
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.meters.len()
    }

    /// The colour of a packet; `None` for an index beyond the end.
    pub(crate) fn execute(&mut self, index: u64, now: u64, length: u32) -> Option<u64> {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.meters.get_mut(index))
            .map(|meter| meter.execute(now, self.unit, length))
    }

    /// Sets one meter's rates and fills its buckets; `None`: all is green. False beyond the end.
    pub(crate) fn configure(&mut self, index: usize, rates: Option<MeterRates>) -> bool {
        let Some(meter) = self.meters.get_mut(index) else {
            return false;
        };
        meter.configure(rates);
        true
    }

    /// Whole tokens of a cell's buckets (see [`Meter::tokens`]).
    pub(crate) fn tokens(&self, index: u64, now: u64) -> Option<[u64; 2]> {
        let index = usize::try_from(index).ok()?;
        self.meters.get(index)?.tokens(now)
    }

    /// The meter of a cell.
    pub(crate) fn meter(&self, index: usize) -> Option<&Meter> {
        self.meters.get(index)
    }

    /// The meter of a cell.
    pub(crate) fn meter_mut(&mut self, index: usize) -> Option<&mut Meter> {
        self.meters.get_mut(index)
    }

    /// The rates of one meter; the outer `None` beyond the end.
    pub(crate) fn rates(&self, index: usize) -> Option<Option<MeterRates>> {
        self.meters.get(index).map(|meter| meter.rates)
    }

    pub(crate) fn clear(&mut self) {
        self.meters.fill(Meter::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn meter() -> MeterArray {
        let (name, unit) = ("m".into(), Unit::Bytes);
        MeterArray::new(&MeterShape {
            name,
            size: 1,
            unit,
        })
    }

    #[test]
    fn colours_follow_rfc_2698() {
        let mut meters = meter();
        assert_eq!(meters.execute(0, 0, 1500), Some(0), "not configured");
        let rates = MeterRates {
            committed_rate: 1000,
            committed_burst: 1500,
            peak_rate: 2000,
            peak_burst: 3000,
            ..MeterRates::default()
        };
        assert!(meters.configure(0, Some(rates)));
        assert_eq!(meters.execute(0, 0, 1500), Some(0));
        assert_eq!(meters.execute(0, 0, 1500), Some(1));
        assert_eq!(meters.execute(0, 0, 1500), Some(2));
        assert_eq!(
            meters.execute(0, 750_000_000, 1500),
            Some(1),
            "peak bucket refilled, committed one half"
        );
        assert_eq!(meters.execute(0, 2_250_000_000, 1500), Some(0));
        assert_eq!(meters.execute(1, 0, 1500), None);
        let counted = [(3, 4500), (2, 3000), (1, 1500)];
        assert_eq!(meters.meters[0].counts(), counted);
        meters.configure(0, None);
        assert_eq!(meters.meters[0].counts(), counted);
    }

    #[test]
    fn colours_follow_rfc_2697() {
        let mut meters = meter();
        let rates = MeterRates {
            committed_rate: 1000,
            committed_burst: 1500,
            peak_rate: 1000,
            peak_burst: 1500,
            excess_burst: 2000,
        };
        assert!(meters.configure(0, Some(rates)));
        assert_eq!(meters.execute(0, 0, 1500), Some(0));
        assert_eq!(meters.execute(0, 0, 1500), Some(1));
        assert_eq!(
            meters.execute(0, 0, 1500),
            Some(2),
            "500 are left of the excess burst"
        );
        assert_eq!(
            meters.execute(0, 1_000_000_000, 1000),
            Some(0),
            "the committed bucket fills first"
        );
        assert_eq!(meters.execute(0, 1_000_000_000, 500), Some(1));
        assert_eq!(
            meters.execute(0, 3_000_000_000, 500),
            Some(0),
            "1500 into the committed bucket, 500 into the excess one"
        );
        assert_eq!(meters.execute(0, 3_000_000_000, 1500), Some(2));
        assert_eq!(meters.execute(0, 3_000_000_000, 1000), Some(0));
        assert_eq!(meters.execute(0, 3_000_000_000, 500), Some(1));
    }

    proptest! {
        /// Over any interval, green bytes are at most the burst plus rate times time.
        #[test]
        fn green_is_bounded(gaps in prop::collection::vec(0u64..1_000_000, 1..200), rate in 1u64..10_000_000) {
            let mut meters = meter();
            let rates =
                MeterRates { committed_rate: rate, committed_burst: 3000, peak_rate: rate * 2, peak_burst: 6000, excess_burst: 0 };
            meters.configure(0, Some(rates));
            let (mut now, mut green) = (0u64, 0u128);
            for gap in gaps {
                now += gap;
                if meters.execute(0, now, 1000) == Some(0) {
                    green += 1000;
                }
            }
            prop_assert!(green <= 3000 + u128::from(rate) * u128::from(now) / SECOND + 1);
        }
    }
}
