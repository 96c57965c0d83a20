//! Messages when the switch has started, and when it has stopped.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use phb_node::{RealTime, Statistics};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value, json};

use crate::ending::{Ended, input, reason};
use crate::options::Options;
use crate::traces::{Place, Wanted};

/// Where controllers can connect.
pub struct Listening {
    /// The address of P4Runtime and gNMI.
    pub grpc: Option<String>,
    /// The port of bmv2's runtime services.
    pub thrift: Option<u16>,
}

/// Says that controllers can connect, on standard output and in the ready file.
pub fn started(options: &Options, listening: &Listening) -> Result<(), Ended> {
    let interfaces: Map<String, Value> = options
        .interfaces
        .iter()
        .map(|(port, name)| (port.to_string(), name.as_str().into()))
        .collect();
    let mut started = json!({
        "grpc_server_addr": listening.grpc,
        "device_id": options.device_id,
        "interfaces": interfaces,
    });
    if let Some(port) = listening.thrift {
        started["thrift_port"] = port.into();
    }
    let started = spaced(&started);
    if let Some(path) = &options.ready_file {
        write_at_once(path, &format!("{started}\n"))?;
    }
    let is_for_traces = |wanted: &Wanted| wanted.place == Place::Stdout;
    let print = match options.traces.as_ref().is_some_and(is_for_traces) {
        true => print_beside,
        false => print,
    };
    if options.as_json {
        return print(&format!("{started}\n"));
    }
    let attached = options.interfaces.iter();
    let attached: Vec<_> = attached
        .map(|(port, name)| format!("{port}@{name}"))
        .collect();
    let attached = match &attached[..] {
        [] => "none".to_owned(),
        some => some.join(" "),
    };
    let grpc = listening.grpc.iter();
    let served = grpc.map(|address| format!(" P4Runtime at {address},"));
    let thrift = listening.thrift.iter();
    let served = served.chain(thrift.map(|port| format!(" Thrift at port {port},")));
    print(&format!(
        "phb-switch: device {},{} interfaces: {attached}\n",
        options.device_id,
        served.collect::<String>()
    ))
}

pub fn stopped(counters: &Statistics, runner: &RealTime) {
    let mut lines = format!(
        "phb-switch: stopped; received {}, injected {}, transmitted {}, to CPU {}, dropped {}, queued {}\n",
        counters.received,
        counters.injected,
        counters.transmitted,
        counters.to_cpu,
        counters.dropped.total(),
        counters.queued
    );
    for (port, name, at_port) in runner.statistics() {
        let losses = [
            ("missed", at_port.missed),
            ("receive errors", at_port.receive_errors),
            ("send errors", at_port.send_errors),
            ("refused", at_port.refused),
            ("not captured", at_port.not_captured),
        ];
        let losses = losses.into_iter().filter(|(_, count)| *count > 0);
        let losses: Vec<_> = losses
            .map(|(what, count)| format!("{what} {count}"))
            .collect();
        if !losses.is_empty() {
            let losses = losses.join(", ");
            lines.push_str(&format!("phb-switch: port {port} ({name}): {losses}\n"));
        }
    }
    // A failure of stderr can't be reported.
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// Writes to standard output in one piece, so that no line of the log comes in between.
pub fn print(text: &str) -> Result<(), Ended> {
    let write = || {
        let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        stdout.write_all(crate::terminal::shown(text).as_bytes())
    };
    write().map_err(|error| Ended::stdout(&error))
}

/// The same on standard error, where standard output is for traces.
fn print_beside(text: &str) -> Result<(), Ended> {
    // A failure of stderr can't be reported.
    let _ = io::stderr().write_all(crate::terminal::shown(text).as_bytes());
    Ok(())
}

/// Writes the ready file: it is whole as soon as it is there.
fn write_at_once(path: &Path, text: &str) -> Result<(), Ended> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished: PathBuf = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written =
        std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, path));
    if let Err(error) = written {
        // It need not be there.
        let _ = std::fs::remove_file(&unfinished);
        let path = path.display();
        return input(format!("--ready-file {path}: {}", reason(&error)));
    }
    Ok(())
}

/// JSON with a space behind each comma and colon, as scripts know the line.
struct Spaced;

impl Formatter for Spaced {
    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

fn spaced(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to memory doesn't fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, Spaced));
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_as_scripts_know_it() {
        let value = json!({"grpc_server_addr": "[::1]:9559", "device_id": 1, "interfaces": {"2": "a", "0": "b"}});
        assert_eq!(
            spaced(&value),
            r#"{"grpc_server_addr": "[::1]:9559", "device_id": 1, "interfaces": {"2": "a", "0": "b"}}"#
        );
    }
}
