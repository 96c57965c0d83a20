//! A line's rate, and what its framing adds to each frame.

use crate::ending::{Ended, input};

const HIGHEST: u128 = (1 << 63) - 1;
const MOST_FRACTION: usize = 9;
const MOST_OVERHEAD: usize = 9;

/// Reads `RATE[:OVERHEAD]`: bit/s and bytes per frame. The option is for messages.
pub fn read(text: &str, option: &str) -> Result<(u64, i32), Ended> {
    let (rate, overhead) = match text.split_once(':') {
        Some((rate, overhead)) => (rate, Some(overhead)),
        None => (text, None),
    };
    let overhead = overhead.map_or(Some(0), bytes);
    let (Some(rate), Some(overhead)) = (split(rate), overhead) else {
        return input(format!(
            "{option}: expected RATE or RATE:OVERHEAD, for example 2=256kbit/s:-7"
        ));
    };
    match rate.bits() {
        Some(bits) => Ok((bits, overhead)),
        None => input(format!(
            "{option}: expected a rate of whole bit/s from 1 to {HIGHEST}"
        )),
    }
}

struct Rate<'a> {
    whole: &'a str,
    fraction: &'a str,
    multiple: u128,
}

impl Rate<'_> {
    /// In bit/s; None if not a whole number, or too large.
    fn bits(&self) -> Option<u64> {
        let digits: u128 = format!("{}{}", self.whole, self.fraction).parse().ok()?;
        let scaled = digits.checked_mul(self.multiple)?;
        let scale = 10u128.pow(u32::try_from(self.fraction.len()).ok()?);
        let bits = scaled / scale;
        let is_right = scaled % scale == 0 && (1..=HIGHEST).contains(&bits);
        is_right.then(|| bits.try_into().ok()).flatten()
    }
}

/// Takes `1.5Mbit/s` apart; none where it isn't of this form.
fn split(text: &str) -> Option<Rate<'_>> {
    let units = ["bit/s", "bit", "bps"];
    let number = units
        .into_iter()
        .find_map(|unit| text.strip_suffix(unit))
        .unwrap_or(text);
    let multiples = [('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
    let (number, multiple) = multiples
        .into_iter()
        .find_map(|(letter, multiple)| Some((number.strip_suffix(letter)?, multiple)))
        .unwrap_or((number, 1));
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_right = !whole.is_empty()
        && is_number(whole)
        && is_number(fraction)
        && fraction.len() <= MOST_FRACTION;
    is_right.then_some(Rate {
        whole,
        fraction,
        multiple,
    })
}

/// A number of bytes, with or without a sign; none where it isn't one.
fn bytes(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_right =
        digits.len() <= MOST_OVERHEAD && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_right.then(|| text.parse().ok()).flatten()
}
