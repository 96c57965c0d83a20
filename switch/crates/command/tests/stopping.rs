//! Signals that end a running switch, and those that don't.

mod support;

use std::time::Duration;

use nix::sys::signal::Signal;
use support::{Folder, RANKED, Running, captured, frame_to, pcap, until};

#[test]
fn it_ends() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let folder = Folder::new();
        let default = format!("--default-signal={}", &signal.as_str()[3..]);
        let running = Running::start_by(&["env", &default], &folder, &["--no-p4"]);
        let (code, _, errors) = running.stopped_by(signal);
        assert_eq!(code, 0);
        assert!(errors.contains("phb-switch: stopped"), "{errors}");
    }
}

#[test]
fn under_nohup_a_terminal_that_goes_does_not_end_it() {
    let folder = Folder::new();
    let prefix = ["env", "--ignore-signal=HUP"];
    let mut running = Running::start_by(&prefix, &folder, &["--no-p4"]);
    running.signal(Signal::SIGHUP);
    running.signal(Signal::SIGHUP);
    std::thread::sleep(Duration::from_millis(100));
    assert!(running.is_running());
    assert_eq!(running.stopped().0, 0);
}

#[test]
fn in_the_background_it_ends_by_sigint() {
    let folder = Folder::new();
    let prefix = ["env", "--ignore-signal=INT"];
    let running = Running::start_by(&prefix, &folder, &["--no-p4"]);
    assert_eq!(running.stopped_by(Signal::SIGINT).0, 0);
}

#[test]
fn it_goes_on() {
    let folder = Folder::new();
    let frame = frame_to(2, 100);
    folder.write("left_in.pcap", pcap(&vec![frame.clone(); 3]));
    folder.write("right_in.pcap", pcap(&[]));
    let files = ["--use-files", "1", "-i", "1@left", "-i", "2@right", RANKED];
    let mut running = Running::start(&folder, &files);
    for signal in [
        Signal::SIGUSR1,
        Signal::SIGUSR2,
        Signal::SIGPIPE,
        Signal::SIGWINCH,
        Signal::SIGCHLD,
        Signal::SIGURG,
        Signal::SIGXFSZ,
    ] {
        running.signal(signal);
    }
    // Shortly, and for longer than the switch waits at a time.
    for pause in [0, 0, 0, 700, 700] {
        running.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(pause));
        running.signal(Signal::SIGCONT);
    }
    until("all frames are there", || {
        captured(&folder, "right_out.pcap").len() == 3
    });
    assert!(running.is_running());
    let (code, _, errors) = running.stopped();
    assert_eq!(code, 0);
    assert!(
        errors.contains("received 3, injected 0, transmitted 3,"),
        "{errors}"
    );
}
