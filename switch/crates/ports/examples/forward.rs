//! A forwarder without work, as an upper bound for switches: frames leave by the other interface.
//!
//! `forward INTERFACE INTERFACE [plain]`: `plain` uses no rings but one system call to receive and
//! one to send every frame, as a simple program with packet sockets would.

use phb_ports::{PacketPort, Port, Waiter};

const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (first, second, rings) = match arguments.as_slice() {
        [first, second] => (first, second, true),
        [first, second, plain] if plain == "plain" => (first, second, false),
        _ => return Err("usage: forward INTERFACE INTERFACE [plain]".into()),
    };
    let open = |name| PacketPort::open_with(name, rings);
    let mut ports = [open(first)?, open(second)?];
    println!("ready");
    let mut waiter = Waiter::new();
    loop {
        let mut moved = false;
        for from in 0..2 {
            let [left, right] = &mut ports;
            let (receiver, sender) = if from == 0 {
                (left, right)
            } else {
                (right, left)
            };
            receiver.receive(0, BATCH, &mut |frame| {
                sender.send(0, frame);
                moved = true;
            });
            sender.flush();
        }
        if !moved {
            let descriptors = ports.iter().map(Port::descriptor);
            waiter.wait(descriptors, [], None)?;
        }
    }
}
