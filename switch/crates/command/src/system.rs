//! Limits that the process asks the system to raise.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Allows as many descriptors as possible: each connection needs one.
pub fn allow_descriptors() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // With fewer there are fewer connections.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}
