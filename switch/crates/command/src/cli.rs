//! All options: their names, what they are in a word, and under which heading `--help` has them.
//!
//! The command line itself is read in bmv2's way, by [`arguments`](crate::arguments); from here come the names, the help
//! and the completion of shells.

use clap::{Arg, ArgAction, Command, ValueHint};

use crate::arguments::{Spelling, Spellings};
use crate::foreign;
use crate::listening::DEFAULT_ADDRESS;

const TARGET: &str = "Target (behind -- in scripts for bmv2; here anywhere)";
const LINES: &str = "Ports and lines (beyond bmv2)";
const LOG: &str = "Log and captures";
const TLS: &str = "TLS";
const WITHOUT_MEANING: &str = "Accepted from scripts for bmv2, without a meaning here";
const REFUSED: &str = "Refused, with the reason";

const ABOUT: &str =
    "Run a P4 switch (v1model, bmv2 JSON) on network interfaces, with a P4Runtime server.";

const EXAMPLES: &str = "\
Examples:
  phb-switch --no-p4 -i 0@veth0 -i 1@veth2
  phb-switch -i 0@veth0 -i 1@veth2 --device-id 1 program.json -- --cpu-port 510 --grpc-server-addr 0.0.0.0:9559
  phb-switch stf --help
  phb-switch --no-p4 -i 1@veth0 -i 2@ppp0 --port-rate 2=256kbit/s:-7 --transmit-ring 2=6

Options may stand before or after --. Started as simple_switch_grpc, it has bmv2's manners (--like bmv2).
Exit codes: 0 stopped; 1 failed, or files not whole; 2 bad input.";

/// Shells that completion can be had for.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

fn flag(id: &'static str, help: impl Into<String>) -> Arg {
    Arg::new(id)
        .long(id)
        .action(ArgAction::SetTrue)
        .help(help.into())
}

fn valued(id: &'static str, value: &'static str, help: impl Into<String>) -> Arg {
    Arg::new(id)
        .long(id)
        .value_name(value)
        .action(ArgAction::Set)
        .help(help.into())
}

fn file(id: &'static str, value: &'static str, help: &'static str) -> Arg {
    valued(id, value, help).value_hint(ValueHint::FilePath)
}

/// An option that has one of a few words.
fn choice<const N: usize>(
    id: &'static str,
    value: &'static str,
    words: [&'static str; N],
    help: &'static str,
) -> Arg {
    valued(id, value, help).value_parser(words)
}

/// An option whose value may be missing.
fn optional(arg: Arg) -> Arg {
    arg.num_args(0..=1)
}

/// An option with a value of the form `PORT=...`.
fn of_port(id: &'static str, value: &'static str, help: &'static str) -> Arg {
    valued(id, value, help).action(ArgAction::Append)
}

/// The command with all options.
pub fn command() -> Command {
    Command::new("phb-switch")
        .about(ABOUT)
        .after_help(EXAMPLES)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(
            Arg::new("JSON")
                .value_hint(ValueHint::FilePath)
                .help("The program, as p4c made it. Without it, a controller has to bring one."),
        )
        .args(general())
        .next_help_heading(TARGET)
        .args(target())
        .next_help_heading(LINES)
        .args(lines())
        .next_help_heading(LOG)
        .args(log())
        .next_help_heading(TLS)
        .args(tls())
        .next_help_heading(WITHOUT_MEANING)
        .args(without_meaning())
        .next_help_heading(REFUSED)
        .args(refused())
}

fn general() -> Vec<Arg> {
    vec![
        of_port(
            "interface",
            "PORT@INTERFACE",
            "Attach an interface to a port; repeatable.",
        )
        .short('i'),
        valued("device-id", "N", "P4Runtime device id.").default_value("0"),
        flag("no-p4", "Start without a program."),
        valued(
            "max-port-count",
            "N",
            "The most interfaces that may be attached.",
        )
        .default_value("512"),
        choice(
            "like",
            "WHOM",
            ["bmv2", "specification"],
            "Whose word holds where bmv2 differs from P4Runtime's specification. (default: specification)",
        ),
        flag("version", "Print the version.").short('v'),
        flag("json-version", "Print the newest bmv2 JSON understood."),
        optional(choice(
            "install-completion",
            "SHELL",
            SHELLS,
            "Install completion for a shell, the current one unless given.",
        )),
        optional(choice(
            "show-completion",
            "SHELL",
            SHELLS,
            "Print completion for a shell, to copy it or change it.",
        )),
        flag("help", "Print this.").short('h'),
    ]
}

fn target() -> Vec<Arg> {
    vec![
        valued(
            "cpu-port",
            "PORT",
            "Port of packet-in and packet-out, from 1 to 511. (default: none)",
        ),
        valued("drop-port", "PORT", "Port that means drop.").default_value("511"),
        valued(
            "grpc-server-addr",
            "HOST:PORT",
            "Where P4Runtime and gNMI listen.",
        )
        .default_value(DEFAULT_ADDRESS),
        file(
            "grpc-unix-socket",
            "PATH[:MODE]",
            "A Unix socket beside it, for users of this machine; the mode is octal, 600 unless given. (default: none)",
        ),
        valued(
            "priority-queues",
            "N",
            "Strict-priority queues per port, unless programs rank.",
        )
        .default_value("1"),
        flag(
            "enable-swap",
            "Let programs be replaced; they always may be.",
        ),
    ]
}

fn lines() -> Vec<Arg> {
    vec![
        flag(
            "strict-priority",
            "Queue by priority also where the program ranks, as a switch without a PIFO.",
        ),
        of_port(
            "port-rate",
            "PORT=RATE[:OVERHEAD]",
            "Line rate in bit/s (256k, 1.5Mbit/s), and bytes to add to each Ethernet frame's length; repeatable.",
        ),
        of_port(
            "transmit-ring",
            "PORT=N",
            "Frames that may wait between scheduler and line; repeatable.",
        ),
        of_port(
            "buffer-packets",
            "PORT=N",
            "Packets that may wait in the scheduler; repeatable.",
        ),
        of_port(
            "queue-depth",
            "PORT=N",
            "Packets that may wait in each strict-priority queue, 64 unless given, 16384 like bmv2; repeatable.",
        ),
        of_port(
            "queue-rate",
            "PORT=PPS",
            "Packets per second that each strict-priority queue passes; repeatable.",
        ),
        valued(
            "busy-poll",
            "MICROSECONDS",
            "How long to look for further frames before sleeping: less delay for more processor time.",
        )
        .default_value("0"),
        valued("seed", "N", "Seed of everything random in the program.").default_value("1"),
    ]
}

fn log() -> Vec<Arg> {
    vec![
        flag("log-console", "Log to stdout."),
        file("log-file", "FILE", "Log to a file. (default: none)"),
        choice(
            "log-level",
            "LEVEL",
            ["trace", "debug", "info", "warn", "error", "off"],
            "What is logged.",
        )
        .short('L')
        .default_value("trace"),
        valued(
            "log",
            "FORMAT[,PART=LEVEL]...",
            "How it is written, text or json, and levels of parts: switch, server, gnmi, p4runtime, packets, ports, \
             tls. Without a log of its own, of what goes to stderr. (default: text)",
        ),
        flag("log-flush", "Write each line of the log file at once."),
        valued(
            "log-file-max-size",
            "BYTES",
            "When the log file is rotated. (default: 5242880)",
        ),
        valued(
            "log-file-max-files",
            "N",
            "Rotated log files that are kept. (default: 3)",
        ),
        valued(
            "dump-packet-data",
            "BYTES",
            "How much of each packet is logged in hexadecimal.",
        )
        .default_value("0"),
        optional(
            valued(
                "pcap",
                "DIRECTORY",
                "Keep what passes each port in NAME_in.pcap and NAME_out.pcap; without a value, here.",
            )
            .value_hint(ValueHint::DirPath),
        ),
        valued(
            "use-files",
            "SECONDS",
            "Instead of interface NAME, read NAME_in.pcap and write NAME_out.pcap, after a wait. (default: none)",
        ),
        flag("json", "Print the start-up line as JSON."),
        file(
            "ready-file",
            "FILE",
            "Write the start-up line, as JSON, to a file as soon as controllers can connect. (default: none)",
        ),
    ]
}

fn tls() -> Vec<Arg> {
    vec![
        flag("grpc-server-ssl", "Use TLS."),
        file(
            "grpc-server-cert",
            "PEM",
            "The server's certificate chain. (default: none)",
        ),
        file(
            "grpc-server-key",
            "PEM",
            "The server's private key. (default: none)",
        ),
        file(
            "grpc-server-cacert",
            "PEM",
            "The authority that client certificates are checked against. (default: none)",
        ),
        flag(
            "grpc-server-with-client-auth",
            "Refuse clients without a valid certificate, as --grpc-server-client-auth required.",
        ),
        choice(
            "grpc-server-client-auth",
            "WHETHER",
            ["none", "optional", "required"],
            "Whether clients show certificates; with optional, those without one may read only. (default: none)",
        ),
        file(
            "client-bindings",
            "TOML",
            "Which roles and devices each client certificate is for, and what roles may do. (default: any)",
        ),
    ]
}

fn without_meaning() -> impl Iterator<Item = Arg> {
    let args = foreign::WITHOUT_MEANING.into_iter();
    args.map(|(id, why)| match id {
        "debugger" | "disable-swap" => flag(id, sentence(why)),
        "thrift-port" | "max-mc-groups" | "max-l1-entries" | "max-l2-entries" => {
            valued(id, "N", sentence(why))
        }
        _ => valued(id, "TEXT", sentence(why)),
    })
}

fn refused() -> impl Iterator<Item = Arg> {
    let args = foreign::REFUSED.into_iter();
    args.map(|(id, why)| valued(id, "TEXT", sentence(why)))
}

fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

/// All options by all their names.
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
        let default = arg.get_default_values().first();
        let spelling = Spelling {
            id: long.to_owned(),
            takes_value: !matches!(arg.get_action(), ArgAction::SetTrue),
            repeatable: matches!(arg.get_action(), ArgAction::Append),
            without_value: is_optional.then(|| missing.to_owned()),
            default: default.map(|value| value.to_string_lossy().into()),
        };
        if let Some(short) = arg.get_short() {
            found.insert(format!("-{short}"), spelling.clone());
        }
        found.insert(format!("--{long}"), spelling);
    }
    found
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
