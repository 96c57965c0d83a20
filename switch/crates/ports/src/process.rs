//! Settings of the process: memory of threads, and packets before other threads.

use std::io;
use std::thread::JoinHandle;

/// Returns freed memory to the system; call it before there are threads. By default each thread
/// keeps what a large request or program took: loading phb's program eight times left 90 MB.
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

/// Lowers the calling thread's priority below those that carry packets.
pub fn yield_to_packets() {
    const NICE: i32 = 10;
    crate::system::be_nice(NICE);
}

/// Has a thread run before all threads of ordinary ones, in the class SCHED_RR at a priority of 1 to
/// 99. Fails without permission: root, CAP_SYS_NICE, or RLIMIT_RTPRIO of the priority.
pub fn run_in_real_time<T>(thread: &JoinHandle<T>, priority: u8) -> io::Result<()> {
    crate::system::schedule_in_real_time(thread, priority.into())
}

/// Other C libraries are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn give_memory_back() {}
