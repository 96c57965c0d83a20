//! Clones, packets that pass again, multicast copies and digests (programs/copies.p4).

use crate::common::load;
use phb_pipeline::{Digest, Packet, Pipeline, QueueMetadata, Verdict};

const WIDE: [u8; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// The report at the front of a frame: where, instance type, rid, ingress port, packet length, kept, lost,
/// and whether the wide field was kept; and what follows it.
type Report = (u8, u32, u16, u16, u32, u8, u8, bool);

fn report(frame: &[u8]) -> (Report, Vec<u8>) {
    let wide = match &frame[15..28] {
        wide if wide == WIDE => true,
        wide => {
            assert_eq!(wide, [0; 13]);
            false
        }
    };
    let short = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let long = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
    let report = (
        frame[0],
        long(1),
        short(5),
        short(7),
        long(9),
        frame[13],
        frame[14],
        wide,
    );
    (report, frame[28..].to_vec())
}

fn leave(pipeline: &mut Pipeline, mut packet: Box<Packet>) -> (Report, Vec<u8>) {
    let departing = pipeline.egress(0, &mut packet, &QueueMetadata::default());
    assert_eq!((departing.clone, departing.recirculate), (None, None));
    let mut out = Vec::new();
    pipeline.deparse(&mut packet, &mut out);
    pipeline.recycle(packet);
    report(&out)
}

#[test]
fn a_clone_of_ingress_is_the_frame_as_it_arrived() {
    let mut pipeline = load("tests/programs/copies.json");
    let frame = [1, 40, 0xaa];
    let processed = pipeline.ingress(0, 3, &frame);
    let request = processed.clone.expect("a clone is wanted");
    assert_eq!(request.session, 5);
    assert!(matches!(
        processed.verdict,
        Verdict::Unicast { port: 2, .. }
    ));
    let copy = pipeline.clone_ingress(0, 3, &frame, &processed.packet, request.fields);
    // Metadata the parser sets are reset too, as simple_switch does.
    assert_eq!(
        leave(&mut pipeline, copy),
        ((2, 1, 0, 0, 3, 7, 0, false), vec![1, 40, 0xaa])
    );
    assert_eq!(
        leave(&mut pipeline, processed.packet),
        ((2, 0, 0, 3, 3, 7, 8, true), vec![1, 41, 0xaa])
    );
}

#[test]
fn a_clone_of_a_dropped_packet_keeps_what_its_list_says() {
    let mut pipeline = load("tests/programs/copies.json");
    let frame = [5, 0];
    let processed = pipeline.ingress(0, 3, &frame);
    assert_eq!(processed.verdict, Verdict::Drop);
    let request = processed.clone.unwrap();
    assert_eq!(request.session, 6);
    let copy = pipeline.clone_ingress(0, 3, &frame, &processed.packet, request.fields);
    assert_eq!(
        leave(&mut pipeline, copy),
        ((2, 1, 0, 0, 2, 0, 0, false), vec![5, 0])
    );
}

#[test]
fn a_clone_of_egress_is_the_packet_as_it_is() {
    let mut pipeline = load("tests/programs/copies.json");
    let mut packet = pipeline.ingress(0, 3, &[10, 1, 0xbb]).packet;
    let departing = pipeline.egress(0, &mut packet, &QueueMetadata::default());
    let request = departing.clone.unwrap();
    assert_eq!(request.session, 9);
    let copy = pipeline.clone_egress(&packet, request.fields);
    assert_eq!(copy.length(), 31, "with the header egress added");
    // The copy has the report of the first pass already, so egress leaves it alone.
    assert_eq!(
        leave(&mut pipeline, copy),
        ((2, 0, 0, 3, 3, 7, 8, true), vec![10, 2, 0xbb])
    );
    assert_eq!(pipeline.scheduling(&packet), (None, 0));
}

#[test]
fn resubmit_and_recirculate_start_over() {
    let mut pipeline = load("tests/programs/copies.json");
    let frame = [2, 50, 0xcc];
    let mut processed = pipeline.ingress(0, 3, &frame);
    let fields = processed.resubmit.unwrap();
    let again = pipeline.resubmit(0, &frame, &mut processed.packet, fields);
    assert_eq!(again.resubmit, None);
    assert_eq!(
        leave(&mut pipeline, again.packet),
        ((1, 6, 0, 0, 3, 7, 9, true), vec![2, 50, 0xcc])
    );

    let mut packet = pipeline.ingress(0, 3, &[11, 60, 0xdd]).packet;
    let departing = pipeline.egress(0, &mut packet, &QueueMetadata::default());
    let fields = departing.recirculate.unwrap();
    let mut out = Vec::new();
    pipeline.deparse(&mut packet, &mut out);
    assert_eq!(out, [0, 61, 0xdd]);
    let again = pipeline.recirculate(0, &out, &mut packet, fields);
    assert_eq!(
        leave(&mut pipeline, again.packet),
        ((1, 4, 0, 0, 3, 7, 9, false), vec![0, 61, 0xdd])
    );
}

#[test]
fn multicast_copies_keep_everything() {
    let mut pipeline = load("tests/programs/copies.json");
    let processed = pipeline.ingress(0, 3, &[3, 70, 0xee]);
    assert_eq!(
        processed.verdict,
        Verdict::Multicast {
            group: 77,
            rank: None,
            priority: 3
        }
    );
    for rid in [1, 500] {
        let copy = pipeline.replicate(&processed.packet, rid);
        assert_eq!(pipeline.scheduling(&copy), (None, 3));
        assert_eq!(
            leave(&mut pipeline, copy),
            ((2, 5, rid, 3, 3, 7, 8, true), vec![3, 71, 0xee])
        );
    }
}

#[test]
fn digests_carry_what_the_fields_are_after_ingress() {
    let mut pipeline = load("tests/programs/copies.json");
    let lists = pipeline.digest_lists();
    let widths: Vec<u32> = lists[0].fields.iter().map(|(_, bits)| *bits).collect();
    assert_eq!((lists.len(), lists[0].name.as_str()), (1, "message_t"));
    assert_eq!(widths, [9, 104, 8]);
    assert_eq!(pipeline.take_digests(), None);
    for value in [1, 2] {
        let packet = pipeline.ingress(0, 300, &[4, value]).packet;
        pipeline.recycle(packet);
    }
    let message = |value: u8| Digest {
        list: 0,
        fields: vec![vec![1, 44], WIDE.to_vec(), vec![value]],
    };
    assert_eq!(pipeline.take_digests(), Some(vec![message(2), message(3)]));
    assert_eq!(pipeline.take_digests(), None);
    for _ in 0..5000 {
        let packet = pipeline.ingress(0, 300, &[4, 0]).packet;
        pipeline.recycle(packet);
    }
    let kept = pipeline.take_digests().unwrap().len() as u64;
    assert!(pipeline.lost_digests() > 0);
    assert_eq!(kept + pipeline.lost_digests(), 5000);
}
