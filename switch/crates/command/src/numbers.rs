//! Options whose value is a number.

use std::ops::RangeInclusive;

use crate::arguments::Given;
use crate::ending::{Ended, input};

/// Reads the value of an option, if it was given or has a default.
///
/// # Errors
/// It is no whole number, or not in the range.
pub fn number(given: &Given, id: &str, range: RangeInclusive<i128>) -> Result<Option<i128>, Ended> {
    let Some(text) = given.text(id) else {
        return Ok(None);
    };
    let wrong = |what: &str| {
        input(format!(
            "Invalid value for '--{id}': Input should be {what}"
        ))
    };
    let Some(value) = whole(&text) else {
        return wrong("a valid integer, unable to parse string as an integer");
    };
    if value < *range.start() {
        return wrong(&format!("greater than or equal to {}", range.start()));
    }
    if value > *range.end() {
        return wrong(&format!("less than or equal to {}", range.end()));
    }
    Ok(Some(value))
}

/// As [`number`], of an option that has a default, in the type that holds the range.
pub fn number_as<T: TryFrom<i128> + Default>(
    given: &Given,
    id: &str,
    range: RangeInclusive<i128>,
) -> Result<T, Ended> {
    let value = number(given, id, range)?;
    Ok(value
        .and_then(|value| value.try_into().ok())
        .unwrap_or_default())
}

/// A whole number; one that is out of all bounds is the nearest that there is.
fn whole(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let beyond = if text.starts_with('-') {
        i128::MIN
    } else {
        i128::MAX
    };
    Some(text.parse().unwrap_or(beyond))
}
