//! The program `phb-switch`: a P4 switch on network interfaces, with a server for P4Runtime and gNMI.
//!
//! In the order in which a command line goes through them:
//!
//! - [`arguments`] reads it in bmv2's spelling, [`cli`] has the options, [`values`] and [`quoted`] read and show values;
//! - [`options`] checks them, with [`ports`] and [`rate`], [`listening`], [`foreign`] and those of the [`log`];
//! - [`start`] makes a switch of them and runs it, with limits of the [`system`], the file of [`bindings`] and the server
//!   behind [`serve`], until a signal of [`stopping`];
//! - [`announce`] reports the start and the packets at the end; [`packets`] logs packets, [`traces`] writes what happens to
//!   them, and [`failures`] reports files that could not be written;
//! - [`ending`] has the errors and exit codes.
//!
//! Exit codes: 0 stopped by Ctrl-C, SIGTERM or SIGHUP; 1 the switch failed while running, or files that it wrote are not
//! whole; 2 bad input. The standard library has opened `/dev/null` where stdin, stdout or stderr are closed, so that no
//! packet socket takes their place, and ignores SIGPIPE.

mod announce;
mod arguments;
mod bindings;
mod cli;
mod completion;
mod ending;
mod failures;
mod foreign;
mod listening;
mod log;
mod options;
mod packets;
mod ports;
mod quoted;
mod rate;
mod serve;
mod start;
mod stf;
mod stopping;
mod system;
mod terminal;
mod traces;
mod values;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::Given;
use crate::ending::{Ended, OK};

/// The newest bmv2 JSON that is understood; older ones of the same major version are, too.
const BMV2_JSON_VERSION: &str = "2.24";

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let code = match run(&name, words.collect()) {
        Ok(()) => OK,
        Err(ended) => {
            // A failure of stderr can't be reported.
            let line = format!("phb-switch: {ended}");
            let _ = writeln!(std::io::stderr(), "{}", terminal::shown(&line));
            ended.code()
        }
    };
    ExitCode::from(code)
}

fn run(name: &OsString, words: Vec<OsString>) -> Result<(), Ended> {
    if let [first, arguments @ ..] = &words[..]
        && first == "stf"
    {
        return Err(stf::run(arguments));
    }
    let given = arguments::read(words, &cli::spellings())?;
    if let Some(printed) = asked(&given) {
        return announce::print(&printed?);
    }
    let name = Path::new(name).file_name().unwrap_or_default();
    start::start(&options::read(&given, &name.to_string_lossy())?)
}

/// Text to print instead of starting a switch, if asked for; the first such option counts.
fn asked(given: &Given) -> Option<Result<String, Ended>> {
    let completion = |id| completion::shell(&given.text(id).unwrap_or_default());
    given.ids().find_map(|id| match id {
        "help" => Some(Ok(help())),
        "version" => Some(Ok(format!("phb-switch {}\n", env!("CARGO_PKG_VERSION")))),
        "json-version" => Some(Ok(format!("{BMV2_JSON_VERSION}\n"))),
        "show-completion" => Some(completion(id).map(completion::script)),
        "install-completion" => Some(completion(id).and_then(completion::install)),
        _ => None,
    })
}

/// The help; in colour on a terminal that isn't dumb, unless `NO_COLOR` is set.
fn help() -> String {
    let help = cli::command().render_help();
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb {
        help.ansi().to_string()
    } else {
        help.to_string()
    }
}
