use super::*;

fn options() -> Spellings {
    let flag = |id: &str| Spelling {
        id: id.to_owned(),
        ..Spelling::default()
    };
    let valued = |id: &str| Spelling {
        takes_value: true,
        ..flag(id)
    };
    let interface = Spelling {
        repeatable: true,
        ..valued("interface")
    };
    let pcap = Spelling {
        without_value: Some(".".to_owned()),
        ..valued("pcap")
    };
    let named = [
        ("--interface", interface.clone()),
        ("-i", interface),
        ("--log-level", valued("log-level")),
        ("-L", valued("log-level")),
        ("--log-file", valued("log-file")),
        ("--log-file-max-size", valued("log-file-max-size")),
        ("--no-p4", flag("no-p4")),
        ("--pcap", pcap),
        ("--use-files", valued("use-files")),
    ];
    named
        .map(|(name, spelling)| (name.to_owned(), spelling))
        .into()
}

fn read_line(line: &str) -> Result<Given, Ended> {
    read(line.split_whitespace().map(OsString::from), &options())
}

/// The options as `id=value`, then the words.
fn shown(given: &Given) -> String {
    let options = given.options.iter().map(|(id, value)| match value {
        Some(value) => format!("{id}={}", value.display()),
        None => id.clone(),
    });
    let words = given.words.iter().map(|word| word.display().to_string());
    options.chain(words).collect::<Vec<_>>().join(" ")
}

#[test]
fn spelled_out() {
    let cases = [
        ("", ""),
        ("a.json", "a.json"),
        ("-i 0@a -i1@b a.json", "interface=0@a interface=1@b a.json"),
        ("--inter 0@a --interface=1@b", "interface=0@a interface=1@b"),
        ("-Linfo", "log-level=info"),
        ("--no-p4 -- --log-level warn", "no-p4 log-level=warn"),
        ("--no", "no-p4"),
        // A full name, although it also begins another.
        ("--log-file x", "log-file=x"),
        ("--use-files -1", "use-files=-1"),
        ("--pcap --no-p4", "pcap=. no-p4"),
        ("--pcap=dir a.json", "pcap=dir a.json"),
        ("--pcap dir a.json", "pcap=dir a.json"),
        ("--pcap a.json", "pcap=. a.json"),
        ("--pcap", "pcap=."),
        ("-", "-"),
        ("--log-file=a=b", "log-file=a=b"),
    ];
    for (line, expected) in cases {
        assert_eq!(
            shown(&read_line(line).unwrap_or_default()),
            expected,
            "{line}"
        );
    }
}

#[test]
fn a_file_is_no_directory_for_captures() {
    let program = file!();
    assert!(Path::new(program).is_file() || Path::new("src/arguments_tests.rs").is_file());
    let program = ["src/arguments_tests.rs", program].map(Path::new);
    let program = program.into_iter().find(|path| path.is_file());
    let program = program.expect("one of them is there").display();
    let given = read_line(&format!("--pcap {program}")).unwrap_or_default();
    assert_eq!(shown(&given), format!("pcap=. {program}"));
}

#[test]
fn the_last_of_two_names_counts() {
    let given = read_line("-L warn --log-level info").unwrap_or_default();
    assert_eq!(given.text("log-level").as_deref(), Some("info"));
}

#[test]
fn bytes_that_are_no_utf8_stay_as_they_are() {
    let value = |given: &Given| given.options.first().and_then(|(_, value)| value.clone());
    let word = OsString::from_vec(b"--log-file=\xff".to_vec());
    let given = read([word], &options()).unwrap_or_default();
    assert_eq!(value(&given), Some(OsString::from_vec(vec![0xff])));
    let word = OsString::from_vec(b"-L\xff".to_vec());
    let given = read([word], &options()).unwrap_or_default();
    assert_eq!(value(&given), Some(OsString::from_vec(vec![0xff])));
}

#[test]
fn refused() {
    let cases = [
        (
            "--levitate",
            "there is no option --levitate; --help lists them",
        ),
        ("-x", "there is no option -x; --help lists them"),
        ("-\u{e9}t", "there is no option -\u{e9}; --help lists them"),
        (
            "--log 3",
            "--log may be --log-file or --log-file-max-size or --log-level",
        ),
        ("--log-level a --log-level b", "--log-level is given twice"),
        ("--no-p4=1", "--no-p4 takes no value, got '1'"),
        ("--log-level", "--log-level: the value is missing"),
        (
            "--log-level -- --no-p4",
            "--log-level: the value is missing",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(read_line(line), input(expected), "{line}");
    }
}
