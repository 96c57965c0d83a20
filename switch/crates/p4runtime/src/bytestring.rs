//! Numbers as P4Runtime writes them: big-endian, as short as possible (specification, "Bytestrings").
//!
//! For a value that does not fit, the general section says OUT_OF_RANGE; those on match fields,
//! action parameters, registers and packet metadata say INVALID_ARGUMENT, which is used here.

use std::fmt::Display;

use crate::status::{Result, invalid};

/// Removes leading zeros; zero is one zero byte.
pub(crate) fn shorten(value: &mut Vec<u8>) {
    let zeros = value.iter().take_while(|byte| **byte == 0).count();
    value.drain(..zeros.min(value.len().saturating_sub(1)));
}

/// Removes leading zeros and checks the width. `what` names the value in the refusal.
pub(crate) fn canonical(value: &mut Vec<u8>, bits: u32, what: impl Display) -> Result<()> {
    if value.is_empty() {
        return invalid(format!("{what}: the value is empty"));
    }
    shorten(value);
    if bit_length(value) > bits as usize {
        return invalid(format!(
            "{what}: {} does not fit into {bits} bit",
            hexadecimal(value)
        ));
    }
    Ok(())
}

pub(crate) fn of_number(number: u128) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    shorten(&mut bytes);
    bytes
}

/// None for more than 128 bits.
pub(crate) fn number(value: &[u8]) -> Option<u128> {
    let zeros = value.iter().take_while(|byte| **byte == 0).count();
    let digits = &value[zeros..];
    let fold = |number, byte: &u8| number << 8 | u128::from(*byte);
    (digits.len() <= size_of::<u128>()).then(|| digits.iter().fold(0, fold))
}

fn bit_length(value: &[u8]) -> usize {
    value.len() * 8
        - value
            .first()
            .map_or(0, |byte| byte.leading_zeros() as usize)
}

/// Whether canonical `value` has a bit that `mask` has not.
pub(crate) fn exceeds(value: &[u8], mask: &[u8]) -> bool {
    let mut mask = mask.iter().rev();
    value
        .iter()
        .rev()
        .any(|byte| byte & !mask.next().copied().unwrap_or(0) != 0)
}

pub(crate) fn prefix_mask(length: u32, bits: u32) -> Vec<u8> {
    let mut mask = ones(bits);
    let host_bits = (bits - length.min(bits)) as usize;
    let whole = host_bits / 8;
    let bytes = mask.len();
    mask[bytes - whole..].fill(0);
    if let Some(partial) = mask[..bytes - whole].last_mut() {
        *partial &= 0xffu8.unbounded_shl((host_bits % 8) as u32);
    }
    mask
}

pub(crate) fn ones(bits: u32) -> Vec<u8> {
    let mut bytes = vec![0xff; bits.div_ceil(8) as usize];
    if !bits.is_multiple_of(8) {
        bytes[0] = (1 << (bits % 8)) - 1;
    }
    bytes
}

/// Whether one canonical string is a smaller number than the other.
pub(crate) fn less(left: &[u8], right: &[u8]) -> bool {
    (left.len(), left) < (right.len(), right)
}

/// For messages; the end of a long one is left out.
pub(crate) fn hexadecimal(value: &[u8]) -> String {
    const SHOWN: usize = 32;
    let digits: String = value
        .iter()
        .take(SHOWN)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let rest = if value.len() > SHOWN { "..." } else { "" };
    format!("0x{digits}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(number: u128) -> Vec<u8> {
        of_number(number)
    }

    proptest! {
        #[test]
        fn a_number_survives_padding(number: u64, padding in 0usize..20) {
            let mut padded = vec![0; padding];
            padded.extend(number.to_be_bytes());
            canonical(&mut padded, 64, "x").unwrap();
            prop_assert_eq!(&padded, &bytes(number.into()));
            prop_assert_eq!(super::number(&padded), Some(u128::from(number)));
        }

        #[test]
        fn only_what_fits_is_taken(number: u64, bits in 1u32..70) {
            let fits = u128::from(number) < 1u128 << bits;
            prop_assert_eq!(canonical(&mut bytes(number.into()), bits, "x").is_ok(), fits);
        }

        #[test]
        fn comparisons_are_those_of_numbers(left: u64, right: u64) {
            let (a, b) = (bytes(left.into()), bytes(right.into()));
            prop_assert_eq!(less(&a, &b), left < right);
            prop_assert_eq!(exceeds(&a, &b), left & !right != 0);
        }

        #[test]
        fn masks_have_their_bits(bits in 1u32..100, length in 0u32..100) {
            let length = length.min(bits);
            let expected = ((1u128 << bits) - 1) & !((1u128 << (bits - length)) - 1);
            prop_assert_eq!(super::number(&prefix_mask(length, bits)), Some(expected));
        }
    }

    #[test]
    fn an_empty_string_is_no_number() {
        let refusal = canonical(&mut Vec::new(), 8, "field x").unwrap_err();
        assert_eq!(refusal.message, "field x: the value is empty");
    }

    #[test]
    fn numbers_are_written_short() {
        assert_eq!(hexadecimal(&[0]), "0x0");
        assert_eq!(hexadecimal(&[1, 0xa]), "0x10a");
        assert!(hexadecimal(&[0xff; 40]).ends_with("..."));
    }
}
