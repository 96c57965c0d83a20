//! Native code and the interpreter are the same: whatever can be seen of a program's packets and state is compared after
//! each packet, with writes in between, for every program of the repository and for programs that are made up.

mod choices;
mod frames;
mod generate;
#[cfg(target_os = "linux")]
mod guard;
mod operators;
mod pair;
mod replay;
#[path = "../common/repository.rs"]
mod repository;
mod state;
mod writes;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use choices::Choices;
use pair::{Loaded, Pair};
use proptest::prelude::*;

/// An artifact of the repository, with the frames of its STF file.
struct Committed {
    name: String,
    text: String,
    frames: Vec<(u16, Vec<u8>)>,
}

fn committed() -> Vec<Committed> {
    let mut paths = repository::artifacts();
    paths.retain(|path| !is_for_psa(path));
    read(paths)
}

/// Programs for PSA are interpreted only.
fn is_for_psa(artifact: &Path) -> bool {
    artifact.parent().unwrap().ends_with("psa/build")
}

/// Artifacts; those without frames of their own get all that there are.
fn read(paths: Vec<PathBuf>) -> Vec<Committed> {
    let known = repository::artifacts();
    let mut all = ipv4();
    all.extend(known.iter().flat_map(|path| stf(path)));
    let read = |path: PathBuf| {
        let own = stf(&path);
        Committed {
            name: path.display().to_string(),
            text: std::fs::read_to_string(&path).unwrap(),
            frames: if own.is_empty() { all.clone() } else { own },
        }
    };
    paths.into_iter().map(read).collect()
}

/// The `packet` lines of the STF file that belongs to an artifact.
fn stf(artifact: &Path) -> Vec<(u16, Vec<u8>)> {
    let folder = artifact.parent().unwrap();
    let name = Path::new(artifact.file_stem().unwrap()).with_extension("stf");
    let read = |folder: &Path| std::fs::read_to_string(folder.join(&name));
    let Ok(text) = read(folder).or_else(|_| read(&folder.join(".."))) else {
        return Vec::new();
    };
    let frame = |line: &str| {
        let (port, digits) = line.strip_prefix("packet ")?.trim().split_once(' ')?;
        let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pairs = digits
            .chunks_exact(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
        Some((port.parse().ok()?, pairs.collect()))
    };
    text.lines().filter_map(frame).collect()
}

/// TCP and UDP over IPv4, with a right checksum.
fn ipv4() -> Vec<(u16, Vec<u8>)> {
    let frame = |protocol: u8| {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        let mut header = vec![
            0x45, 0, 0, 60, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2,
        ];
        let sum = header
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
            .sum::<u32>();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(header);
        frame.extend([
            0, 1, 0, 2, 0, 40, 0, 0, 0, 0, 0, 2, 0x50, 0x10, 0x20, 0, 0, 0, 0, 0,
        ]);
        frame.extend([7; 20]);
        (1, frame)
    };
    vec![frame(6), frame(17)]
}

/// What has been done.
#[derive(Debug, Default)]
struct Done {
    programs: u64,
    interpreted: u64,
    refused: u64,
    packets: u64,
    sent: u64,
    writes: u64,
    writes_taken: u64,
}

/// Writes and packets, in any order.
fn exercise(
    pair: &mut Pair,
    known: &[(u16, Vec<u8>)],
    packets: usize,
    choices: &mut Choices<'_>,
    done: &mut Done,
) {
    (pair.sent, pair.writes_taken) = (0, 0);
    for _ in 0..packets {
        for _ in 0..choices.up_to(4) {
            pair.write(choices);
            done.writes += 1;
        }
        if choices.one_in(16) {
            pair.sweep();
        }
        let (port, frame) = frames::frame(known, choices);
        // Its memory ends where it ends, for accesses beyond to show.
        let frame = frame.into_boxed_slice();
        pair.packet(port, &frame, choices);
        done.packets += 1;
        if !choices.are_left() {
            break;
        }
    }
    pair.compare_state(true);
    done.sent += pair.sent;
    done.writes_taken += pair.writes_taken;
}

/// Makes a program up and sends packets through it.
fn made_up(bytes: &[u8], packets: usize, done: &mut Done) {
    // Programs and what happens to them are drawn apart, so that neither takes all.
    let (program, others) = bytes.split_at(bytes.len() / 2);
    let artifact = generate::artifact(&mut Choices::new(program)).to_string();
    done.programs += 1;
    // To look at the program where code does not come back.
    if let Ok(path) = std::env::var("TWINS_ARTIFACT") {
        std::fs::write(path, &artifact).unwrap();
    }
    match Pair::load(&artifact) {
        Loaded::Pair(mut pair) => {
            exercise(&mut pair, &[], packets, &mut Choices::new(others), done)
        }
        Loaded::Interpreted(..) => done.interpreted += 1,
        Loaded::Refused(error) => {
            // Some expressions need more bits than the loader gives.
            println!("refused: {error}");
            done.refused += 1;
        }
    }
}

/// Sends packets of a program of the repository, as just loaded.
fn of_the_repository(
    pair: &mut Pair,
    program: &Committed,
    bytes: &[u8],
    packets: usize,
    done: &mut Done,
) {
    pair.clear();
    exercise(
        pair,
        &program.frames,
        packets,
        &mut Choices::new(bytes),
        done,
    );
}

fn load(program: &Committed) -> Box<Pair> {
    match Pair::load(&program.text) {
        Loaded::Pair(pair) => pair,
        Loaded::Interpreted(reason, _) => panic!("{} is interpreted: {reason}", program.name),
        Loaded::Refused(error) => panic!("{}: {error}", program.name),
    }
}

#[test]
fn programs_of_the_repository() {
    for program in committed() {
        let mut pair = load(&program);
        let mut done = Done::default();
        for (number, frame) in program.frames.iter().enumerate() {
            pair.packet(frame.0, &frame.1, &mut Choices::new(&[number as u8; 20]));
        }
        for seed in 0..2 {
            of_the_repository(
                &mut pair,
                &program,
                &random_bytes(seed, 12_000),
                60,
                &mut done,
            );
        }
        assert!(
            done.packets > 100 && done.writes_taken > 0 || pair.has_no_tables(),
            "{}: {done:?}",
            program.name
        );
    }
}

/// What isn't traced is interpreted.
#[test]
fn programs_for_psa() {
    let mut paths = repository::artifacts();
    paths.retain(|path| is_for_psa(path));
    assert!(!paths.is_empty());
    for program in read(paths) {
        let Loaded::Interpreted(_, mut pair) = Pair::load(&program.text) else {
            panic!("{} is not loaded", program.name);
        };
        let mut done = Done::default();
        for seed in 0..4 {
            let bytes = random_bytes(seed, 12_000);
            of_the_repository(&mut pair, &program, &bytes, 60, &mut done);
        }
        assert!(done.sent > 0, "{}: {done:?}", program.name);
    }
}

/// Artifacts from anywhere: `TWINS_FOLDER=PATH cargo test --release -p phb-pipeline --test twins -- --ignored --nocapture folder`.
#[test]
#[ignore = "takes the artifacts of a folder that is named"]
fn programs_of_a_folder() {
    let Ok(folder) = std::env::var("TWINS_FOLDER") else {
        return;
    };
    let files = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let mut done = Done::default();
    for program in read(paths) {
        done.programs += 1;
        let mut pair = match Pair::load(&program.text) {
            Loaded::Pair(pair) => pair,
            Loaded::Interpreted(reason, _) => {
                println!("{} is interpreted: {reason}", program.name);
                done.interpreted += 1;
                continue;
            }
            Loaded::Refused(error) => {
                println!("{}: {error}", program.name);
                done.refused += 1;
                continue;
            }
        };
        for seed in 0..8 {
            let bytes = random_bytes(seed, 24_000);
            of_the_repository(&mut pair, &program, &bytes, 200, &mut done);
        }
    }
    println!("{done:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn programs_that_are_made_up(bytes in prop::collection::vec(any::<u8>(), 6000..12_000)) {
        made_up(&bytes, 20, &mut Done::default());
    }
}

/// The generator is worth something: nearly all of its programs load and run natively, and packets come through.
#[test]
fn made_up_programs_do_something() {
    let mut done = Done::default();
    for seed in 0..40 {
        made_up(&random_bytes(seed, 12_000), 20, &mut done);
    }
    println!("{done:?}");
    assert!(done.refused * 10 <= done.programs, "{done:?}");
    assert_eq!(done.interpreted, 0, "{done:?}");
    assert!(
        done.sent * 4 > done.packets && done.writes_taken * 3 > done.writes,
        "{done:?}"
    );
}

/// Bytes by SplitMix64.
fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let words = (1..=count as u64 / 8).map(|number| {
        let mut word = seed
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
            .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    });
    words.flat_map(u64::to_le_bytes).collect()
}

/// A number from the environment.
fn given(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}: expected a number"))
    })
}

/// Kibibytes of memory that the process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

/// The long form: `TWINS_SECONDS=3600 TWINS_SEED=1 cargo test --release -p phb-pipeline --test twins -- --ignored --nocapture`.
#[test]
#[ignore = "takes as long as it is told to"]
fn soak() {
    let length = Duration::from_secs(given("TWINS_SECONDS", 60));
    let mut seed = given("TWINS_SEED", 1);
    let start = Instant::now();
    let programs = committed();
    let mut pairs: Vec<_> = programs.iter().map(load).collect();
    let (mut done, mut committed) = (Done::default(), Done::default());
    let mut next_line = Duration::ZERO;
    let mut early = 0;
    while start.elapsed() < length {
        // A difference names the seed that made it.
        let context = Seed(seed);
        made_up(&random_bytes(seed, 16_000), 40, &mut done);
        let number = (seed % programs.len() as u64) as usize;
        of_the_repository(
            &mut pairs[number],
            &programs[number],
            &random_bytes(seed, 16_000),
            80,
            &mut committed,
        );
        drop(context);
        seed += 1;
        if start.elapsed() >= next_line {
            println!(
                "{:>5} s  {:>7} kB  {done:?} {committed:?}",
                start.elapsed().as_secs(),
                resident()
            );
            next_line += (length / 20).max(Duration::from_secs(5));
        }
        if early == 0 && start.elapsed() > length / 4 {
            early = resident();
        }
    }
    println!(
        "made up: {done:?}\nof the repository: {committed:?}, {} programs, all native",
        programs.len()
    );
    assert_eq!(done.interpreted, 0);
    let late = resident();
    assert!(
        late <= early + 8192,
        "memory grew from {early} to {late} kB"
    );
}

/// Says the seed where a comparison panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("found with TWINS_SEED={}", self.0);
        }
    }
}
