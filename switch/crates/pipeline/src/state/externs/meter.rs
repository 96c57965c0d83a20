//! Two-rate three-colour meters, colour-blind (RFC 2698 section 3), over packets or frame bytes.

use crate::program::{MeterShape, Unit};

/// The four parameters of RFC 2698, in the meter's unit: bytes or packets.
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
}

/// Nanoseconds in a second: tokens are kept in units of 1/SECOND, so that refilling loses nothing.
const SECOND: u128 = 1_000_000_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    rates: Option<MeterRates>,
    committed: u128,
    peak: u128,
    refilled_at: u64,
}

impl Meter {
    /// A meter with both buckets full; without rates every packet is green.
    pub(crate) fn new(rates: Option<MeterRates>) -> Self {
        let full =
            |burst: fn(MeterRates) -> u64| rates.map_or(0, |r| u128::from(burst(r)) * SECOND);
        Self {
            rates,
            committed: full(|rates| rates.committed_burst),
            peak: full(|rates| rates.peak_burst),
            refilled_at: 0,
        }
    }

    pub(crate) fn rates(&self) -> Option<MeterRates> {
        self.rates
    }

    /// 0 green, 1 yellow, 2 red; green while not configured, as in bmv2.
    pub(crate) fn colour(&mut self, now: u64, amount: u32) -> u64 {
        let Some(rates) = self.rates else { return 0 };
        let elapsed = u128::from(now.saturating_sub(self.refilled_at));
        self.refilled_at = self.refilled_at.max(now);
        let refill = |tokens: u128, rate: u64, burst: u64| {
            tokens
                .saturating_add(elapsed.saturating_mul(rate.into()))
                .min(u128::from(burst) * SECOND)
        };
        self.committed = refill(self.committed, rates.committed_rate, rates.committed_burst);
        self.peak = refill(self.peak, rates.peak_rate, rates.peak_burst);
        let cost = u128::from(amount) * SECOND;
        if self.peak < cost {
            return 2;
        }
        self.peak -= cost;
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
        let amount = match self.unit {
            Unit::Packets => 1,
            Unit::Bytes => length,
        };
        usize::try_from(index)
            .ok()
            .and_then(|index| self.meters.get_mut(index))
            .map(|meter| meter.colour(now, amount))
    }

    /// Sets one meter's rates and fills its buckets; `None`: all is green. False beyond the end.
    pub(crate) fn configure(&mut self, index: usize, rates: Option<MeterRates>) -> bool {
        let Some(meter) = self.meters.get_mut(index) else {
            return false;
        };
        *meter = Meter::new(rates);
        true
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
    }

    proptest! {
        /// Over any interval, green bytes are at most the burst plus rate times time.
        #[test]
        fn green_is_bounded(gaps in prop::collection::vec(0u64..1_000_000, 1..200), rate in 1u64..10_000_000) {
            let mut meters = meter();
            let rates =
                MeterRates { committed_rate: rate, committed_burst: 3000, peak_rate: rate * 2, peak_burst: 6000 };
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
