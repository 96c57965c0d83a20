//! Cyclic redundancy checks by their parameters: the model of R. Williams, "A painless guide to CRC error
//! detection algorithms" (1993), section 15.

use crate::bits::mask;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crc {
    /// 8, 16, 32 or 64.
    width: u32,
    /// Without its highest term.
    polynomial: u64,
    initial: u64,
    /// Added to the remainder at the end.
    last: u64,
    /// Bytes are taken from their lowest bit.
    bytes_reflected: bool,
    /// The remainder is given from its lowest bit.
    remainder_reflected: bool,
}

/// What the control plane can set of a custom CRC, whose width the program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrcParameters {
    /// Without its highest term.
    pub polynomial: u64,
    /// The remainder before the first byte.
    pub initial: u64,
    /// Added to the remainder at the end.
    pub last: u64,
    /// Bytes are taken from their lowest bit.
    pub bytes_reflected: bool,
    /// The remainder is given from its lowest bit.
    pub remainder_reflected: bool,
}

const fn crc(width: u32, polynomial: u64, initial: u64, last: u64, reflected: bool) -> Crc {
    Crc {
        width,
        polynomial,
        initial,
        last,
        bytes_reflected: reflected,
        remainder_reflected: reflected,
    }
}

/// By the names of P4_14 and bmv2, with the parameters of the catalogue of CRC algorithms.
const NAMED: &[(&str, Crc)] = &[
    ("crc_8", crc(8, 7, 0, 0, false)),
    ("crc_8_darc", crc(8, 0x39, 0, 0, true)),
    ("crc_8_i_code", crc(8, 0x1d, 0xfd, 0, false)),
    ("crc_8_itu", crc(8, 7, 0, 0x55, false)),
    ("crc_8_maxim", crc(8, 0x31, 0, 0, true)),
    ("crc_8_rohc", crc(8, 7, 0xff, 0, true)),
    ("crc_8_wcdma", crc(8, 0x9b, 0, 0, true)),
    ("crc_16_buypass", crc(16, 0x8005, 0, 0, false)),
    ("crc_16_dds_110", crc(16, 0x8005, 0x800d, 0, false)),
    ("crc_16_dect", crc(16, 0x589, 0, 1, false)),
    ("crc_16_dnp", crc(16, 0x3d65, 0, 0xffff, true)),
    ("crc_16_en_13757", crc(16, 0x3d65, 0, 0xffff, false)),
    ("crc_16_genibus", crc(16, 0x1021, 0xffff, 0xffff, false)),
    ("crc_16_maxim", crc(16, 0x8005, 0, 0xffff, true)),
    ("crc_16_mcrf4xx", crc(16, 0x1021, 0xffff, 0, true)),
    ("crc_16_riello", crc(16, 0x1021, 0xb2aa, 0, true)),
    ("crc_16_t10_dif", crc(16, 0x8bb7, 0, 0, false)),
    ("crc_16_teledisk", crc(16, 0xa097, 0, 0, false)),
    ("crc_16_usb", crc(16, 0x8005, 0xffff, 0xffff, true)),
    ("x_25", crc(16, 0x1021, 0xffff, 0xffff, true)),
    ("xmodem", crc(16, 0x1021, 0, 0, false)),
    ("modbus", crc(16, 0x8005, 0xffff, 0, true)),
    ("kermit", crc(16, 0x1021, 0, 0, true)),
    ("crc_ccitt_false", crc(16, 0x1021, 0xffff, 0, false)),
    ("crc_aug_ccitt", crc(16, 0x1021, 0x1d0f, 0, false)),
    (
        "crc_32_bzip2",
        crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, false),
    ),
    (
        "crc_32c",
        crc(32, 0x1edc_6f41, 0xffff_ffff, 0xffff_ffff, true),
    ),
    (
        "crc_32d",
        crc(32, 0xa833_982b, 0xffff_ffff, 0xffff_ffff, true),
    ),
    ("crc_32_mpeg", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, false)),
    ("posix", crc(32, 0x04c1_1db7, 0, 0xffff_ffff, false)),
    ("crc_32q", crc(32, 0x8141_41ab, 0, 0, false)),
    ("jamcrc", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, true)),
    ("xfer", crc(32, 0xaf, 0, 0, false)),
    ("crc_64", crc(64, 0x1b, 0, 0, true)),
    (
        "crc_64_we",
        crc(
            64,
            0x42f0_e1eb_a9ea_3693,
            0xffff_ffff_ffff_ffff,
            0xffff_ffff_ffff_ffff,
            false,
        ),
    ),
    (
        "crc_64_jones",
        crc(64, 0xad93_d235_94c9_35a9, 0xffff_ffff_ffff_ffff, 0, true),
    ),
];

impl Crc {
    /// A check by name, or by parameters as P4_14 spells them: `poly_0x104c11db7_init_0x0_xout_0x0_not_rev`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let known = NAMED.iter().find(|known| known.0 == name);
        known.map(|known| known.1).or_else(|| Self::spelled(name))
    }

    /// A custom check, as long as nobody has set its parameters: that of the standard one.
    pub(crate) fn custom(name: &str) -> Option<Self> {
        match name {
            "crc8_custom" => Self::named("crc_8"),
            "crc16_custom" => Some(crc(16, 0x8005, 0, 0, true)),
            "crc32_custom" => Some(crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
            "crc64_custom" => Self::named("crc_64"),
            _ => None,
        }
    }

    pub(crate) fn width(self) -> u32 {
        self.width
    }

    pub(crate) fn parameters(self) -> CrcParameters {
        CrcParameters {
            polynomial: self.polynomial,
            initial: self.initial,
            last: self.last,
            bytes_reflected: self.bytes_reflected,
            remainder_reflected: self.remainder_reflected,
        }
    }

    /// A check of this width; what is beyond the width is cut.
    pub(crate) fn with(self, parameters: CrcParameters) -> Self {
        let mask = mask(self.width);
        Self {
            width: self.width,
            polynomial: parameters.polynomial & mask,
            initial: parameters.initial & mask,
            last: parameters.last & mask,
            bytes_reflected: parameters.bytes_reflected,
            remainder_reflected: parameters.remainder_reflected,
        }
    }

    fn spelled(text: &str) -> Option<Self> {
        let mut words = text.split('_');
        let mut made = None;
        let (mut initial, mut last, mut reflected) = (0, 0, true);
        while let Some(word) = words.next() {
            match (word, words.next()?) {
                ("poly", value) => {
                    // The highest term says the width.
                    let digits = value.strip_prefix("0x1")?;
                    let width = digits.len() as u32 * 4;
                    let polynomial = u64::from_str_radix(digits, 16).ok()?;
                    made = [8, 16, 32, 64]
                        .contains(&width)
                        .then_some((width, polynomial));
                }
                ("init", value) => initial = hexadecimal(value)?,
                ("xout", value) => last = hexadecimal(value)?,
                ("not", "rev") => reflected = false,
                _ => return None,
            }
        }
        let (width, polynomial) = made?;
        let (initial, last) = (initial & mask(width), last & mask(width));
        Some(crc(width, polynomial, initial, last, reflected))
    }

    pub(crate) fn of(self, data: &[u8]) -> u64 {
        // In the upper bits, so that one test finds the bit that leaves.
        let up = 64 - self.width;
        let polynomial = self.polynomial << up;
        let remainder = data.iter().fold(self.initial << up, |remainder, &byte| {
            let byte = if self.bytes_reflected {
                byte.reverse_bits()
            } else {
                byte
            };
            (0..8).fold(remainder ^ u64::from(byte) << 56, |remainder, _| {
                remainder << 1 ^ polynomial & 0u64.wrapping_sub(remainder >> 63)
            })
        });
        let remainder = if self.remainder_reflected {
            remainder.reverse_bits()
        } else {
            remainder >> up
        };
        remainder ^ self.last
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_checks() {
        let of =
            |name, parameters| Crc::custom(name).map(|crc| crc.with(parameters).of(b"123456789"));
        let standard = |name| Crc::custom(name).map(|crc| crc.of(b"123456789"));
        assert_eq!(standard("crc16_custom"), Some(0xbb3d));
        assert_eq!(standard("crc32_custom"), Some(0xcbf4_3926));
        let xmodem = CrcParameters {
            polynomial: 0xffff_1021,
            initial: 0,
            last: 0,
            bytes_reflected: false,
            remainder_reflected: false,
        };
        assert_eq!(of("crc16_custom", xmodem), Some(0x31c3));
        // The remainder from its other end.
        let turned = CrcParameters {
            remainder_reflected: true,
            ..xmodem
        };
        assert_eq!(of("crc16_custom", turned), Some(0xc38c));
    }

    /// The check values of the catalogue, over the digits 1 to 9.
    #[test]
    fn check_values() {
        let checks: &[(&str, u64)] = &[
            ("crc_8", 0xf4),
            ("crc_8_darc", 0x15),
            ("crc_8_i_code", 0x7e),
            ("crc_8_itu", 0xa1),
            ("crc_8_maxim", 0xa1),
            ("crc_8_rohc", 0xd0),
            ("crc_8_wcdma", 0x25),
            ("crc_16_buypass", 0xfee8),
            ("crc_16_dds_110", 0x9ecf),
            ("crc_16_dect", 0x7e),
            ("crc_16_dnp", 0xea82),
            ("crc_16_en_13757", 0xc2b7),
            ("crc_16_genibus", 0xd64e),
            ("crc_16_maxim", 0x44c2),
            ("crc_16_mcrf4xx", 0x6f91),
            ("crc_16_riello", 0x63d0),
            ("crc_16_t10_dif", 0xd0db),
            ("crc_16_teledisk", 0xfb3),
            ("crc_16_usb", 0xb4c8),
            ("x_25", 0x906e),
            ("xmodem", 0x31c3),
            ("modbus", 0x4b37),
            ("kermit", 0x2189),
            ("crc_ccitt_false", 0x29b1),
            ("crc_aug_ccitt", 0xe5cc),
            ("crc_32_bzip2", 0xfc89_1918),
            ("crc_32c", 0xe306_9283),
            ("crc_32d", 0x8731_5576),
            ("crc_32_mpeg", 0x0376_e6e7),
            ("posix", 0x765e_7680),
            ("crc_32q", 0x3010_bf7f),
            ("jamcrc", 0x340b_c6d9),
            ("xfer", 0xbd0b_e338),
            ("crc_64", 0x46a5_a938_8a5b_effe),
            ("crc_64_we", 0x62ec_59e3_f1a4_f00a),
            ("crc_64_jones", 0xcaa7_1716_8609_f281),
            (
                "poly_0x104c11db7_init_0xffffffff_xout_0xffffffff_not_rev",
                0xfc89_1918,
            ),
            (
                "poly_0x104c11db7_init_0xffffffff_xout_0xffffffff",
                0xcbf4_3926,
            ),
            ("poly_0x18005", 0xbb3d),
            ("poly_0x11021_not_rev_init_0xffff", 0x29b1),
        ];
        for (name, expected) in checks {
            let found = Crc::named(name).map(|crc| crc.of(b"123456789"));
            assert_eq!(found, Some(*expected), "{name}");
        }
        assert_eq!(NAMED.len() + 4, checks.len());
    }

    #[test]
    fn what_is_no_check() {
        for text in [
            "",
            "crc_9",
            "poly",
            "poly_0x2021",
            "poly_0x1",
            "poly_0x1ab_lsb",
            "init_0x1",
            "poly_0x11021_init_0xg",
            "poly_0x11021_not_sure",
            "poly_0x1000000000000000000",
        ] {
            assert_eq!(Crc::named(text), None, "{text}");
        }
    }
}
