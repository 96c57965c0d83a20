//! Paths and their wildcards.

use proptest::prelude::*;

use super::*;
use crate::message::PathElem;

/// Reads /a/b[k=v]; what keys have is never a slash here.
fn elements(given: &str) -> Vec<Element> {
    let parts = given.split('/').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let part = part.replace(']', "");
            let mut words = part.split('[');
            let mut element = Element::new(words.next().unwrap_or_default());
            for (key, value) in words.filter_map(|word| word.split_once('=')) {
                element.keys.push((key.to_owned(), value.to_owned()));
            }
            element.keys.sort();
            element
        })
        .collect()
}

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
fn patterns_cover() {
    let cases = [
        ("/", "/a/b", true),
        ("/a", "/a/b", true),
        ("/a/b", "/a", false),
        ("/a/c", "/a/b", false),
        ("/a/*", "/a/b/c", true),
        ("/*/c", "/a/b", false),
        ("/a[k=1]", "/a[k=1]/b", true),
        ("/a[k=2]", "/a[k=1]/b", false),
        ("/a[k=*]", "/a[k=1]/b", true),
        ("/a", "/a[k=1]", true),
        ("/a[k=*]", "/a", false),
        ("/*[k=1]", "/a[k=1]", true),
        ("/...", "/a", true),
        ("/...", "/", true),
        ("/.../c", "/a/b/c/d", true),
        ("/.../c", "/c", true),
        ("/.../x", "/a/b/c", false),
        ("/a/.../c", "/a/c", true),
        ("/a/...", "/b", false),
        ("/.../a/.../b", "/x/a/y/a/b", true),
        ("/.../a/.../b/a", "/x/a/y/a/b", false),
    ];
    for (pattern, place, expected) in cases {
        let found = covers(&elements(pattern), &elements(place));
        assert_eq!(found, expected, "{pattern} and {place}");
    }
}

/// What the specification says, without a thought for time.
fn covers_slowly(pattern: &[Element], path: &[Element]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((first, rest)) if first.name == ANY_DEPTH => {
            (0..=path.len()).any(|skipped| covers_slowly(rest, &path[skipped..]))
        }
        Some((first, rest)) => path.split_first().is_some_and(|(element, further)| {
            first.matches(element) && covers_slowly(rest, further)
        }),
    }
}

proptest! {
    #[test]
    fn covers_as_the_specification_says(
        pattern in prop::collection::vec(prop::sample::select(vec!["a", "b", "*", "..."]), 0..6),
        path in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..7),
    ) {
        let pattern: Vec<Element> = pattern.into_iter().map(Element::new).collect();
        let path: Vec<Element> = path.into_iter().map(Element::new).collect();
        prop_assert_eq!(covers(&pattern, &path), covers_slowly(&pattern, &path));
    }
}

#[test]
fn many_wildcards_take_no_time() {
    let pattern: Vec<Element> = ["...", "*"]
        .repeat(16)
        .into_iter()
        .map(Element::new)
        .collect();
    let path: Vec<Element> = (0..32).map(|_| Element::new("a")).collect();
    assert!(covers(&pattern, &path));
    assert!(!covers(&pattern, &path[..15]));
    let names = ["...", "a"].repeat(15);
    let names = [names.as_slice(), &["...", "b"]].concat();
    let pattern: Vec<Element> = names.into_iter().map(Element::new).collect();
    assert!(!covers(&pattern, &path));
}

#[test]
fn what_is_a_pattern() {
    let cases = [
        ("/a/b", false),
        ("/a/*", true),
        ("/.../b", true),
        ("/a[k=*]", true),
        ("/a[k=1]", false),
    ];
    for (given, expected) in cases {
        assert_eq!(is_pattern(&elements(given)), expected, "{given}");
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
