//! Code that leaves its memory ends the test: while a thread asks for it, each of its allocations lies at one end of
//! pages of its own, between pages that nobody may touch. Sanitizers instrument what rustc compiles and don't see the
//! code that Cranelift makes; the processor checks every access, whoever makes it. It sees no access to other places of
//! the same page, of the stack or of memory that the thread allocated before.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::{Command, Output};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::choices::Choices;
use crate::pair::{Loaded, Pair};
use crate::{Committed, Done, committed, exercise, generate, given, random_bytes};

/// The largest page that Linux has on processors with native code.
const PAGE: usize = 1 << 16;

/// Addresses of a process for guarded memory; none is used twice, so what is freed is guarded, too.
const SPACE: usize = 1 << 43;

/// Guarded allocations at one time: each is two of the 65,530 mappings that a process may have.
const MOST: usize = 28_000;

/// Programs that one process runs.
const PROGRAMS: u64 = 50;

/// Where an allocation lies in its pages.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    /// What is beyond its last byte is guarded.
    End,
    /// What is before its first byte is guarded.
    Start,
}

thread_local! {
    /// Whether this thread's allocations are guarded.
    static SIDE: Cell<Option<Side>> = const { Cell::new(None) };
}

static START: OnceLock<usize> = OnceLock::new();
static USED: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static GUARDED: AtomicUsize = AtomicUsize::new(0);
static UNGUARDED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Guard = Guard;

struct Guard;

// SAFETY: memory is the system allocator's, or fresh pages of a mapping whose addresses are given out once.
unsafe impl GlobalAlloc for Guard {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match guarded(layout) {
            // SAFETY: the caller's promises.
            None => unsafe { System.alloc(layout) },
            Some(memory) => memory,
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match guarded(layout) {
            // SAFETY: the caller's promises.
            None => unsafe { System.alloc_zeroed(layout) },
            // Fresh pages are zero.
            Some(memory) => memory,
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !is_guarded(memory) {
            // SAFETY: the caller's promises, and the memory is the system allocator's.
            return unsafe { System.dealloc(memory, layout) };
        }
        let pages = memory.addr() / PAGE * PAGE;
        protect(pages, layout.size().next_multiple_of(PAGE));
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pages that may be touched for an allocation; none if it isn't to be guarded, null if there are none.
fn guarded(layout: Layout) -> Option<*mut u8> {
    let side = SIDE.get()?;
    // Relaxed: these only count.
    if LIVE.load(Ordering::Relaxed) >= MOST {
        UNGUARDED.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    let start = *START.get_or_init(reserve);
    let length = layout.size().next_multiple_of(PAGE);
    let used = USED.fetch_add(length + PAGE, Ordering::Relaxed);
    if used + length + PAGE > SPACE || layout.align() > PAGE {
        return Some(null_mut());
    }
    let pages = start + PAGE + used;
    // SAFETY: these pages are of the mapping of `reserve`, and given to nobody else.
    let result = unsafe {
        libc::mprotect(
            std::ptr::with_exposed_provenance_mut(pages),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
        )
    };
    if result != 0 {
        return Some(null_mut());
    }
    LIVE.fetch_add(1, Ordering::Relaxed);
    GUARDED.fetch_add(1, Ordering::Relaxed);
    let offset = match side {
        Side::Start => 0,
        Side::End => (length - layout.size()) / layout.align() * layout.align(),
    };
    Some(std::ptr::with_exposed_provenance_mut(pages + offset))
}

fn is_guarded(memory: *mut u8) -> bool {
    START
        .get()
        .is_some_and(|start| (*start..*start + SPACE).contains(&memory.addr()))
}

/// Reserves addresses without memory. Its result is the address, for no reference to it is ever made.
fn reserve() -> usize {
    map(null_mut(), SPACE, 0)
}

/// Takes the memory of pages away.
fn protect(pages: usize, length: usize) {
    map(
        std::ptr::with_exposed_provenance_mut(pages),
        length,
        libc::MAP_FIXED,
    );
}

fn map(place: *mut libc::c_void, length: usize, flags: i32) -> usize {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a mapping at a place that the system chooses, or of pages whose allocation has ended.
    let mapped = unsafe { libc::mmap(place, length, libc::PROT_NONE, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        // Panicking would allocate.
        std::process::abort();
    }
    mapped.expose_provenance()
}

/// Does something with this thread's allocations guarded.
fn with<R>(side: Side, work: impl FnOnce() -> R) -> R {
    SIDE.set(Some(side));
    let result = work();
    SIDE.set(None);
    result
}

/// Runs a program that a seed makes up and, where asked to, one of the repository.
fn run(seed: u64, of_repository: Option<&Committed>, done: &mut Done) {
    let side = if seed.is_multiple_of(2) {
        Side::End
    } else {
        Side::Start
    };
    let bytes = random_bytes(seed, 12_000);
    let (program, others) = bytes.split_at(bytes.len() / 2);
    let made_up = generate::artifact(&mut Choices::new(program)).to_string();
    let (text, frames) = match of_repository {
        Some(program) => (&program.text, program.frames.as_slice()),
        None => (&made_up, [].as_slice()),
    };
    let loaded = with(side, || Pair::load(text));
    if let Loaded::Pair(mut pair) = loaded {
        with(side, || {
            exercise(&mut pair, frames, 20, &mut Choices::new(others), done)
        });
        done.programs += 1;
    }
}

/// This test's program once more, with what it is to do in its environment.
fn child(variables: &[(&str, i64)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "guard::in_a_process_of_its_own",
        "--ignored",
        "--nocapture",
    ]);
    command.envs(
        variables
            .iter()
            .map(|(name, value)| (name, value.to_string())),
    );
    command.output().unwrap()
}

/// Runs programs from a seed on.
fn run_apart(seed: u64, programs: u64) {
    let output = child(&[
        ("GUARD_SEED", seed as i64),
        ("GUARD_PROGRAMS", programs as i64),
    ]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    let line = out.lines().find(|line| line.starts_with("guarded"));
    println!("{}", line.expect("it says what it has done"));
}

#[test]
#[ignore = "the other tests start it"]
fn in_a_process_of_its_own() {
    if let Ok(offset) = std::env::var("GUARD_OFFSET") {
        let offset: isize = offset.parse().unwrap();
        let side = if offset < 0 { Side::Start } else { Side::End };
        let memory = with(side, || vec![7u8; 100]);
        // SAFETY: beyond the memory it ends the process, which is what is tested.
        let byte = unsafe { memory.as_ptr().offset(offset).read_volatile() };
        assert_eq!(byte, 7);
    }
    let (first, programs) = (given("GUARD_SEED", 0), given("GUARD_PROGRAMS", 0));
    let repository = if programs > 0 {
        committed()
    } else {
        Vec::new()
    };
    let mut done = Done::default();
    for seed in first..first + programs {
        // The last of these lines says where an access was beyond.
        println!("seed {seed}");
        let number = (seed / 5) as usize % repository.len();
        let of_repository = seed.is_multiple_of(5).then(|| &repository[number]);
        run(seed, of_repository, &mut done);
    }
    println!("guarded: {GUARDED:?} allocations, {UNGUARDED:?} not; {done:?}");
}

#[test]
fn an_access_beyond_memory_ends_the_process() {
    let ends = |offset: i64| !child(&[("GUARD_OFFSET", offset)]).status.success();
    assert_eq!(
        [-1, 0, 99, 100, 1000].map(ends),
        [true, false, false, true, true]
    );
}

#[test]
fn no_access_is_beyond_memory() {
    run_apart(1, 25);
}

#[test]
#[ignore = "takes as long as it is told to"]
fn soak() {
    let length = Duration::from_secs(given("TWINS_SECONDS", 60));
    let mut seed = given("TWINS_SEED", 1);
    let start = Instant::now();
    while start.elapsed() < length {
        run_apart(seed, PROGRAMS);
        seed += PROGRAMS;
    }
}
