use super::*;
use crate::message::PathElem;
use crate::paths::tests::elements;

fn named(names: &[&str]) -> message::Path {
    let elem = names.iter().map(|name| PathElem {
        name: (*name).to_owned(),
        ..PathElem::default()
    });
    message::Path {
        elem: elem.collect(),
        ..message::Path::default()
    }
}

fn from(origin: &str, names: &[&str]) -> message::Path {
    message::Path {
        origin: origin.to_owned(),
        ..named(names)
    }
}

fn read_text(path: &message::Path) -> std::result::Result<String, String> {
    match read(Some(path), None) {
        Ok(path) => Ok(path.to_string()),
        Err(refused) => Err(refused.message),
    }
}

#[test]
fn paths_are_read_and_written() {
    let given = write(&elements("/interfaces/interface[name=a:b]"));
    let path = read(Some(&given), None).expect("a path");
    assert_eq!(path.to_string(), "/interfaces/interface[name=a:b]");
    assert_eq!(write(&path), given);
    let prefix = from("openconfig", &["openconfig-interfaces:interfaces"]);
    let path = read(Some(&named(&["interface"])), Some(&prefix)).expect("a path");
    assert_eq!(path.to_string(), "/interfaces/interface");
    let old = message::Path {
        element: vec!["a".to_owned(), "b".to_owned()],
        ..message::Path::default()
    };
    assert_eq!(read_text(&old).as_deref(), Ok("/a/b"));
}

#[test]
fn an_origin_may_be_part_of_the_first_name() {
    for names in [
        &["openconfig:interfaces", "interface"][..],
        &["openconfig:", "interfaces", "interface"],
        &["openconfig-interfaces:interfaces", "interface"],
        &["openconfig-interfaces:", "interfaces", "interface"],
        &["openconfig:openconfig-interfaces:interfaces", "interface"],
    ] {
        let read = read_text(&named(names));
        assert_eq!(read.as_deref(), Ok("/interfaces/interface"), "{names:?}");
    }
    let old = message::Path {
        element: vec!["openconfig:".to_owned(), "a".to_owned()],
        ..message::Path::default()
    };
    assert_eq!(read_text(&old).as_deref(), Ok("/a"));
    assert_eq!(read_text(&named(&["openconfig:"])).as_deref(), Ok("/"));
    // What pygnmi makes of openconfig-interfaces:interfaces/interface.
    let module = from("openconfig-interfaces", &["interfaces", "interface"]);
    assert_eq!(read_text(&module).as_deref(), Ok("/interfaces/interface"));
}

#[test]
fn paths_that_are_refused() {
    let long: Vec<&str> = vec!["a"; 33];
    let cases = [
        (
            from("cli", &[]),
            "there is no origin 'cli' here, only 'openconfig'",
        ),
        (
            named(&["cli:", "show"]),
            "there is no origin 'cli' here, only 'openconfig'",
        ),
        (named(&[""]), "an element of the path has no name"),
        (
            named(&["a", "openconfig:"]),
            "an element of the path has no name",
        ),
        (named(&[":"]), "an element of the path has no name"),
        (
            named(&long),
            "a path of 33 elements; no more than 32 make sense",
        ),
    ];
    for (given, words) in cases {
        assert_eq!(read_text(&given), Err(words.to_owned()));
    }
}

#[test]
fn wildcards_for_any_depth_that_follow_each_other_are_one() {
    let given = named(&vec!["..."; 1000]);
    let path = read(Some(&given), Some(&named(&["a", "..."]))).expect("a path");
    assert_eq!(path.to_string(), "/a/...");
}
