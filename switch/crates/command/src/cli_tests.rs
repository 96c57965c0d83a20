use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// Options that `simple_switch_grpc --help` and `simple_switch --help` of bmv2 1.15 list, with those of builds with
/// nanomsg or the debugger.
const BMV2_FLAGS: [&str; 13] = [
    "--help",
    "-h",
    "--log-console",
    "--log-flush",
    "--version",
    "-v",
    "--json-version",
    "--no-p4",
    "--debugger",
    "--disable-swap",
    "--enable-swap",
    "--grpc-server-ssl",
    "--grpc-server-with-client-auth",
];
const BMV2_VALUES: [&str; 30] = [
    "--interface",
    "-i",
    "--pcap",
    "--use-files",
    "--thrift-port",
    "--device-id",
    "--nanolog",
    "--log-file",
    "--log-level",
    "-L",
    "--log-file-max-size",
    "--log-file-max-files",
    "--restore-state",
    "--dump-packet-data",
    "--max-port-count",
    "--packet-in",
    "--notifications-addr",
    "--debugger-addr",
    "--load-modules",
    "--grpc-server-addr",
    "--grpc-server-cacert",
    "--grpc-server-cert",
    "--grpc-server-key",
    "--cpu-port",
    "--drop-port",
    "--dp-grpc-server-addr",
    "--priority-queues",
    "--max-mc-groups",
    "--max-l1-entries",
    "--max-l2-entries",
];

#[test]
fn every_option_of_bmv2_is_known() {
    let ours = spellings();
    for (names, takes_value) in [(&BMV2_FLAGS[..], false), (&BMV2_VALUES, true)] {
        for name in names {
            let found = ours.get(*name).map(|spelling| spelling.takes_value);
            assert_eq!(found, Some(takes_value), "{name}");
        }
    }
}

#[test]
fn the_definitions_are_sound() {
    command().debug_assert();
    for (name, spelling) in spellings() {
        assert!(!spelling.id.is_empty(), "{name}");
        let may_miss = ["pcap", "install-completion", "show-completion"].contains(&&*spelling.id);
        assert_eq!(spelling.without_value.is_some(), may_miss, "{name}");
    }
}

#[test]
fn the_help_has_every_option_under_a_heading() {
    let help = command().render_help().to_string();
    for name in spellings().keys() {
        assert!(help.contains(name.as_str()), "{name}");
    }
    let headings = [
        "Arguments:",
        "Options:",
        TARGET,
        LINES,
        LOG,
        TRACES,
        TLS,
        WITHOUT_MEANING,
        REFUSED,
        "Examples:",
    ];
    let places = headings.map(|heading| help.find(&format!("\n{heading}")));
    assert!(places.is_sorted(), "{places:?}");
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(help.contains("phb-switch --no-p4 -i 0@veth0"));
    assert!(help.contains("There is no debugger."));
}

#[test]
fn the_documentation_lists_every_option() {
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/inside/switch.md");
    let text = std::fs::read_to_string(documented).expect("docs/inside/switch.md is there");
    let (_, table) = text
        .split_once("| option | here |")
        .expect("it has a table");
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let cells: String = rows.filter_map(|row| row.split('|').nth(1)).collect();
    let words = cells.split(['`', ' ']).filter(|word| word.starts_with('-'));
    let listed: BTreeSet<&str> = words.filter(|word| !word.starts_with("---")).collect();
    let ours = spellings();
    let known: BTreeSet<&str> = ours.keys().map(String::as_str).collect();
    assert_eq!(listed, known);
}
