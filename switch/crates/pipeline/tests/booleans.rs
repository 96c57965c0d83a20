//! Booleans in headers, stacks, metadata and keys (programs/booleans.p4).

use crate::common::{entry, exact, load, run, ternary};

/// The program's result for the flags and the two that follow if the first flag is set.
fn expected(flags: u8, more: [u8; 2]) -> Vec<u8> {
    let (mut first, mut second, number) = (flags >> 7 != 0, flags >> 6 & 1 != 0, flags & 63);
    let (followed, kept) = (first, second);
    let mut first_of_more = more[0] >> 7 != 0;
    if first && kept {
        (second, first_of_more) = (false, true);
    }
    if number >= 32 && !kept {
        first = !first;
    }
    let second_of_more = first_of_more == second || more[1] >> 7 != 0;
    let mut out = vec![u8::from(first) << 7 | u8::from(second) << 6 | number];
    if followed {
        out.push(more[0] & 0x7f | u8::from(first_of_more) << 7);
        out.push(more[1] & 0xbf | u8::from(second_of_more) << 6);
    } else {
        out.extend(more);
    }
    out
}

#[test]
fn booleans_in_headers() {
    let mut pipeline = load("tests/programs/booleans.json");
    let keys = [
        ("hdr.flags.first", exact(1)),
        ("meta.inner.kept", ternary(1, 1)),
    ];
    let params = [("second", 0), ("first_of_more", 1)];
    let set = entry(&keys, 1, "IngressControl.set", &params);
    pipeline
        .table_insert("IngressControl.by_flags", &set)
        .unwrap();
    for flags in 0..=255 {
        for more in [[0x00, 0x00], [0xff, 0x3f], [0x25, 0xc9], [0x80, 0x80]] {
            let (port, out) = run(&mut pipeline, 0, 3, &[flags, more[0], more[1]]).unwrap();
            assert_eq!(
                (port, out),
                (1, expected(flags, more)),
                "{flags:#x} {more:?}"
            );
        }
    }
}
