use super::{Described, program, switch, trace, watch};

/// A field as the file has it: its label and kind, its name, and its number.
type Field = (String, String, String);

/// Each message of the file with its fields; those of alternatives apart, under their name.
fn of_the_file() -> Vec<(String, Vec<Field>)> {
    let mut messages: Vec<(String, Vec<Field>)> = Vec::new();
    let mut alternatives = Vec::new();
    let (mut in_message, mut in_alternatives) = (false, false);
    for line in include_str!("../../trace.proto").lines() {
        let words: Vec<&str> = line.trim().trim_end_matches(';').split(' ').collect();
        match words[..] {
            ["message", name, "{"] => {
                messages.push((name.to_owned(), Vec::new()));
                in_message = true;
            }
            ["oneof", name, "{"] => {
                alternatives.push((capitalised(name), Vec::new()));
                in_alternatives = true;
            }
            ["}"] if in_alternatives => in_alternatives = false,
            ["}"] => in_message = false,
            [.., kind, name, "=", number] if in_message && words[0] != "//" => {
                let label = if words.len() == 5 { words[0] } else { "" };
                let field = (
                    format!("{label} {kind}").trim().to_owned(),
                    name.to_owned(),
                    number.to_owned(),
                );
                let list = if in_alternatives {
                    &mut alternatives
                } else {
                    &mut messages
                };
                list.last_mut().expect("a message has begun").1.push(field);
            }
            _ => {}
        }
    }
    messages.extend(alternatives);
    messages.sort();
    messages
}

fn capitalised(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// A message of prost as the file would have it. Which message a field has, its Rust type says, and the compiler checks
/// that where it is used; here it is any.
fn as_in_the_file((name, fields): &Described) -> (String, Vec<Field>) {
    let fields = fields
        .iter()
        .filter(|(prost, _)| !prost.starts_with("oneof"));
    let fields = fields.map(|(prost, field)| {
        let number = prost
            .split('"')
            .rev()
            .nth(1)
            .expect("a tag in quotes")
            .to_owned();
        let words: Vec<&str> = prost
            .split(", ")
            .map(|word| word.split(' ').next().unwrap_or(""))
            .collect();
        let label = words
            .iter()
            .find(|word| ["optional", "repeated"].contains(word))
            .unwrap_or(&"");
        // Messages are optional without saying so.
        let label = if words[0] == "message" && *label == "optional" {
            ""
        } else {
            label
        };
        (
            format!("{label} {}", words[0]).trim().to_owned(),
            field.trim_start_matches("r#").to_owned(),
            number,
        )
    });
    ((*name).to_owned(), fields.collect())
}

#[test]
fn messages_are_those_of_the_file() {
    let alternatives = [trace::ALTERNATIVES, watch::ALTERNATIVES];
    let ours = [
        program::MESSAGES,
        switch::MESSAGES,
        trace::MESSAGES,
        watch::MESSAGES,
        &alternatives,
    ]
    .concat();
    let mut ours: Vec<_> = ours.iter().map(as_in_the_file).collect();
    ours.sort();
    let theirs = of_the_file();
    assert!(theirs.len() > 30, "{theirs:?}");
    let is_scalar =
        |kind: &str| ["uint32", "uint64", "int32", "bool", "string", "bytes"].contains(&kind);
    let known: Vec<&String> = theirs.iter().map(|(name, _)| name).collect();
    let theirs: Vec<_> = theirs
        .iter()
        .map(|(name, fields)| {
            let fields = fields.iter().map(|(kind, field, number)| {
                let (label, kind) = kind.rsplit_once(' ').unwrap_or(("", kind));
                assert!(
                    is_scalar(kind) || known.iter().any(|name| *name == kind),
                    "{name}.{field}: {kind}"
                );
                let kind = if is_scalar(kind) { kind } else { "message" };
                // Alternatives are named by their variants.
                let field = if ["What", "Response"].contains(&name.as_str()) {
                    field.split('_').map(capitalised).collect()
                } else {
                    field.clone()
                };
                (
                    format!("{label} {kind}").trim().to_owned(),
                    field,
                    number.clone(),
                )
            });
            (name.clone(), fields.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(ours, theirs);
}
