//! A program three times, as native code, in the interpreter, and with some of its packets traced: what is done to one is
//! done to the others, and everything that can be seen of them is compared.

use phb_pipeline::trace::{Record, Tracer};
use phb_pipeline::{
    CloneRequest, Departing, Digest, EgressVerdict, Execution, Executor, FieldList, LoadError,
    Options, Packet, Pipeline, Processed, QueueMetadata, Time, Verdict, WriteError,
};

use crate::choices::Choices;
use crate::replay;
use crate::state::compare;
use crate::writes::{Write, write};

/// Passes and copies that one packet may cause.
const PASSES: usize = 12;

/// Something that can be seen of a packet's way.
#[derive(Debug, PartialEq)]
enum Event {
    Ingress {
        verdict: Verdict,
        clone: Option<CloneRequest>,
        resubmit: Option<FieldList>,
        shaping: Option<(u32, u64, u32, u32)>,
        pushes_out: bool,
        lengths: (u32, u32),
    },
    Egress(Departing, (u32, u32)),
    Scheduling(Option<u64>, u8),
    Sent(Vec<u8>),
    Digests(Option<Vec<Digest>>),
    Log(Vec<String>),
    Counted {
        logged: u64,
        failed_assertions: u64,
        lost_digests: u64,
    },
}

/// What came of loading a program.
pub enum Loaded {
    /// One runs natively, the other in the interpreter.
    Pair(Box<Pair>),
    /// All are interpreted, for this reason.
    Interpreted(String, Box<Pair>),
    /// The loader refuses it.
    Refused(LoadError),
}

pub struct Pair {
    native: Pipeline,
    reference: Pipeline,
    /// Native, but packets that are traced.
    traced: Pipeline,
    now: Time,
    pub sent: u64,
    pub writes_taken: u64,
}

impl Pair {
    pub fn load(text: &str) -> Loaded {
        let load = |executor| {
            let options = Options {
                executor,
                ..Options::default()
            };
            Pipeline::load(text, options)
        };
        let (mut native, mut reference) =
            match (load(Executor::Native), load(Executor::Interpreter)) {
                (Ok(native), Ok(reference)) => (native, reference),
                (native, reference) => {
                    let (native, reference) = (native.err(), reference.err());
                    assert_eq!(native, reference, "only one executor refuses the program");
                    return Loaded::Refused(native.expect("one of them is an error"));
                }
            };
        assert_eq!(reference.execution().executor, Executor::Interpreter);
        let reason = native.execution().reason;
        let mut traced = load(Executor::Native).expect("it was loaded before");
        let tracer = Tracer::load(text).expect("it was loaded before");
        traced.set_tracer(Some(Box::new(tracer)));
        for pipeline in [&mut native, &mut reference, &mut traced] {
            pipeline.set_logging(true);
        }
        let pair = Box::new(Self {
            native,
            reference,
            traced,
            now: 1_000_000_000,
            sent: 0,
            writes_taken: 0,
        });
        match reason {
            Some(reason) => Loaded::Interpreted(reason, pair),
            None => Loaded::Pair(pair),
        }
    }

    fn all(&mut self) -> [&mut Pipeline; 3] {
        [&mut self.native, &mut self.reference, &mut self.traced]
    }

    /// Restores all as just loaded.
    pub fn clear(&mut self) {
        self.all().into_iter().for_each(Pipeline::clear);
    }

    /// Sends a frame through all, where it is traced mostly.
    pub fn packet(&mut self, port: u16, frame: &[u8], choices: &mut Choices<'_>) {
        self.now += choices.word() >> 34;
        let queue = QueueMetadata {
            egress_port: choices.up_to(4) as u16,
            enq_timestamp_ns: self.now,
            enq_qdepth: choices.up_to(9) as u32,
            deq_qdepth: choices.up_to(9) as u32,
            deq_timedelta_ns: choices.word() >> 40,
        };
        let dropped = choices.one_in(8);
        let is_traced = !choices.one_in(4);
        let way = Way {
            now: self.now,
            port,
            queue,
            dropped,
        };
        let [native, reference] =
            [&mut self.native, &mut self.reference].map(|pipeline| way.go(pipeline, frame, None));
        let record = is_traced.then(Box::default);
        let traced = way.go(&mut self.traced, frame, record);
        assert_eq!(
            traced, reference,
            "a packet that is traced differs for {frame:02x?} on port {port}"
        );
        assert_eq!(
            native, reference,
            "native code differs for {frame:02x?} on port {port}"
        );
        let is_sent = |event: &&Event| matches!(event, Event::Sent(_));
        self.sent += native.iter().filter(is_sent).count() as u64;
        self.compare_state(false);
    }

    /// Lets the control plane do something to all.
    pub fn write(&mut self, choices: &mut Choices<'_>) {
        let Some(write) = write(&self.reference, choices) else {
            return;
        };
        self.apply(&write);
    }

    pub fn apply(&mut self, write: &Write) {
        let answers: [Result<(), WriteError>; 3] = self.all().map(|pipeline| write.apply(pipeline));
        let [native, reference, traced] = &answers;
        assert!(
            native == reference && traced == reference,
            "{write:?} was not answered in the same way: {answers:?}"
        );
        self.writes_taken += u64::from(native.is_ok());
    }

    /// Compares all state that the control plane can read; arrays of many cells only if asked to.
    pub fn compare_state(&self, all: bool) {
        compare(&self.native, &self.reference, all);
        compare(&self.traced, &self.reference, all);
    }

    /// How the native one runs.
    pub fn execution(&self) -> Execution {
        self.native.execution()
    }

    /// Nothing can be written to.
    pub fn has_no_tables(&self) -> bool {
        self.reference
            .tables()
            .iter()
            .all(|table| table.constant_entries || table.keys.is_empty())
    }

    /// Asks all which entries have become idle.
    pub fn sweep(&mut self) {
        let now = self.now;
        let [native, reference, traced] = self.all().map(|pipeline| {
            let mut idle = Vec::new();
            pipeline.sweep_idle(now, &mut idle);
            idle
        });
        assert_eq!(native, reference, "entries that are idle");
        assert_eq!(traced, reference, "entries that are idle");
    }
}

/// How a packet goes through a pipeline.
struct Way {
    now: Time,
    port: u16,
    queue: QueueMetadata,
    /// It is told to the program as dropped, once more.
    dropped: bool,
}

impl Way {
    fn go(&self, pipeline: &mut Pipeline, frame: &[u8], record: Option<Box<Record>>) -> Vec<Event> {
        let mut events = Vec::new();
        let processed = match record {
            Some(record) => pipeline.ingress_traced(self.now, self.port, frame, record),
            None => pipeline.ingress(self.now, self.port, frame),
        };
        let mut passes = PASSES;
        self.follow(pipeline, processed, frame, &mut passes, &mut events);
        events.push(Event::Digests(pipeline.take_digests()));
        events.push(Event::Log(pipeline.take_log()));
        events.push(Event::Counted {
            logged: pipeline.logged(),
            failed_assertions: pipeline.failed_assertions(),
            lost_digests: pipeline.lost_digests(),
        });
        events
    }

    fn follow(
        &self,
        pipeline: &mut Pipeline,
        processed: Processed,
        frame: &[u8],
        passes: &mut usize,
        events: &mut Vec<Event>,
    ) {
        let Processed {
            mut packet,
            verdict,
            clone,
            resubmit,
        } = processed;
        events.push(Event::Ingress {
            verdict,
            clone,
            resubmit,
            shaping: pipeline.shaping(&packet),
            pushes_out: pipeline.pushes_out(&packet),
            lengths: lengths(&packet),
        });
        if let Some(request) = clone {
            let copy = pipeline.clone_ingress(self.now, self.port, frame, &packet, request.fields);
            self.leave(pipeline, copy, &[], passes, events);
        }
        if let Some(fields) = resubmit {
            if left(passes) {
                let again = pipeline.resubmit(self.now, frame, &mut packet, fields);
                self.follow(pipeline, again, frame, passes, events);
            }
            return pipeline.recycle(packet);
        }
        match verdict {
            Verdict::Drop | Verdict::UnknownPort | Verdict::Exhausted => pipeline.recycle(packet),
            Verdict::Unicast { .. } => self.leave(pipeline, packet, frame, passes, events),
            Verdict::Multicast { .. } => {
                for rid in [0, 7] {
                    let copy = pipeline.replicate(&packet, rid);
                    self.leave(pipeline, copy, &[], passes, events);
                }
                pipeline.recycle(packet);
            }
        }
    }

    fn leave(
        &self,
        pipeline: &mut Pipeline,
        mut packet: Box<Packet>,
        arrived: &[u8],
        passes: &mut usize,
        events: &mut Vec<Event>,
    ) {
        let (rank, priority) = pipeline.scheduling(&packet);
        events.push(Event::Scheduling(rank, priority));
        let now = self.now + self.queue.deq_timedelta_ns;
        if self.dropped {
            pipeline.dropped(now, &mut packet, &self.queue, self.queue.enq_qdepth > 4);
        }
        let departing = pipeline.egress(now, &mut packet, &self.queue);
        events.push(Event::Egress(departing, lengths(&packet)));
        if let Some(request) = departing.clone {
            let copy = pipeline.clone_egress(&packet, request.fields);
            if left(passes) {
                self.leave(pipeline, copy, &[], passes, events);
            }
        }
        if departing.verdict == EgressVerdict::Transmit {
            let mut out = Vec::new();
            pipeline.deparse(&mut packet, &mut out);
            // The memory of a frame ends where the frame ends, for accesses beyond to show.
            out.shrink_to_fit();
            if let Some(dictionary) = pipeline.dictionary()
                && let Some(record) = packet.record()
                && record.left_out() == 0
            {
                replay::check(&dictionary.steps(record), arrived, &out);
            }
            if let Some(fields) = departing.recirculate
                && left(passes)
            {
                let again = pipeline.recirculate(now, &out, &mut packet, fields);
                self.follow(pipeline, again, &out, passes, events);
            }
            events.push(Event::Sent(out));
        }
        pipeline.recycle(packet);
    }
}

/// Takes one of the passes that are left.
fn left(passes: &mut usize) -> bool {
    let left = *passes > 0;
    *passes = passes.saturating_sub(1);
    left
}

fn lengths(packet: &Packet) -> (u32, u32) {
    (packet.received_length(), packet.length())
}
