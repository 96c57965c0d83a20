//! Shared by the fuzz targets: the committed artifacts, values drawn from the fuzzer's bytes, and switches to drive. A
//! switch stands there twice, with native code and with the interpreter, and the two are compared. Of the latter's packets
//! every second one is traced.

#[path = "../../crates/pipeline/tests/twins/state.rs"]
mod state;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use phb_network::{Frame, Node, Output, Port, Time, Transmission};
use phb_node::tracing::Watch;
use phb_node::{Failure, SwitchConfig, SwitchNode, Update, unlimited};
use phb_pipeline::trace::Tracer;
use phb_pipeline::{
    Digest, Entry, Executor, KeyInfo, LoadError, Match, MatchKind, Options, Pipeline, TableInfo,
};
use phb_trace::Filter;

/// The port that leads to controllers.
const CPU_PORT: Port = 510;

/// Ports of the switch; frames come in at one more, which it does not have.
const PORTS: Port = 4;

/// Ticks until everything a frame caused must be over.
const TICKS: usize = 100_000;

/// Every committed artifact: name and JSON text, in the order of their names.
pub fn artifacts() -> &'static [(String, String)] {
    static ARTIFACTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    ARTIFACTS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = [
            "p4src/build",
            "switch/programs/build",
            "switch/programs/pna/build",
            "switch/programs/psa/build",
            "switch/python/tests/programs",
        ];
        let mut files: Vec<PathBuf> = folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
            .flatten()
            .filter_map(|file| Some(file.ok()?.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .filter(|path| path.file_name().is_some_and(|name| name != "manifest.json"))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "no artifact below {}", root.display());
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).expect("a committed file is readable");
            (path.display().to_string(), text)
        };
        files.into_iter().map(read).collect()
    })
}

/// Serialized p4info and artifact of every program that `requests.py` has prepared, in the order of their names.
pub fn programs() -> Vec<(Vec<u8>, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("build/fuzz/p4info");
    let files = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make fuzz`", folder.display()));
    let mut infos: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    infos.sort();
    let read = |info: PathBuf| {
        let name = info.with_extension("json");
        let name = name.file_name().expect("a file has a name");
        let json = [
            "p4src/build",
            "switch/programs/build",
            "switch/programs/pna/build",
            "switch/programs/psa/build",
        ]
        .iter()
        .find_map(|folder| std::fs::read_to_string(root.join(folder).join(name)).ok())
        .expect("every p4info has an artifact");
        (
            std::fs::read(info).expect("a file just listed is readable"),
            json,
        )
    };
    infos.into_iter().map(read).collect()
}

/// A switch that runs an artifact which is right.
pub fn loaded(json: &str) -> SwitchNode {
    switch(Pipeline::load(json, Options::default()).expect("a committed artifact loads"))
}

/// A switch that runs `pipeline`.
fn switch(pipeline: Pipeline) -> SwitchNode {
    let config = SwitchConfig {
        name: "fuzzed".to_owned(),
        cpu_port: Some(CPU_PORT),
        drop_port: Options::default().drop_port,
        seed: 1,
        executor: Executor::default(),
    };
    let mut switch = SwitchNode::new(config, (0..PORTS).map(|port| (port, unlimited())));
    switch.install(pipeline);
    switch
}

/// Loads an artifact for both executors; they refuse it alike.
pub fn load(json: &str) -> std::result::Result<[Pipeline; 2], LoadError> {
    let [native, interpreted] = [Executor::Native, Executor::Interpreter].map(|executor| {
        let options = Options {
            executor,
            ..Options::default()
        };
        Pipeline::load(json, options)
    });
    match (native, interpreted) {
        (Ok(native), Ok(mut interpreted)) => {
            // What is traced may be longer than what a program may have.
            let tracer = Tracer::load(json).ok();
            interpreted.set_tracer(tracer.map(Box::new));
            Ok([native, interpreted])
        }
        (native, interpreted) => {
            let (native, interpreted) = (native.err(), interpreted.err());
            assert_eq!(native, interpreted, "only one executor refuses it");
            Err(native.expect("one of the two is an error"))
        }
    }
}

/// A switch with native code and one with the interpreter. What is done to one is done to the other, with the same
/// results.
pub struct Twins {
    switches: [SwitchNode; 2],
    /// The traces of the second one.
    watch: Arc<Watch>,
}

/// What leaves a switch.
#[derive(Debug, PartialEq)]
struct Left {
    frames: Vec<Transmission>,
    to_controllers: Vec<Vec<u8>>,
    digests: Vec<Digest>,
}

impl Twins {
    /// Switches that run two pipelines of one program.
    pub fn new(pipelines: [Pipeline; 2]) -> Self {
        let mut switches = pipelines.map(switch);
        let filter = Filter::parse("every 2").expect("it is understood");
        let watch = switches[1].watch(filter, 0).expect("nobody else watches");
        Self { switches, watch }
    }

    /// Reads all traces as lines of JSON and as messages.
    fn read_traces(&self) {
        for traced in self.watch.take(Duration::ZERO) {
            let mut line = Vec::new();
            self.watch.append_json(&traced, 0, &mut line);
            let line: serde_json::Value = serde_json::from_slice(&line).expect("a line is JSON");
            let message = self.watch.message(&traced, 0);
            let steps = line["steps"].as_array().map_or(0, Vec::len);
            assert_eq!(steps, message.steps.len(), "{line}");
            assert!(steps > 0, "a packet without an arrival");
        }
    }

    fn pipelines(&mut self) -> Option<[Pipeline; 2]> {
        let [native, interpreted] = self.switches.each_mut().map(SwitchNode::take_pipeline);
        Some([native?, interpreted?])
    }

    /// One of the two, to look at.
    pub fn reference(&self) -> &SwitchNode {
        &self.switches[1]
    }

    /// Writes a batch.
    pub fn write(
        &mut self,
        updates: &[Update],
        atomic: bool,
    ) -> Vec<std::result::Result<(), Failure>> {
        let [native, interpreted] = self
            .switches
            .each_mut()
            .map(|switch| switch.write(updates, atomic));
        assert_eq!(native, interpreted, "the answers to {updates:?} differ");
        self.compare(false);
        native
    }

    /// Sends a frame drawn from `bytes` through both until nothing is due, and checks that every packet is accounted
    /// for. `now` is the time before and becomes the time after.
    pub fn send(&mut self, bytes: &mut Unstructured<'_>, now: &mut Time) -> Result<()> {
        let port = bytes.int_in_range(0..=PORTS)?;
        let length = bytes.int_in_range(0..=1600)?;
        let mut frame = frame(bytes)?;
        frame.resize(length, 0);
        *now += u64::from(bytes.arbitrary::<u32>()?);
        let [native, interpreted] = self
            .switches
            .each_mut()
            .map(|switch| pass(switch, *now, port, &frame));
        assert_eq!(
            native, interpreted,
            "what leaves differs for {frame:02x?} at port {port}"
        );
        self.read_traces();
        self.compare(false);
        Ok(())
    }

    /// Compares what can be read of both: all of it, or without arrays of many cells.
    pub fn compare(&self, all: bool) {
        let [native, interpreted] = &self.switches;
        assert_eq!(native.statistics(), interpreted.statistics());
        let program = |switch: &SwitchNode| switch.pipeline().is_some();
        assert_eq!(program(native), program(interpreted));
        if let (Some(native), Some(interpreted)) = (native.pipeline(), interpreted.pipeline()) {
            state::compare(native, interpreted, all);
        }
    }
}

fn pass(switch: &mut SwitchNode, now: Time, port: Port, frame: &[u8]) -> Left {
    let mut frames = Vec::new();
    let mut out = Output::new();
    out.begin(now);
    switch.receive(now, port, Frame::new(frame.to_vec()), &mut out);
    frames.extend(out.drain());
    let mut ticks = 0;
    while let Some(tick) = switch.next_tick().filter(|tick| *tick <= now) {
        out.begin(now.max(tick));
        switch.tick(now, &mut out);
        frames.extend(out.drain());
        ticks += 1;
        assert!(ticks < TICKS, "a switch that never comes to rest");
    }
    assert_eq!(switch.check(), 0, "{:?}", switch.statistics());
    Left {
        frames,
        to_controllers: switch.packet_ins().take(Duration::ZERO),
        digests: switch.digests().take(Duration::ZERO),
    }
}

thread_local! {
    /// The committed artifacts, loaded once: to load one takes longer than to use it.
    static PIPELINES: RefCell<Vec<Option<[Pipeline; 2]>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `test` on switches with one of the committed artifacts, as if just loaded.
pub fn with_any_switch(
    bytes: &mut Unstructured<'_>,
    test: impl FnOnce(&mut Twins, &mut Unstructured<'_>) -> Result<()>,
) -> Result<()> {
    let number = bytes.choose_index(artifacts().len())?;
    let loaded = PIPELINES.with_borrow_mut(|pipelines| {
        pipelines.resize_with(artifacts().len(), || None);
        pipelines[number].take()
    });
    let mut pipelines = loaded.unwrap_or_else(|| {
        let (name, json) = &artifacts()[number];
        let pipelines = load(json).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Programs for PSA are interpreted, by both.
        let execution = pipelines[0].execution();
        assert_eq!(
            execution.executor == Executor::Native,
            !pipelines[0].is_psa(),
            "{name}: {:?}",
            execution.reason
        );
        pipelines
    });
    pipelines.iter_mut().for_each(Pipeline::clear);
    let mut twins = Twins::new(pipelines);
    let result = test(&mut twins, bytes);
    twins.compare(true);
    PIPELINES.with_borrow_mut(|pipelines| pipelines[number] = twins.pipelines());
    result
}

/// The beginning of a frame: headers that parsers know, mostly, and what the fuzzer likes after them.
fn frame(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut frame = Vec::new();
    if bytes.ratio(7, 8)? {
        frame.extend(bytes.arbitrary::<[u8; 12]>()?);
        let types: [u16; 6] = [0x0800, 0x86dd, 0x8100, 0x0806, 0x8847, 0x1234];
        frame.extend(bytes.choose(&types)?.to_be_bytes());
    }
    let rest = bytes.arbitrary_len::<u8>()?.min(256);
    frame.extend(bytes.bytes(rest)?);
    Ok(frame)
}

/// An update of one of the switch's own tables, counters or registers: right, or wrong in a detail.
pub fn update(switch: &SwitchNode, bytes: &mut Unstructured<'_>) -> Result<Update> {
    let pipeline = switch.pipeline().expect("a program is loaded");
    let tables = pipeline.tables();
    let kind = bytes.int_in_range(0..=9u8)?;
    if kind < 7 && !tables.is_empty() {
        let shape = bytes.choose(&tables)?;
        let table = shape.name.clone();
        let entry = entry(shape, bytes)?;
        return Ok(match kind {
            0..=2 => Update::Insert { table, entry },
            3 => Update::Modify { table, entry },
            4 => Update::Delete { table, entry },
            5 => Update::DefaultAction {
                table,
                action: bytes
                    .arbitrary::<bool>()?
                    .then_some((entry.action, entry.params)),
            },
            _ => Update::DirectCounter {
                table,
                entry: bytes.arbitrary::<bool>()?.then_some(entry),
                value: bytes.arbitrary()?,
            },
        });
    }
    let index = usize::from(bytes.arbitrary::<u16>()?);
    let counters = pipeline.counters();
    let registers = pipeline.registers();
    if kind == 7 && !counters.is_empty() {
        let name = bytes.choose(&counters)?.0.clone();
        return Ok(Update::Counter {
            name,
            index,
            value: bytes.arbitrary()?,
        });
    }
    let name = match registers.is_empty() {
        true => String::from("no such register"),
        false => bytes.choose(&registers)?.0.clone(),
    };
    Ok(Update::Register {
        name,
        index,
        value: bytes.arbitrary()?,
    })
}

/// An entry for a table.
fn entry(shape: &TableInfo, bytes: &mut Unstructured<'_>) -> Result<Entry> {
    let mut matches = Vec::new();
    for key in &shape.keys {
        if bytes.ratio(15, 16)? {
            matches.push((key.name.clone(), any_match(key, bytes)?));
        }
    }
    let (action, params) = if shape.actions.is_empty() {
        Default::default()
    } else {
        let action = bytes.choose(&shape.actions)?;
        let mut params = Vec::new();
        for (name, bits) in &action.params {
            params.push((name.clone(), value(*bits, bytes)?));
        }
        (action.name.clone(), params)
    };
    Ok(Entry {
        matches,
        priority: i32::from(bytes.arbitrary::<i8>()?),
        action,
        params,
        ..Entry::default()
    })
}

fn any_match(key: &KeyInfo, bytes: &mut Unstructured<'_>) -> Result<Match> {
    let kind = if bytes.ratio(1, 16)? {
        *bytes.choose(&[
            MatchKind::Exact,
            MatchKind::Lpm,
            MatchKind::Ternary,
            MatchKind::Range,
        ])?
    } else {
        key.kind
    };
    Ok(match kind {
        MatchKind::Exact => Match::Exact(value(key.bits, bytes)?),
        MatchKind::Lpm => Match::Lpm {
            value: value(key.bits, bytes)?,
            prefix_len: bytes.int_in_range(0..=key.bits + 1)?,
        },
        MatchKind::Ternary => {
            let mask = value(key.bits, bytes)?;
            let value = value(key.bits, bytes)?;
            Match::Ternary {
                value: value
                    .iter()
                    .zip(&mask)
                    .map(|(value, mask)| value & mask)
                    .collect(),
                mask,
            }
        }
        MatchKind::Optional => Match::Optional(match bytes.arbitrary()? {
            true => Some(value(key.bits, bytes)?),
            false => None,
        }),
        MatchKind::Range => {
            let (one, other) = (value(key.bits, bytes)?, value(key.bits, bytes)?);
            Match::Range {
                low: one.clone().min(other.clone()),
                high: one.max(other),
            }
        }
    })
}

/// Big-endian bytes that fit the width, mostly.
fn value(bits: u32, bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut value = bytes.bytes(bits.div_ceil(8) as usize)?.to_vec();
    if !bits.is_multiple_of(8)
        && bytes.ratio(31, 32)?
        && let Some(first) = value.first_mut()
    {
        *first &= (1 << (bits % 8)) - 1;
    }
    Ok(value)
}
