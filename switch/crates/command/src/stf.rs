//! `phb-switch stf`: another program, as git has its subcommands.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ending::{Ended, reason};

const NAME: &str = "phb-switch-stf";

/// Becomes that program; comes back only if it can't.
pub fn run(arguments: &[OsString]) -> Ended {
    let program = beside().unwrap_or_else(|| NAME.into());
    let error = Command::new(&program).args(arguments).exec();
    if error.kind() == io::ErrorKind::NotFound {
        return Ended::Input(format!(
            "stf: there is no program {NAME}, neither beside phb-switch nor on the PATH"
        ));
    }
    Ended::Input(format!("stf: {}: {}", program.display(), reason(&error)))
}

/// The program beside this one, or beside the link that this one was started by.
fn beside() -> Option<PathBuf> {
    let started = std::env::args_os().next().map(PathBuf::from);
    let started = started.filter(|path| path.parent() != Some(Path::new("")));
    let own = [std::env::current_exe().ok(), started];
    let candidates = own.into_iter().flatten();
    candidates
        .map(|path| path.with_file_name(NAME))
        .find(|path| path.is_file())
}
