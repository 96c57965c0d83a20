//! Limits that the process asks the system to raise.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Of each client's connection is a descriptor: as many as the system lets us have.
pub fn allow_descriptors() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // With fewer there are fewer connections, and nothing else to be done about it.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}
