//! A `.proto` file of this project, as lines of `protocols.txt`: so that there is one text of its messages.

use std::fmt::Write as _;

const SCALARS: [&str; 6] = ["bool", "bytes", "int32", "string", "uint32", "uint64"];

/// The lines of a file with this name. It takes what our files have: messages that aren't nested, with oneofs and
/// optional fields, and services, a statement a line.
pub fn lines(name: &str, text: &str) -> String {
    let mut lines = String::new();
    let mut package = "";
    let mut oneof = None;
    for line in text.lines() {
        let statement = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = statement
            .split(|mark: char| mark.is_whitespace() || "();=".contains(mark))
            .filter(|word| !word.is_empty())
            .collect();
        // Writing to a string doesn't fail.
        let _ = match words[..] {
            ["package", own] => {
                package = own;
                writeln!(lines, "file {name} {package}")
            }
            [kind @ ("message" | "service"), own, "{"] => writeln!(lines, "{kind} {package}.{own}"),
            ["oneof", own, "{"] => {
                oneof = Some(own);
                Ok(())
            }
            ["}"] => {
                oneof = None;
                Ok(())
            }
            ["rpc", method, ref sides @ ..] => {
                let sides = sides.iter().map(|word| match *word {
                    "returns" => "->".to_owned(),
                    "stream" => "stream".to_owned(),
                    message => format!("{package}.{message}"),
                });
                let sides = sides.collect::<Vec<_>>().join(" ");
                writeln!(lines, "  {method} {sides}")
            }
            ["repeated", kind, field, number] => {
                let kind = kind_of(package, kind);
                writeln!(lines, "  {number} repeated {kind} {field}")
            }
            ["optional", kind, field, number] => {
                let kind = kind_of(package, kind);
                writeln!(lines, "  {number} {kind} {field} in _{field}")
            }
            [kind, field, number] if number.parse::<u32>().is_ok() => {
                let kind = kind_of(package, kind);
                let within = oneof.map_or(String::new(), |oneof| format!(" in {oneof}"));
                writeln!(lines, "  {number} {kind} {field}{within}")
            }
            _ => Ok(()),
        };
    }
    lines
}

fn kind_of(package: &str, kind: &str) -> String {
    if SCALARS.contains(&kind) {
        kind.to_owned()
    } else {
        format!("message {package}.{kind}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_lines() {
        let text = "\
syntax = \"proto3\";

package a.b;

service S {
  // Words; in a comment.
  rpc Watch(Ask) returns (stream Told);
  rpc Once(Ask) returns (Told);
}

message Ask {
  string filter = 1;
  repeated bytes keys = 2;
  optional int32 priority = 3; // Or none.
}

message Told {
  oneof response {
    Ask ask = 1;
    bool bad = 2;
  }
  repeated Ask all = 4;
}
";
        let expected = "\
file x.proto a.b
service a.b.S
  Watch a.b.Ask -> stream a.b.Told
  Once a.b.Ask -> a.b.Told
message a.b.Ask
  1 string filter
  2 repeated bytes keys
  3 int32 priority in _priority
message a.b.Told
  1 message a.b.Ask ask in response
  2 bool bad in response
  4 repeated message a.b.Ask all
";
        assert_eq!(lines("x.proto", text), expected);
    }
}
