//! Frames left whole by their sender, cut, and put together again.

use phb_ports::checksum;
use phb_ports::segment::segment;
use proptest::prelude::*;

const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const UDP: u8 = 5;
const SEQUENCE: u32 = 0xffff_f000;
const IDENTIFICATION: u16 = 0xfffe;

#[derive(Clone, Debug)]
struct Whole {
    kind: u8,
    tagged_inside: bool,
    ipv6: bool,
    /// IPv4 options or IPv6 extension headers, in units of 8 bytes.
    extra: usize,
    tcp_options: usize,
    flags: u8,
    payload: Vec<u8>,
}

impl Whole {
    fn frame(&self) -> (Vec<u8>, usize) {
        let mut frame = vec![2; 12];
        if self.tagged_inside {
            frame.extend([0x81, 0, 0x20, 7]);
        }
        let tcp = self.kind != UDP;
        let protocol = if tcp { 6 } else { 17 };
        if self.ipv6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0]);
            frame.extend([if self.extra > 0 { 60 } else { protocol }, 64]);
            frame.extend(1..=32);
            if self.extra > 0 {
                frame.extend([protocol, self.extra as u8 - 1, 1, 4, 0, 0, 0, 0]);
                frame.extend(vec![0; (self.extra - 1) * 8]);
            }
        } else {
            let words = 5 + self.extra as u8 * 2;
            frame.extend([8, 0, 0x40 | words, 0xb8, 0, 0]);
            frame.extend(IDENTIFICATION.to_be_bytes());
            frame.extend([0x40, 0, 64, protocol, 0, 0]);
            frame.extend(1..=8);
            frame.extend(vec![1; self.extra * 8]);
        }
        let transport = frame.len();
        frame.extend([0x10, 0, 0, 80]);
        if tcp {
            frame.extend(SEQUENCE.to_be_bytes());
            frame.extend([1, 2, 3, 4, ((5 + self.tcp_options) as u8) << 4, self.flags]);
            frame.extend([9, 9, 0x77, 0x77, 0, 0]);
            frame.extend(vec![1; self.tcp_options * 4]);
        } else {
            frame.extend([0, 0, 0x77, 0x77]);
        }
        frame.extend(&self.payload);
        (frame, transport)
    }
}

fn whole() -> impl Strategy<Value = Whole> {
    let kinds = prop_oneof![
        Just((TCP_IPV4, false)),
        Just((TCP_IPV6, true)),
        Just((UDP, false)),
        Just((UDP, true))
    ];
    let payload = proptest::collection::vec(any::<u8>(), 1..5000);
    (
        kinds,
        any::<bool>(),
        0usize..4,
        0usize..11,
        any::<u8>(),
        payload,
    )
        .prop_map(
            |((kind, ipv6), tagged_inside, extra, tcp_options, flags, payload)| Whole {
                kind,
                tagged_inside,
                ipv6,
                extra,
                tcp_options,
                flags,
                payload,
            },
        )
}

fn cut(
    kind: u8,
    size: usize,
    transport: usize,
    frame: &[u8],
    tag: Option<[u8; 4]>,
) -> Option<Vec<Vec<u8>>> {
    let mut segments = Vec::new();
    let mut scratch = Vec::new();
    segment(
        kind,
        size,
        transport,
        frame,
        tag,
        &mut scratch,
        &mut |each| {
            segments.push(each.to_vec());
        },
    )?;
    Some(segments)
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

proptest! {
    #[test]
    fn segments_make_the_whole_again(
        whole in whole(),
        size in 1usize..2000,
        tag in proptest::option::of(Just([0x88, 0xa8, 0, 5])),
        ecn in any::<bool>(),
    ) {
        let (frame, transport) = whole.frame();
        let kind = whole.kind | if ecn { 0x80 } else { 0 };
        let segments = cut(kind, size, transport, &frame, tag).expect("a frame that can be cut");
        let count = segments.len();
        prop_assert_eq!(count, whole.payload.len().div_ceil(size));
        let tcp = whole.kind != UDP;
        let network = if whole.tagged_inside { 18 } else { 14 };
        let header = if tcp { 20 + whole.tcp_options * 4 } else { 8 };
        let mut payload = Vec::new();
        for (number, mut segment) in segments.into_iter().enumerate() {
            if let Some(tag) = tag {
                prop_assert_eq!(segment.drain(12..16).collect::<Vec<_>>(), tag);
            }
            prop_assert_eq!(&segment[..network], &frame[..network]);
            let packet = &segment[network..];
            let inner = transport - network;
            let addresses = if whole.ipv6 {
                prop_assert_eq!(usize::from(half(packet, 4)), packet.len() - 40);
                prop_assert_eq!(&packet[6..inner], &frame[network + 6..transport]);
                8..40
            } else {
                prop_assert_eq!(usize::from(half(packet, 2)), packet.len());
                prop_assert_eq!(half(packet, 4), IDENTIFICATION.wrapping_add(number as u16));
                prop_assert_eq!(checksum::fold(checksum::sum(&packet[..inner])), 0xffff);
                prop_assert_eq!(&packet[12..inner], &frame[network + 12..transport]);
                12..20
            };
            let of_transport = &packet[inner..];
            let pseudo = checksum::sum(&packet[addresses]) + if tcp { 6 } else { 17 } + of_transport.len() as u64;
            prop_assert_eq!(checksum::fold(pseudo + checksum::sum(of_transport)), 0xffff);
            prop_assert_eq!(&of_transport[..4], &frame[transport..transport + 4]);
            if tcp {
                let sequence = u32::from_be_bytes([of_transport[4], of_transport[5], of_transport[6], of_transport[7]]);
                prop_assert_eq!(sequence, SEQUENCE.wrapping_add(payload.len() as u32));
                let mut flags = whole.flags;
                if number > 0 {
                    flags &= 0x7f;
                }
                if number + 1 < count {
                    flags &= !0x09;
                }
                prop_assert_eq!(of_transport[13], flags);
                prop_assert_eq!(&of_transport[8..13], &frame[transport + 8..transport + 13]);
                prop_assert_eq!(&of_transport[18..header], &frame[transport + 18..transport + header]);
            } else {
                prop_assert_eq!(usize::from(half(of_transport, 4)), of_transport.len());
            }
            let piece = &of_transport[header..];
            prop_assert!(piece.len() == size || number + 1 == count);
            payload.extend_from_slice(piece);
        }
        prop_assert_eq!(payload, whole.payload);
    }

    #[test]
    fn no_bytes_do_harm(
        kind in any::<u8>(),
        size in 0usize..300,
        transport in 0usize..300,
        mut frame in proptest::collection::vec(any::<u8>(), 0..400),
        kind_of_network in prop_oneof![Just([8, 0]), Just([0x86, 0xdd]), Just([0x81, 0])],
        tag in proptest::option::of(Just([0x81, 0, 0, 5])),
    ) {
        if let Some(place) = frame.get_mut(12..14) {
            place.copy_from_slice(&kind_of_network);
        }
        for segment in cut(kind, size, transport, &frame, tag).into_iter().flatten() {
            prop_assert!(segment.len() <= frame.len() + 4);
        }
    }
}

#[test]
fn what_can_not_be_cut() {
    let whole = Whole {
        kind: TCP_IPV4,
        tagged_inside: false,
        ipv6: false,
        extra: 0,
        tcp_options: 0,
        flags: 0x18,
        payload: vec![1; 100],
    };
    let (frame, transport) = whole.frame();
    let refused =
        |kind, size, transport, frame: &[u8]| cut(kind, size, transport, frame, None).is_none();
    assert!(!refused(TCP_IPV4, 10, transport, &frame));
    assert!(refused(3, 10, transport, &frame), "UDP fragmentation");
    assert!(refused(TCP_IPV6, 10, transport, &frame), "IPv4 inside");
    assert!(refused(TCP_IPV4, 0, transport, &frame), "no size");
    assert!(
        refused(TCP_IPV4, 10, transport - 1, &frame),
        "inside the IP header"
    );
    assert!(refused(TCP_IPV4, 10, frame.len(), &frame), "behind the end");
    assert!(refused(TCP_IPV4, 10, transport, &frame[..54]), "no payload");
}
