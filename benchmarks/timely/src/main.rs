//! Replays a trace on timely's tracker of progress and prints a digest of what it saw and the least times it took.
//!
//! `timely-peer TRACE REPETITIONS SECONDS`: the first replay is not timed and makes the digest; timed ones follow until
//! there were REPETITIONS of them or SECONDS have passed, two at least. `../trace_text.py` describes the format of a trace and the digest.
//!
//! Measured is what timely itself has to do for every step of a dataflow: `update` for each change, `propagate_all`, and
//! draining the changes pushed, with a look at whether somebody watches each. Reading the trace is not measured, and the
//! steps before `timed` are not either. Building is measured apart: filling the `Builder`, and `build`.
//!
//! Nodes keep their numbers plus one, since timely's node 0 is the scope around them. Every node has one input port,
//! where all its edges end, so that the port's frontier is what may still arrive at the node; and one output port for
//! each distinct summary of its edges. No edge leaves the scope, so timely keeps no summaries to its outputs.

mod trace;

use std::env;
use std::process::exit;
use std::time::{Duration, Instant};

use timely::order::Product;
use timely::progress::frontier::Antichain;
use timely::progress::operate::PortConnectivity;
use timely::progress::reachability::{Builder, Tracker};
use timely::progress::{Port, Source, Target};

use trace::{Time, Trace};

/// What the peer is given when it is built: the graph as numbers, nothing resolved.
fn builder_of<T: Time>(trace: &Trace<T>) -> Builder<T> {
    let mut builder = Builder::new();
    builder.add_node(0, 0, 0, Vec::new());
    for (node, summaries) in trace.ports.iter().enumerate() {
        let ports: PortConnectivity<T> = summaries.iter().map(|s| Antichain::from_elem(*s)).enumerate().collect();
        builder.add_node(node + 1, 1, summaries.len(), vec![ports]);
    }
    for &(source, port, target) in &trace.edges {
        builder.add_edge(Source::new(source + 1, port), Target::new(target + 1, 0));
    }
    builder
}

fn tracker_of<T: Time>(trace: &Trace<T>) -> Tracker<T> {
    builder_of(trace).build(None).0
}

/// Requests that wait at a node, looked through as timely's `FrontierNotificator` does: all of them whenever the node's
/// frontier has moved, and a new one once when it comes.
struct Requests<T> {
    waiting: Vec<Vec<T>>,
}

impl<T: Time> Requests<T> {
    fn add(&mut self, tracker: &Tracker<T>, node: usize, time: T, ready: &mut Vec<(usize, T)>) {
        if blocked(tracker, node, &time) {
            self.waiting[node].push(time);
        } else {
            ready.push((node, time));
        }
    }

    fn scan(&mut self, tracker: &Tracker<T>, node: usize, ready: &mut Vec<(usize, T)>) {
        self.waiting[node].retain(|time| {
            let waits = blocked(tracker, node, time);
            if !waits {
                ready.push((node, *time));
            }
            waits
        });
    }
}

fn blocked<T: Time>(tracker: &Tracker<T>, node: usize, time: &T) -> bool {
    tracker.node_state(node + 1).targets[0].implications.less_equal(time)
}

/// A mixture of 64-bit words, one after the other.
struct Digest(u64);

impl Digest {
    fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// One replay from the beginning. Answers the time for the steps from `timed` on, and what was seen.
fn replay<T: Time>(trace: &Trace<T>, mut digest: Option<&mut Digest>) -> (Duration, usize) {
    let mut tracker = tracker_of(trace);
    let mut requests = Requests {
        waiting: vec![Vec::new(); trace.ports.len()],
    };
    let mut moved: Vec<usize> = Vec::new();
    let mut ready: Vec<(usize, T)> = Vec::new();
    let mut seen = 0;
    let (mut from, mut asked_from) = (0, 0);
    let mut started = Instant::now();
    for (number, &(to, asked_to)) in trace.ends.iter().enumerate() {
        if number == trace.timed {
            started = Instant::now();
        }
        for &(location, time, change) in &trace.updates[from..to] {
            tracker.update(location, time, change);
        }
        tracker.propagate_all();
        for ((location, _), _) in tracker.pushed().0.drain() {
            if let Port::Target(_) = location.port {
                let node = location.node - 1;
                if trace.watched[node] && moved.last() != Some(&node) {
                    moved.push(node);
                }
            }
        }
        if trace.notifies {
            for &node in &moved {
                requests.scan(&tracker, node, &mut ready);
            }
            for &(node, time) in &trace.asked[asked_from..asked_to] {
                requests.add(&tracker, node, time, &mut ready);
            }
        }
        if let Some(digest) = digest.as_deref_mut() {
            report(&tracker, number, &moved, &mut ready, digest);
        }
        seen += moved.len() + ready.len();
        moved.clear();
        ready.clear();
        (from, asked_from) = (to, asked_to);
    }
    (started.elapsed(), seen)
}

/// What a step changed: 1, step, node, number of times, times; then what it made ready: 2, step, node, time.
fn report<T: Time>(
    tracker: &Tracker<T>,
    number: usize,
    moved: &[usize],
    ready: &mut [(usize, T)],
    digest: &mut Digest,
) {
    debug_assert!(moved.windows(2).all(|pair| pair[0] < pair[1]));
    for &node in moved {
        let implications = &tracker.node_state(node + 1).targets[0].implications;
        let mut frontier: Vec<T> = implications.frontier().to_vec();
        frontier.sort_unstable();
        for word in [1, number as u64, node as u64, frontier.len() as u64] {
            digest.word(word);
        }
        for time in frontier {
            time.each(|number| digest.word(number));
        }
    }
    ready.sort_unstable();
    for (node, time) in ready {
        for word in [2, number as u64, *node as u64] {
            digest.word(word);
        }
        time.each(|number| digest.word(number));
    }
}

/// The least times of `most` replays, or of fewer, but two at least, when those took longer than `limit`.
fn measure<T: Time>(trace: &Trace<T>, seen: usize, most: usize, limit: Duration) -> (Duration, Duration) {
    let begun = Instant::now();
    let (mut least, mut least_build) = (Duration::MAX, Duration::MAX);
    for repetition in 0..most {
        if repetition > 1 && begun.elapsed() > limit {
            break;
        }
        let started = Instant::now();
        let tracker = std::hint::black_box(tracker_of(trace));
        least_build = least_build.min(started.elapsed());
        drop(tracker);
        let (took, seen_again) = replay(trace, None);
        assert_eq!(seen, seen_again);
        least = least.min(took);
    }
    (least, least_build)
}

/// A replay for the digest, timed ones after it, and the result as a line of JSON. With `N`, a narrower type of the same
/// times: now the one, now the other is faster, and the peer gets the better of the two.
fn run<T: Time, N: Time>(text: &str, narrower: bool, most: usize, limit: Duration) {
    let trace = Trace::<T>::read(text);
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    let (_, seen) = replay(&trace, Some(&mut digest));
    let (mut least, mut least_build) = measure(&trace, seen, most, limit);
    if narrower {
        let (again, build_again) = measure(&Trace::<N>::read(text), seen, most, limit);
        (least, least_build) = (least.min(again), least_build.min(build_again));
    }
    println!(
        "{{\"digest\": \"{:016x}\", \"seen\": {seen}, \"seconds\": {:.9}, \"build_seconds\": {:.9}}}",
        digest.0,
        least.as_secs_f64(),
        least_build.as_secs_f64(),
    );
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, path, most, seconds] = arguments.as_slice() else {
        eprintln!("usage: timely-peer TRACE REPETITIONS SECONDS");
        exit(2);
    };
    let text = std::fs::read_to_string(path).expect("the trace can be read");
    let most = most.parse().expect("a number of repetitions");
    let limit = Duration::from_secs_f64(seconds.parse().expect("a number of seconds"));
    match text.lines().next() {
        Some("times 1") => run::<u64, u64>(&text, false, most, limit),
        Some("times 2") => run::<Product<u64, u64>, Product<u32, u32>>(&text, true, most, limit),
        other => {
            eprintln!("a trace begins with `times 1` or `times 2`, not {other:?}");
            exit(2);
        }
    }
}
