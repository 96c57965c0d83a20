//! Checksums with a varbit and with the payload (programs/checksums.p4).

use crate::common::{checksum, ipv4, load, run};
use phb_pipeline::Verdict;

fn udp(source: u32, destination: u32, data: &[u8]) -> Vec<u8> {
    let length = (8 + data.len()) as u16;
    let mut segment = [
        [0x10, 0x00, 0x20, 0x00],
        [length.to_be_bytes()[0], length as u8, 0, 0],
    ]
    .concat();
    segment.extend_from_slice(data);
    let sum = udp_sum(source, destination, &segment);
    segment[6..8].copy_from_slice(&sum.to_be_bytes());
    segment
}

/// Over pseudo-header (RFC 768) and segment.
fn udp_sum(source: u32, destination: u32, segment: &[u8]) -> u16 {
    let length = segment.len() as u16;
    let pseudo = [
        &source.to_be_bytes()[..],
        &destination.to_be_bytes(),
        &[0, 17],
        &length.to_be_bytes(),
    ]
    .concat();
    checksum(&[&pseudo, segment].concat())
}

#[test]
fn verified_and_updated() {
    let mut pipeline = load("tests/programs/checksums.json");
    for options in [&[][..], &[1, 1, 1, 1], &[7; 40]] {
        for data in [&[][..], b"odd", b"even"] {
            let (source, destination) = (0x0a00_0001, 0xc0a8_0102);
            let frame = ipv4(
                source,
                destination,
                17,
                0,
                options,
                &udp(source, destination, data),
            );
            let (_, out) = run(&mut pipeline, 0, 1, &frame).unwrap();
            let end = 34 + options.len();
            assert_eq!(checksum(&out[14..end]), 0);
            assert_eq!(out[22], 63);
            assert_eq!(udp_sum(source, destination, &out[end..]), 0);
            assert_eq!(&out[end + 8..], data);
            for place in [16, end - 1, end, end + 3] {
                let mut corrupt = frame.clone();
                corrupt[place] ^= 0x10;
                assert_eq!(
                    run(&mut pipeline, 0, 1, &corrupt),
                    Err(Verdict::Drop),
                    "byte {place}"
                );
            }
        }
    }
}
