//! Requests of a process to its system: to take freed memory back, and to run packets' threads first.

/// Has freed memory go back to the system; to be called before there are threads.
///
/// By default each of a server's threads gets an arena of its own, and each keeps what a request of megabytes or a program
/// had once taken: loading phb's program eight times left 90 MB unused.
#[cfg(target_env = "gnu")]
pub fn give_memory_back() {
    const KEPT_BYTES: i32 = 1 << 20;
    const ARENAS: i32 = 2;
    for (option, value) in [
        (libc::M_ARENA_MAX, ARENAS),
        (libc::M_TRIM_THRESHOLD, KEPT_BYTES),
    ] {
        crate::system::set_malloc_option(option, value);
    }
}

/// Has the calling thread get processor time after those that carry packets.
pub fn yield_to_packets() {
    const NICE: i32 = 10;
    crate::system::be_nice(NICE);
}

/// Other C libraries are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn give_memory_back() {}
