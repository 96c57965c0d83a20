//! Command lines and the options they stand for. Some are those by which well-known tools start bmv2.

use std::ffi::OsString;

use super::*;
use crate::arguments;
use crate::cli;
use crate::log::{Level, Part};
use crate::serve::{ClientCertificates, ThriftAddress, TlsFiles};
use crate::traces::Format;

fn read_as(name: &str, line: &str) -> Result<Options, Ended> {
    let words = line.split_whitespace().map(OsString::from);
    read(&arguments::read(words, &cli::spellings())?, name)
}

fn read_line(line: &str) -> Result<Options, Ended> {
    read_as("phb-switch", line)
}

fn blank() -> Options {
    Options {
        program: None,
        interfaces: Vec::new(),
        ports: BTreeMap::new(),
        device_id: 0,
        cpu_port: None,
        drop_port: 511,
        address: Some("127.0.0.1:9559".to_owned()),
        thrift: None,
        unix: None,
        tls: None,
        manners: Manners::Specification,
        logging: Logging::default(),
        traces: None,
        pcap: None,
        files_after: None,
        busy_poll: Duration::ZERO,
        real_time: None,
        seed: 1,
        executor: Executor::default(),
        as_json: false,
        ready_file: None,
        notices: Vec::new(),
    }
}

/// The runtime services of bmv2, for clients of this machine.
fn asked(port: u16) -> Option<Thrift> {
    Some(Thrift {
        address: ThriftAddress::Loopback,
        port,
        is_asked: true,
        notifications: None,
    })
}

/// Options with a log that is apart, and interfaces at ports with so many queues.
fn attached(interfaces: &[(u16, &str)], queues: u8) -> Options {
    let config = PortConfig {
        queues,
        ..PortConfig::default()
    };
    let named = interfaces.iter();
    Options {
        interfaces: named
            .map(|(port, name)| (*port, (*name).to_owned()))
            .collect(),
        ports: interfaces
            .iter()
            .map(|(port, _)| (*port, config.clone()))
            .collect(),
        ..blank()
    }
}

/// A log on the console, of everything.
fn console() -> Logging {
    let Ok(Options { logging, .. }) = read_line("--no-p4 --log-console") else {
        unreachable!("it is right");
    };
    assert!(logging.console && logging.file.is_none());
    assert!(logging.levels.has(Part::Packets, Level::Trace));
    logging
}

/// The line gives these options; notices are not compared.
#[track_caller]
fn check(line: &str, expected: Options) {
    let found = read_line(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let notices = found.notices.clone();
    assert_eq!(
        found,
        Options {
            notices,
            ..expected
        },
        "{line}"
    );
}

#[test]
fn mininet_of_bmv2() {
    check(
        "-i 1@s1-eth1 -i 2@s1-eth2 --pcap --thrift-port 9090 --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 \
         build/basic.json --debugger --log-console",
        Options {
            program: Some("build/basic.json".into()),
            pcap: Some(".".into()),
            thrift: asked(9090),
            logging: console(),
            ..attached(&[(1, "s1-eth1"), (2, "s1-eth2")], 1)
        },
    );
}

#[test]
fn p4lang_tutorials() {
    let mut expected = attached(&[(1, "s1-eth1"), (510, "")], 8);
    expected.interfaces.pop();
    check(
        "-i 1@s1-eth1 --pcap /tmp --nanolog ipc:///tmp/bm-3-log.ipc --device-id 3 --no-p4 --log-console \
         --thrift-port 9091 -- --grpc-server-addr 0.0.0.0:50052 --cpu-port 510 --priority-queues 8",
        Options {
            pcap: Some("/tmp".into()),
            device_id: 3,
            logging: console(),
            address: Some("0.0.0.0:50052".to_owned()),
            thrift: asked(9091),
            cpu_port: Some(510),
            ..expected
        },
    );
}

#[test]
fn onos() {
    let mut expected = attached(&[(1, "leaf1-eth1"), (255, "")], 1);
    expected.interfaces.pop();
    let info =
        read_line("--no-p4 --log-console -Linfo --dump-packet-data 80").map(|found| found.logging);
    let info = info.expect("it is right");
    assert!(info.levels.has(Part::Packets, Level::Info));
    assert!(!info.levels.has(Part::Packets, Level::Debug));
    assert_eq!(info.dump_bytes, 80);
    check(
        "--device-id 1 -i 1@leaf1-eth1 --thrift-port 40123 --notifications-addr ipc:///tmp/bmv2-leaf1-n.ipc \
         --nanolog ipc:///tmp/bmv2-leaf1-nanolog.ipc --debugger-addr ipc:///tmp/bmv2-leaf1-debug.ipc --log-console \
         --pcap --dump-packet-data 80 -Linfo --no-p4 -- --cpu-port 255 --grpc-server-addr 0.0.0.0:50001",
        Options {
            device_id: 1,
            logging: info,
            pcap: Some(".".into()),
            cpu_port: Some(255),
            address: Some("0.0.0.0:50001".to_owned()),
            thrift: asked(40123).map(|thrift| Thrift {
                notifications: Some("/tmp/bmv2-leaf1-n.ipc".into()),
                ..thrift
            }),
            ..expected
        },
    );
}

#[test]
fn p4_utils() {
    check(
        "-i 1@s1-eth1 --pcap=/tmp --thrift-port 9090 --nanolog ipc:///tmp/bm-1-log.ipc --device-id 1 s1.json \
         --log-console -- --grpc-server-addr 0.0.0.0:9559",
        Options {
            program: Some("s1.json".into()),
            device_id: 1,
            pcap: Some("/tmp".into()),
            logging: console(),
            address: Some("0.0.0.0:9559".to_owned()),
            thrift: asked(9090),
            ..attached(&[(1, "s1-eth1")], 1)
        },
    );
}

#[test]
fn a_ptf_script() {
    let line = "--log-file ss-log --log-flush --dump-packet-data 10000 -i 0@veth0 --no-p4";
    let logging = Logging {
        console: false,
        file: Some("ss-log".into()),
        flush: true,
        dump_bytes: 10_000,
        ..console()
    };
    check(
        line,
        Options {
            logging,
            ..attached(&[(0, "veth0")], 1)
        },
    );
}

#[test]
fn a_program_behind_the_dashes() {
    // Which bmv2 does not read, either.
    check(
        "-i 0@veth0 --no-p4 -- --grpc-server-addr 127.0.0.1:50051 build/mlp.json",
        Options {
            address: Some("127.0.0.1:50051".to_owned()),
            ..attached(&[(0, "veth0")], 1)
        },
    );
}

#[test]
fn files_instead_of_interfaces() {
    check(
        "--use-files 2 -i 0@pcap0 a.json",
        Options {
            program: Some("a.json".into()),
            files_after: Some(Duration::from_secs(2)),
            ..attached(&[(0, "pcap0")], 1)
        },
    );
    check(
        "--use-files -3 --no-p4",
        Options {
            files_after: Some(Duration::ZERO),
            ..blank()
        },
    );
}

#[test]
fn defaults_and_others() {
    check("--no-p4", blank());
    check(
        "--no-p4 --drop-port 0 --cpu-port 511",
        Options {
            drop_port: 0,
            cpu_port: Some(511),
            ports: BTreeMap::from([(511, PortConfig::default())]),
            ..blank()
        },
    );
    for address in ["unix:/tmp/s", "[::1]:9559"] {
        check(
            &format!("--no-p4 --grpc-server-addr {address}"),
            Options {
                address: Some(address.to_owned()),
                ..blank()
            },
        );
    }
    check(
        "--no-p4 --busy-poll 50 --real-time 7 --seed 18446744073709551615 --json --ready-file r --grpc-unix-socket /run/s:660",
        Options {
            busy_poll: Duration::from_micros(50),
            real_time: Some(7),
            seed: u64::MAX,
            as_json: true,
            ready_file: Some("r".into()),
            unix: Some(UnixSocket {
                path: "/run/s".into(),
                mode: 0o660,
            }),
            ..blank()
        },
    );
}

#[test]
fn tls() {
    let files = TlsFiles {
        certificate: "c".into(),
        key: "k".into(),
        client_authority: Some("a".into()),
        clients: ClientCertificates::Required,
    };
    let line = "--no-p4 -- --grpc-server-ssl --grpc-server-cert c --grpc-server-key k --grpc-server-cacert a \
                --client-bindings b";
    for (option, clients) in [
        (
            "--grpc-server-with-client-auth",
            ClientCertificates::Required,
        ),
        (
            "--grpc-server-client-auth required",
            ClientCertificates::Required,
        ),
        (
            "--grpc-server-client-auth optional",
            ClientCertificates::Optional,
        ),
        (
            "--grpc-server-with-client-auth --grpc-server-client-auth required",
            ClientCertificates::Required,
        ),
    ] {
        let tls = Tls {
            files: TlsFiles {
                clients,
                ..files.clone()
            },
            bindings: Some("b".into()),
        };
        check(
            &format!("{line} {option}"),
            Options {
                tls: Some(tls),
                ..blank()
            },
        );
    }
}

#[test]
fn manners_of_bmv2() {
    let queue_depth = Some(BMV2_QUEUE_DEPTH);
    for (name, line) in [
        ("simple_switch_grpc", "--no-p4 -i 1@a"),
        ("phb-switch", "--no-p4 -i 1@a --like bmv2"),
        (
            "simple_switch",
            "--no-p4 -i 1@a --grpc-server-addr 127.0.0.1:9559",
        ),
    ] {
        let found = read_as(name, line).expect("it is right");
        assert_eq!(found.manners, Manners::Bmv2);
        assert_eq!(found.ports[&1].queue_depth, queue_depth);
        assert_eq!(found.ports[&1].held_queue_depth, Some(64));
        // On purpose, see docs/inside/switch.md.
        assert_eq!(found.address.as_deref(), Some("127.0.0.1:9559"));
        let thrift = Thrift {
            address: ThriftAddress::Everywhere,
            port: 9090,
            is_asked: false,
            notifications: Some("/tmp/bmv2-0-notifications.ipc".into()),
        };
        assert_eq!(found.thrift, Some(thrift));
    }
    let with_tls = "--no-p4 --grpc-server-ssl --grpc-server-cert a --grpc-server-key b";
    for (words, port) in [("", None), (" --thrift-port 9095", Some(9095))] {
        let found = read_as("simple_switch_grpc", &format!("{with_tls}{words}"));
        let found = found.expect("it is right");
        assert_eq!(found.thrift.map(|thrift| thrift.port), port);
    }
    let found = read_as("simple_switch", "--no-p4 -i 1@a --thrift-port 9095");
    let found = found.expect("it is right");
    assert_eq!(found.address, None);
    assert_eq!(
        found.thrift.map(|thrift| (thrift.port, thrift.is_asked)),
        Some((9095, true))
    );
    let found = read_as("simple_switch_grpc", "--no-p4 -i 1@a --like specification");
    assert_eq!(found, read_line("--no-p4 -i 1@a"));
    let found = read_line("--no-p4 --like bmv2 -i 1@a -i 2@b --queue-depth 2=7 --cpu-port 9");
    let found = found.expect("it is right");
    let depths = found.ports.values();
    let depths: Vec<_> = depths
        .map(|port| (port.queue_depth, port.held_queue_depth))
        .collect();
    let unsaid = (queue_depth, Some(64));
    assert_eq!(depths, [unsaid, (Some(7), None), unsaid]);
}

#[test]
fn executors() {
    let found = |line: &str| read_line(&format!("--no-p4 {line}")).map(|found| found.executor);
    let interpreter = Ok(Executor::Interpreter);
    assert_eq!(found("--executor interpreter"), interpreter);
    if cfg!(feature = "native") {
        assert_eq!(found("--executor native"), Ok(Executor::Native));
        assert_eq!(found(""), Ok(Executor::Native));
    } else {
        let why = "this build makes no native code (it is without the feature `native`)";
        assert_eq!(
            found("--executor native"),
            input(format!("--executor native: {why}"))
        );
        assert_eq!(found(""), interpreter);
    }
}

#[test]
fn traces() {
    let found = |line: &str| read_line(&format!("--no-p4 {line}")).map(|found| found.traces);
    let all = Wanted {
        place: Place::File("t.jsonl".into()),
        format: Format::Json,
        filter: String::new(),
        count: None,
        frame_bytes: None,
    };
    let protobuf = Wanted {
        format: Format::Protobuf,
        ..all.clone()
    };
    let named = |name: &str, wanted: &Wanted| Wanted {
        place: Place::File(name.into()),
        ..wanted.clone()
    };
    let cases = [
        ("", None),
        ("--trace t.jsonl", Some(all.clone())),
        ("--trace=t.pb", Some(named("t.pb", &protobuf))),
        (
            "--trace t.pb --trace-format json",
            Some(named("t.pb", &all)),
        ),
        ("--trace t.jsonl --trace-format protobuf", Some(protobuf)),
        (
            "--trace - --trace-filter dropped --trace-count 3 -- --trace-frame-bytes 64",
            Some(Wanted {
                place: Place::Stdout,
                format: Format::Json,
                filter: "dropped".to_owned(),
                count: Some(3),
                frame_bytes: Some(64),
            }),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(found(line), Ok(expected), "{line}");
    }
    assert_eq!(
        found("--trace - --log-console"),
        input("--log-console and --trace - exclude each other")
    );
    for (line, words) in [
        ("--trace", "--trace: the value is missing"),
        (
            "--trace t --trace-format xml",
            "--trace-format 'xml': expected json or protobuf",
        ),
        ("--trace t --trace-count 0", "--trace-count"),
        (
            "--trace t --trace-frame-bytes 65536",
            "less than or equal to 65535",
        ),
        (
            "--trace t --trace-filter levitating",
            "--trace-filter 'levitating': character 1: found \"levitating\"; expected a condition",
        ),
    ] {
        let message = found(line).expect_err(line).to_string();
        assert!(message.contains(words), "{line}: {message}");
    }
}

#[test]
fn levels_of_parts() {
    let found = |line: &str| read_line(&format!("--no-p4 {line}")).expect(line).logging;
    let logging = found("--log-file f -L warn --log json,gnmi=debug,packets=off");
    let has = |part, level| logging.levels.has(part, level);
    assert!(has(Part::Gnmi, Level::Debug) && !has(Part::Gnmi, Level::Trace));
    assert!(has(Part::Switch, Level::Warn) && !has(Part::Switch, Level::Info));
    assert!(!has(Part::Packets, Level::Error));
    // Without a log of its own, a part is on stderr where it is asked for.
    let logging = found("--log text,tls=debug");
    let has = |part, level| logging.levels.has(part, level);
    assert!(has(Part::Tls, Level::Debug) && !has(Part::Server, Level::Debug));
    assert!(has(Part::Server, Level::Info) && !logging.packets);
    assert!(found("--log text,packets=debug").packets);
}

#[test]
fn notices() {
    let cases: [(&str, &[&str]); 14] = [
        (
            "--trace-filter dropped --trace-count 1",
            &[
                "--trace-filter ignored (there is no --trace)",
                "--trace-count ignored (there is no --trace)",
            ],
        ),
        ("--nanolog x", &["--nanolog ignored ("]),
        (
            "--debugger --debugger-addr x",
            &["--debugger, --debugger-addr ignored (there is no debugger)"],
        ),
        ("--disable-swap", &["--disable-swap ignored ("]),
        (
            "--max-mc-groups 1 --max-l1-entries 1 --max-l2-entries 1",
            &["--max-mc-groups, --max-l1-entries, --max-l2-entries ignored ("],
        ),
        ("x.json", &["x.json ignored (--no-p4"]),
        (
            "--log-flush --log-file-max-size 9 --log-file-max-files 0",
            &["--log-flush ignored", "-size ignored", "-files ignored"],
        ),
        (
            "--grpc-server-cert c --grpc-server-with-client-auth",
            &[
                "--grpc-server-cert ignored",
                "--grpc-server-with-client-auth ignored",
            ],
        ),
        (
            "--grpc-server-client-auth optional",
            &["--grpc-server-client-auth ignored (there is no --grpc-server-ssl)"],
        ),
        (
            "--dump-packet-data 9 -L error",
            &["--dump-packet-data ignored (--log-level error"],
        ),
        (
            "--pcap --use-files 1",
            &["--pcap ignored (with --use-files"],
        ),
        ("--enable-swap --device-id 3", &[]),
        ("--like bmv2 --log json", &[]),
        ("--log-file f --log-flush", &[]),
    ];
    for (line, words) in cases {
        let found = read_line(&format!("--no-p4 {line}")).expect(line);
        let text = found.notices.join("\n");
        for word in words {
            assert!(text.contains(word), "{line}: {text}");
        }
        assert_eq!(text.is_empty(), words.is_empty(), "{line}: {text}");
    }
}

#[test]
fn refused() {
    let tls = "--grpc-server-ssl --grpc-server-cert c --grpc-server-key k";
    let cases = [
        ("--restore-state x", "--restore-state: state files of bmv2"),
        (
            "--load-modules x.so",
            "--load-modules: externs in shared objects",
        ),
        ("--packet-in ipc:///x", "--packet-in: ports are"),
        (
            "--dp-grpc-server-addr x:1",
            "--dp-grpc-server-addr: ports are",
        ),
        (
            "--log-console --log-file x",
            "--log-console and --log-file exclude each other",
        ),
        (
            "-L verbose",
            "--log-level 'verbose': expected one of trace, debug, info, warn, error, off",
        ),
        (
            "--cpu-port 0",
            "Invalid value for '--cpu-port': Input should be greater than or equal to 1",
        ),
        (
            "--cpu-port 512",
            "Invalid value for '--cpu-port': Input should be less than or equal to 511",
        ),
        (
            "--cpu-port 511",
            "--drop-port 511: expected a port that is not in use",
        ),
        (
            "--max-port-count 1 -i 0@a -i 1@b",
            "--max-port-count 1: there are 2 interfaces",
        ),
        (
            "-i 3@lo --cpu-port 3",
            "--cpu-port 3: the port is lo already",
        ),
        ("-i 3@lo --drop-port 3", "--drop-port 3: expected a port"),
        (
            "--log-file f --log-file-max-size 0",
            "Invalid value for '--log-file-max-size'",
        ),
        (
            "--device-id x",
            "Invalid value for '--device-id': Input should be a valid integer, unable to parse string as an integer",
        ),
        (
            "--device-id 18446744073709551616",
            "'--device-id': Input should be less than or equal to 18446744073709551615",
        ),
        (
            "--seed -99999999999999999999999999999999999999999",
            "greater than or equal to 0",
        ),
        ("--thrift-port x", "Invalid value for '--thrift-port'"),
        ("--use-files 1.5", "Invalid value for '--use-files'"),
        ("--busy-poll 2000000", "less than or equal to 1000000"),
        ("--real-time 0", "greater than or equal to 1"),
        ("--real-time 100", "less than or equal to 99"),
        ("--dump-packet-data -1", "--dump-packet-data"),
        ("--priority-queues 0", "--priority-queues"),
        ("--priority-queues 256", "--priority-queues"),
        (
            "--grpc-server-ssl",
            "--grpc-server-ssl: --grpc-server-cert is missing",
        ),
        (
            "--grpc-server-ssl --grpc-server-cert c",
            "--grpc-server-ssl: --grpc-server-key is missing",
        ),
        (
            &format!("{tls} --grpc-server-with-client-auth"),
            "--grpc-server-with-client-auth: --grpc-server-cacert, which certificates are checked against, is missing",
        ),
        (
            &format!("{tls} --grpc-server-client-auth optional"),
            "--grpc-server-client-auth: --grpc-server-cacert, which certificates are checked against, is missing",
        ),
        (
            &format!("{tls} --grpc-server-cacert a --client-bindings b"),
            "--client-bindings: --grpc-server-with-client-auth is missing",
        ),
        (
            &format!(
                "{tls} --grpc-server-cacert a --grpc-server-with-client-auth --grpc-server-client-auth none"
            ),
            "--grpc-server-with-client-auth: --grpc-server-client-auth none says something else",
        ),
        (
            "--grpc-server-client-auth maybe",
            "--grpc-server-client-auth 'maybe': expected none, optional or required",
        ),
        (
            "--client-bindings b",
            "--client-bindings: without --grpc-server-ssl",
        ),
        (
            "--pcap /nonexistent/directory",
            "--pcap /nonexistent/directory: no such directory",
        ),
        (
            "--like simple_switch",
            "--like 'simple_switch': expected bmv2 or specification",
        ),
        (
            "--executor jit",
            "--executor 'jit': expected native or interpreter",
        ),
        ("--log xml", "--log 'xml': expected text or json"),
        (
            "--log gnmi=debug",
            "--log 'gnmi=debug': expected text or json",
        ),
        ("--log json,gnmi", "expected PART=LEVEL, got 'gnmi'"),
        (
            "--log json,nanolog=debug",
            "expected one of switch, server, gnmi, p4runtime, thrift, packets, ports, tls, got 'nanolog'",
        ),
        (
            "--log json,gnmi=loud",
            "expected one of trace, debug, info, warn, error, off, got 'loud'",
        ),
        ("--log json,gnmi=info,gnmi=debug", "gnmi is given twice"),
        (
            "--grpc-server-addr nowhere",
            "--grpc-server-addr 'nowhere': expected HOST:PORT",
        ),
        (
            "--grpc-server-addr 127.0.0.1:99999",
            "--grpc-server-addr '127.0.0.1:99999': expected a port from 0 to 65535",
        ),
        ("--port-rate 0=256k", "port 0 has no interface"),
        ("a.json b.json", "Got unexpected extra argument (b.json)"),
        (
            "a.json b.json c.json",
            "Got unexpected extra arguments (b.json c.json)",
        ),
    ];
    for (line, words) in cases {
        let found = read_line(&format!("--no-p4 {line}")).expect_err(line);
        assert!(found.to_string().contains(words), "{line}: {found}");
        assert_eq!(found.code(), 2);
    }
    assert_eq!(
        read_line(""),
        input("give a program (bmv2 JSON), or --no-p4 to start without one")
    );
}
