//! The command's words: help, bad input, what it prints and what it hands on.

mod support;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use support::{ANYWHERE, Folder, PROGRAM, RANKED, command, ended, words};

/// Its message about bad input: one line on stderr.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let (code, output, errors) = ended(arguments);
    assert_eq!((code, output.as_str()), (2, ""), "{errors}");
    assert_eq!(errors.matches('\n').count(), 1, "{errors}");
    let message = errors.strip_prefix("phb-switch: ").expect("its name first");
    message.trim_end().to_owned()
}

#[test]
fn help() {
    let (code, output, errors) = ended(&["--help"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(
        !output.contains('\x1b'),
        "colours where there is no terminal"
    );
    for words in [
        "--interface",
        "--grpc-server-addr",
        "--port-rate",
        "Examples:",
        "phb-switch --no-p4 -i 0@veth0",
    ] {
        assert!(output.contains(words), "{words}");
    }
    assert_eq!(ended(&["-h", "--no-p4", "x", "y"]).1, output);
    assert_eq!(ended(&["--device-id", "x", "--help"]).1, output);
}

#[test]
fn version() {
    let (code, output, _) = ended(&["--version"]);
    assert_eq!(code, 0);
    assert!(output.starts_with("phb-switch "), "{output}");
    assert_eq!(ended(&["-v"]).1, output);
    assert_eq!(ended(&["--json-version"]).1, "2.24\n");
}

#[test]
fn bad_input() {
    let cases: [(&[&str], &str); 19] = [
        (&[], "give a program"),
        (&["absent.json"], "absent.json: No such file or directory"),
        (&["--no-p4", "-i", "veth0"], "expected PORT@INTERFACE"),
        (&["--no-p4", "-i", "0@"], "expected PORT@INTERFACE"),
        (&["--no-p4", "-i", "512@veth0"], "port from 0 to 511"),
        (
            &["--no-p4", "-i", "0@a", "-i", "0@b"],
            "port 0 is a already",
        ),
        (
            &["--no-p4", "-i", "0@a", "-i", "1@a"],
            "a is attached already",
        ),
        (
            &["--no-p4", "-i", "0@absent0"],
            "there is no interface absent0",
        ),
        (
            &["--no-p4", "-i", "3@lo", "--cpu-port", "3"],
            "--cpu-port 3: the port is lo already",
        ),
        (&["--no-p4", "--device-id", "x"], "--device-id"),
        (&["--no-p4", "--levitate"], "there is no option --levitate"),
        (
            &["--no-p4", "--port-rate", "0=256k"],
            "port 0 has no interface",
        ),
        (
            &["--no-p4", "-i", "0@lo", "--port-rate", "0=fast"],
            "expected",
        ),
        (
            &["--no-p4", "-i", "0@lo", "--transmit-ring", "0=-1"],
            "expected a number of frames",
        ),
        (
            &["--no-p4", "--grpc-server-addr", "nowhere"],
            "expected HOST:PORT",
        ),
        (
            &["--no-p4", "--grpc-server-addr", "127.0.0.1:99999"],
            "expected a port from 0 to 65535",
        ),
        (
            &["--no-p4", "-i", "1@lo", "--drop-port", "1"],
            "--drop-port 1: expected a port that is not in use",
        ),
        (
            &["--no-p4", "--", "--grpc-server-addr", "192.0.2.1:9559"],
            "can not listen at 192.0.2.1:9559",
        ),
        (
            &["--no-p4", "--log-file", "/nonexistent/log"],
            "--log-file /nonexistent/log: No such file or directory",
        ),
    ];
    for (arguments, words) in cases {
        let message = refused(arguments);
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn bad_programs() {
    let folder = Folder::new();
    let artifact = fs::read_to_string(RANKED).expect("the program is there");
    let broken = folder.write(
        "broken.json",
        artifact.replacen("\"assign\"", "\"levitate\"", 1),
    );
    let name = broken.to_str().expect("it is text");
    let message = refused(&[name]);
    assert!(
        message.starts_with(&format!("{name}: artifact /")),
        "{message}"
    );
    folder.write("broken.json", b"\xff");
    let message = refused(&[name]);
    assert_eq!(message, format!("{name}: not a bmv2 JSON: it is not UTF-8"));
}

#[test]
fn standard_output_is_full() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["--no-p4", ANYWHERE[0], ANYWHERE[1]],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let mut command = command(&[], arguments);
        command.stdout(full.expect("/dev/full is there"));
        let (code, _, errors) = words(&command.output().expect("it starts"));
        assert_eq!(code, 1);
        assert_eq!(
            errors,
            "phb-switch: standard output: No space left on device\n"
        );
    }
}

#[test]
fn a_closed_standard_output() {
    let line = format!("{PROGRAM} --help >&-");
    let output = Command::new("sh").args(["-c", &line]).output();
    let (code, _, errors) = words(&output.expect("there is a shell"));
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn completion() {
    for shell in ["bash", "zsh", "fish"] {
        let by_name = ended(&["--show-completion", shell]);
        assert!(by_name.1.contains("grpc-server-addr"), "{by_name:?}");
        let mut guessed = command(&[], &["--show-completion"]);
        guessed.env("SHELL", format!("/bin/{shell}"));
        assert_eq!(words(&guessed.output().expect("it starts")), by_name);
    }
    assert!(refused(&["--show-completion", "tcsh"]).contains("bash, zsh, fish"));
}

#[test]
fn completion_is_installed() {
    for (shell, place, start_up) in [
        ("bash", ".bash_completions/phb-switch.sh", ".bashrc"),
        ("zsh", ".zfunc/_phb-switch", ".zshrc"),
        ("fish", ".config/fish/completions/phb-switch.fish", ""),
    ] {
        let folder = Folder::new();
        for _ in 0..2 {
            let mut install = command(&[], &["--install-completion", shell]);
            install.env("HOME", folder.path());
            let (code, output, errors) = words(&install.output().expect("it starts"));
            assert_eq!((code, errors.as_str()), (0, ""));
            let words = format!(
                "{shell} completion installed in {}",
                folder.join(place).display()
            );
            assert!(output.starts_with(&words), "{output}");
        }
        assert!(folder.text(place).contains("grpc-server-addr"));
        if !start_up.is_empty() {
            assert_eq!(folder.text(start_up).lines().count(), 1);
        }
    }
}

#[test]
fn stf_is_another_program() {
    let folder = Folder::new();
    let path = folder.path().to_str().expect("it is text");
    let linked = folder.join("phb-switch");
    std::os::unix::fs::symlink(PROGRAM, &linked).expect("a link can be made");
    let stf = |program: &str, path: &str| {
        let mut command = Command::new(program);
        command.args(["stf", "a b", "--help"]).env("PATH", path);
        words(&command.stdin(Stdio::null()).output().expect("it starts"))
    };
    let (code, output, errors) = stf(PROGRAM, "/nonexistent");
    assert_eq!((code, output.as_str()), (2, ""));
    assert_eq!(
        errors,
        "phb-switch: stf: there is no program phb-switch-stf, neither beside phb-switch nor on the PATH\n"
    );
    let script = folder.write(
        "phb-switch-stf",
        "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let expected = (7, "<a b><--help>".to_owned(), String::new());
    assert_eq!(stf(PROGRAM, path), expected, "on the PATH");
    let linked = linked.to_str().expect("it is text");
    assert_eq!(stf(linked, "/nonexistent"), expected, "beside the link");
}
