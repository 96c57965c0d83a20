//! The command line's options in groups, each a struct. A group that one module reads is defined there.
//!
//! The command line itself is read in bmv2's way, by [`arguments`](crate::arguments). From here come the options' names
//! and values, the help, and the completion of shells.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser, ValueHint};
use phb_pipeline::Executor;

use crate::arguments::{Given, Spelling, Spellings};
use crate::ending::{Ended, input};
use crate::foreign;
use crate::listening::{DEFAULT_ADDRESS, TlsOptions};
use crate::log::LogOptions;
use crate::ports::{HIGHEST_PORT, LineOptions};
use crate::serve::Manners;
use crate::traces::TraceOptions;
use crate::values::{message, number, path, text, word};

const TARGET: &str = "Target (behind -- in scripts for bmv2; here anywhere)";
const LINES: &str = "Ports and lines (beyond bmv2)";
const LOG: &str = "Log and captures";
const TRACES: &str = "Traces of packets (beyond bmv2)";
const TLS: &str = "TLS";
const WITHOUT_MEANING: &str = "Accepted from scripts for bmv2, without a meaning here";
const REFUSED: &str = "Refused, with the reason";

const ABOUT: &str =
    "Run a P4 switch (v1model, bmv2 JSON) on network interfaces, with a P4Runtime server.";

const EXAMPLES: &str = "\
Examples:
  phb-switch --no-p4 -i 0@veth0 -i 1@veth2
  phb-switch -i 0@veth0 -i 1@veth2 --device-id 1 program.json -- --cpu-port 510 --grpc-server-addr 0.0.0.0:9559
  phb-switch --executor interpreter -i 0@veth0 program.json
  phb-switch -i 0@veth0 -i 1@veth2 program.json --trace traces.jsonl --trace-filter 'tcp and dst port 80'
  phb-switch stf --help
  phb-switch --no-p4 -i 1@veth0 -i 2@ppp0 --port-rate 2=256kbit/s:-7 --transmit-ring 2=6

Options may stand before or after --. Started as simple_switch_grpc or simple_switch, it has bmv2's manners (--like bmv2).
Exit codes: 0 stopped; 1 failed, or files not whole; 2 bad input.";

pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// All options with a meaning, and the program.
#[derive(Debug, Parser)]
#[command(name = "phb-switch", about = ABOUT, after_help = EXAMPLES)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true
)]
pub struct CommandLine {
    #[arg(
        id = "JSON",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "The program, as p4c made it. Without it, a controller has to bring one."
    )]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub general: General,
    #[command(flatten, next_help_heading = TARGET)]
    pub target: Target,
    #[command(flatten, next_help_heading = LINES)]
    pub lines: LineOptions,
    #[command(flatten, next_help_heading = LOG)]
    pub log: LogOptions,
    #[command(flatten, next_help_heading = TRACES)]
    pub traces: TraceOptions,
    #[command(flatten, next_help_heading = TLS)]
    pub tls: TlsOptions,
}

/// Options that belong to no group. Those with an underscore print something and end; [`Given`] has their order.
#[derive(Debug, Args)]
pub struct General {
    #[arg(
        long,
        short = 'i',
        value_name = "PORT@INTERFACE",
        help = "Attach an interface to a port; repeatable."
    )]
    pub interface: Vec<OsString>,
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        value_parser = number::<u64>(0..=u64::MAX.into()),
        help = "P4Runtime device id."
    )]
    pub device_id: u64,
    #[arg(long, help = "Start without a program.")]
    pub no_p4: bool,
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        value_parser = number::<u64>(0..=u64::MAX.into()),
        help = "The most interfaces that may be attached."
    )]
    pub max_port_count: u64,
    #[arg(
        long,
        value_name = "WHOM",
        value_parser = word(
            &[("bmv2", Manners::Bmv2), ("specification", Manners::Specification)],
            "bmv2 or specification"
        ),
        help = "Whose word holds where bmv2 differs from P4Runtime's specification. (default: specification)"
    )]
    pub like: Option<Manners>,
    #[arg(
        long,
        value_name = "WHICH",
        value_parser = word(
            &[("native", Executor::Native), ("interpreter", Executor::Interpreter)],
            "native or interpreter"
        ),
        help = "What runs programs: machine code made when they are loaded, where that can be, or the interpreter. (default: native)"
    )]
    pub executor: Option<Executor>,
    #[arg(long = "version", short = 'v', help = "Print the version.")]
    _version: bool,
    #[arg(long = "json-version", help = "Print the newest bmv2 JSON understood.")]
    _json_version: bool,
    #[arg(
        long = "install-completion",
        value_name = "SHELL",
        num_args = 0..=1,
        value_parser = PossibleValuesParser::new(SHELLS),
        help = "Install completion for a shell, the current one unless given."
    )]
    _install_completion: Option<String>,
    #[arg(
        long = "show-completion",
        value_name = "SHELL",
        num_args = 0..=1,
        value_parser = PossibleValuesParser::new(SHELLS),
        help = "Print completion for a shell, to copy it or change it."
    )]
    _show_completion: Option<String>,
    #[arg(long = "help", short = 'h', help = "Print this.")]
    _help: bool,
}

/// Options that bmv2's target has.
#[derive(Debug, Args)]
pub struct Target {
    #[arg(
        long,
        value_name = "PORT",
        value_parser = number::<u16>(1..=HIGHEST_PORT.into()),
        help = "Port of packet-in and packet-out, from 1 to 511. (default: none)"
    )]
    pub cpu_port: Option<u16>,
    #[arg(
        long,
        value_name = "PORT",
        default_value = "511",
        value_parser = number::<u16>(0..=HIGHEST_PORT.into()),
        help = "Port that means drop."
    )]
    pub drop_port: u16,
    #[arg(
        long,
        value_name = "HOST:PORT",
        default_value = DEFAULT_ADDRESS,
        value_parser = text(),
        help = "Where P4Runtime and gNMI listen."
    )]
    pub grpc_server_addr: String,
    #[arg(
        long,
        value_name = "PORT",
        value_parser = number::<u16>(0..=u16::MAX.into()),
        help = "Port of bmv2's runtime services (Thrift), for simple_switch_CLI and the like. (default: none; with bmv2's \
                manners 9090)"
    )]
    pub thrift_port: Option<u16>,
    #[arg(
        long,
        value_name = "ipc://PATH",
        value_parser = text(),
        help = "Where to publish what programs learn, in nanomsg's protocol, for clients of Thrift. (default: none; with bmv2's \
                manners ipc:///tmp/bmv2-ID-notifications.ipc, ID being the device's)"
    )]
    pub notifications_addr: Option<String>,
    #[arg(
        long,
        value_name = "PATH[:MODE]",
        value_parser = text(),
        value_hint = ValueHint::FilePath,
        help = "A Unix socket beside it, for users of this machine; the mode is octal, 600 unless given. (default: none)"
    )]
    pub grpc_unix_socket: Option<String>,
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = number::<u8>(1..=u8::MAX.into()),
        help = "Strict-priority queues per port, unless programs rank."
    )]
    pub priority_queues: u8,
    #[arg(
        long = "enable-swap",
        help = "Let programs be replaced; they always may be."
    )]
    _enable_swap: bool,
}

pub fn command() -> Command {
    CommandLine::command()
        .next_help_heading(WITHOUT_MEANING)
        .args(without_meaning())
        .next_help_heading(REFUSED)
        .args(refused())
}

fn without_meaning() -> impl Iterator<Item = Arg> {
    let args = foreign::WITHOUT_MEANING.into_iter();
    args.map(|(id, why)| {
        let arg = Arg::new(id).long(id).help(sentence(why));
        match id {
            "debugger" | "disable-swap" => arg.action(ArgAction::SetTrue),
            "max-mc-groups" | "max-l1-entries" | "max-l2-entries" => arg
                .value_name("N")
                .value_parser(number::<i128>(i128::MIN..=i128::MAX)),
            _ => arg.value_name("TEXT").value_parser(text()),
        }
    })
}

fn refused() -> impl Iterator<Item = Arg> {
    let args = foreign::REFUSED.into_iter();
    args.map(|(id, why)| {
        let arg = Arg::new(id).long(id).help(sentence(why));
        arg.value_name("TEXT").value_parser(text())
    })
}

fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

pub fn spellings() -> Spellings {
    let mut found = Spellings::new();
    for arg in command().get_arguments() {
        let Some(long) = arg.get_long() else {
            continue;
        };
        let is_optional = arg
            .get_num_args()
            .is_some_and(|number| number.min_values() == 0);
        let missing = if long == "pcap" { "." } else { "" };
        let spelling = Spelling {
            id: long.to_owned(),
            takes_value: !matches!(arg.get_action(), ArgAction::SetTrue),
            repeatable: matches!(arg.get_action(), ArgAction::Append),
            without_value: is_optional.then(|| missing.to_owned()),
        };
        if let Some(short) = arg.get_short() {
            found.insert(format!("-{short}"), spelling.clone());
        }
        found.insert(format!("--{long}"), spelling);
    }
    found
}

pub fn read(given: &Given) -> Result<CommandLine, Ended> {
    let matches = command()
        .no_binary_name(true)
        .try_get_matches_from(given.in_full());
    let line = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    line.or_else(|error| input(message(&error)))
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
