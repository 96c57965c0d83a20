use std::time::Duration;

use super::*;

fn tracing(packets: usize, bytes: usize) -> (Tracing, Arc<Watch>) {
    let mut tracing = Tracing {
        most: Most { packets, bytes },
        ..Tracing::default()
    };
    let watch = tracing
        .watch("test", Filter::default(), 1000)
        .expect("there is room");
    (tracing, watch)
}

#[test]
fn only_so_many_packets_are_under_way() {
    let (mut tracing, watch) = tracing(2, usize::MAX);
    let mut arrive = || tracing.arrives(0, 1, false, &[0; 60]);
    let first = arrive().expect("there is room");
    let second = arrive().expect("there is room");
    assert!(arrive().is_none());
    assert_eq!(watch.left_out(), 1);
    assert!(tracing.copy(&first).is_none());
    assert_eq!(watch.left_out(), 2);
    tracing.finish(*second);
    let third = tracing.copy(&first).expect("there is room again");
    assert_eq!((third.number, third.of), (3, 1));
    let left_out: Vec<u64> = watch
        .take(Duration::ZERO)
        .iter()
        .map(|traced| traced.left_out)
        .collect();
    assert_eq!(left_out, [2]);
}

#[test]
fn the_memory_of_packets_under_way_is_bounded() {
    let (mut tracing, watch) = tracing(usize::MAX, 5000);
    let mut open = Vec::new();
    while let Some(mut record) = tracing.arrives(0, 1, false, &[0; 1000]) {
        tracing.charge(&mut record);
        open.push(record);
        assert!(open.len() < 10);
    }
    // Each has the frame's bytes, and some of its own.
    assert!((3..=5).contains(&open.len()), "{}", open.len());
    assert_eq!(watch.left_out(), 1);
    for record in open {
        tracing.finish(*record);
    }
    assert_eq!((tracing.open, tracing.open_bytes), (0, 0));
    assert!(tracing.arrives(0, 1, false, &[0; 1000]).is_some());
}

#[test]
fn memory_of_records_goes_round() {
    let (mut tracing, watch) = tracing(10, usize::MAX);
    let spare = |tracing: &Tracing| tracing.pool.len();
    for expected in [0, 1, 1] {
        assert_eq!(spare(&tracing), expected);
        let record = tracing
            .arrives(0, 1, false, &[0; 60])
            .expect("there is room");
        tracing.finish(*record);
        drop(watch.take(Duration::ZERO));
    }
}

#[test]
fn packets_served_meanwhile_are_those_since_it_came() {
    let (mut tracing, _watch) = tracing(10, usize::MAX);
    let packet = |since| Ahead {
        trace: 0,
        rank: None,
        queue: 0,
        length: 100,
        ingress_port: 1,
        since,
    };
    assert_eq!(tracing.served(3), (0, 0));
    assert_eq!(tracing.served_since(3, (0, 0)), (0, 0, Vec::new()));
    for since in 0..20 {
        tracing.serves(3, packet(since));
    }
    assert_eq!(tracing.served(3), (20, 2000));
    assert_eq!(
        tracing.served_since(3, (18, 1800)),
        (2, 200, vec![packet(18), packet(19)])
    );
    let (packets, bytes, last) = tracing.served_since(3, (0, 0));
    assert_eq!((packets, bytes), (20, 2000));
    assert!(last.iter().map(|packet| packet.since).eq(4..20));
}
