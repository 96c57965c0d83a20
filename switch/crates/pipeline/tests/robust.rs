//! No committed program panics, hangs or grows without bound on any frame.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::common::{ipv4, options, repository, tcp};
use phb_pipeline::{EgressVerdict, Packet, Pipeline, Processed, QueueMetadata, Verdict};
use proptest::prelude::*;

/// Passes through ingress that one packet may ask for here.
const PASSES: usize = 8;

/// Every artifact of the repository.
fn artifacts() -> &'static [(PathBuf, String)] {
    static ARTIFACTS: OnceLock<Vec<(PathBuf, String)>> = OnceLock::new();
    ARTIFACTS.get_or_init(|| {
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        };
        repository::artifacts().into_iter().map(read).collect()
    })
}

fn leave(pipeline: &mut Pipeline, mut packet: Box<Packet>, frame: &[u8], passes: usize) {
    let queue = QueueMetadata {
        egress_port: 2,
        enq_timestamp_ns: 1_000_000,
        enq_qdepth: 3,
        deq_qdepth: 1,
        deq_timedelta_ns: 5_000,
    };
    let departing = pipeline.egress(2_000_000, &mut packet, &queue);
    if let Some(request) = departing.clone {
        let copy = pipeline.clone_egress(&packet, request.fields);
        if passes < PASSES {
            leave(pipeline, copy, frame, passes + 1);
        }
    }
    if departing.verdict == EgressVerdict::Transmit {
        let mut out = Vec::new();
        pipeline.deparse(&mut packet, &mut out);
        // No program here adds more than a few headers.
        assert!(out.len() <= frame.len() + 2048);
        if let Some(fields) = departing.recirculate
            && passes < PASSES
        {
            let again = pipeline.recirculate(2_000_000, &out, &mut packet, fields);
            follow(pipeline, again, &out, passes + 1);
        }
    }
    pipeline.recycle(packet);
}

fn follow(pipeline: &mut Pipeline, processed: Processed, frame: &[u8], passes: usize) {
    let Processed {
        mut packet,
        verdict,
        clone,
        resubmit,
    } = processed;
    if let Some(request) = clone {
        let copy = pipeline.clone_ingress(1_000_000, 1, frame, &packet, request.fields);
        leave(pipeline, copy, frame, passes);
    }
    if let Some(fields) = resubmit {
        if passes < PASSES {
            let again = pipeline.resubmit(1_000_000, frame, &mut packet, fields);
            follow(pipeline, again, frame, passes + 1);
        }
        return pipeline.recycle(packet);
    }
    match verdict {
        Verdict::Drop | Verdict::UnknownPort | Verdict::Exhausted => pipeline.recycle(packet),
        Verdict::Unicast { .. } => leave(pipeline, packet, frame, passes),
        Verdict::Multicast { .. } => {
            for rid in [0, 7] {
                let copy = pipeline.replicate(&packet, rid);
                leave(pipeline, copy, frame, passes);
            }
            pipeline.recycle(packet);
        }
    }
}

/// Random bytes; or a TCP segment over IPv4 with some of its bytes changed, cut anywhere.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 0..400);
    let segment = (
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        any::<prop::sample::Index>(),
        prop::collection::vec(0u8..4, 0..40),
    );
    let damaged = segment.prop_map(|(changes, cut, mut options)| {
        options.truncate(options.len() / 4 * 4);
        let mut frame = ipv4(
            0x0a01_0001,
            0x0a02_0001,
            6,
            0,
            &options,
            &tcp(1, 2, &[7; 40]),
        );
        for (place, byte) in changes {
            let at = place.index(frame.len());
            frame[at] = byte;
        }
        frame.truncate(cut.index(frame.len() * 2).max(1));
        frame
    });
    // Small numbers choose among what test programs do.
    let small = prop::collection::vec(0u8..16, 0..300);
    prop_oneof![random, damaged, small]
}

/// Every artifact loaded: to load one takes longer than to use it, above all as native code.
fn pipelines() -> MutexGuard<'static, Vec<Pipeline>> {
    static PIPELINES: OnceLock<Mutex<Vec<Pipeline>>> = OnceLock::new();
    let load = |(path, text): &(PathBuf, String)| {
        Pipeline::load(text, options())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let pipelines = PIPELINES.get_or_init(|| Mutex::new(artifacts().iter().map(load).collect()));
    pipelines.lock().unwrap_or_else(PoisonError::into_inner)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_frame_is_survived(
        frames in prop::collection::vec((frames(), prop_oneof![Just(1u16), Just(510), any::<u16>()]), 1..40),
    ) {
        for pipeline in pipelines().iter_mut() {
            pipeline.clear();
            for (frame, port) in &frames {
                let processed = pipeline.ingress(1_000_000, *port, frame);
                follow(pipeline, processed, frame, 0);
            }
            let _ = pipeline.take_digests();
        }
    }
}

/// A packet does not see the values of the one before: a run of two gives the same as a run of the second alone.
#[test]
fn packets_do_not_see_each_other() {
    let first = vec![0xff; 300];
    for ((path, _), pipeline) in artifacts().iter().zip(pipelines().iter_mut()) {
        for second in [vec![0; 60], vec![1; 30], ipv4(1, 2, 17, 0, &[], &[3; 20])] {
            let verdicts = [true, false].map(|with_first| {
                pipeline.clear();
                if with_first {
                    let mut packet = pipeline.ingress(0, 1, &first).packet;
                    pipeline.egress(0, &mut packet, &QueueMetadata::default());
                    pipeline.recycle(packet);
                    // State the first one left is the program's own doing.
                    pipeline.clear();
                    let _ = pipeline.take_digests();
                }
                let mut processed = pipeline.ingress(0, 1, &second);
                pipeline.egress(0, &mut processed.packet, &QueueMetadata::default());
                let mut out = Vec::new();
                pipeline.deparse(&mut processed.packet, &mut out);
                (
                    processed.verdict,
                    processed.clone,
                    out,
                    pipeline.take_digests(),
                )
            });
            assert_eq!(verdicts[0], verdicts[1], "{}", path.display());
        }
    }
}
