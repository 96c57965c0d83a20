//! Paths and their wildcards.

use proptest::prelude::*;

use super::*;

/// Reads /a/b[k=v]; what keys have is never a slash here.
pub(crate) fn elements(given: &str) -> Vec<Element> {
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

/// The specification's definition, in exponential time.
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
