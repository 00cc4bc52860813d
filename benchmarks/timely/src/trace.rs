//! A trace, read from its text: a graph and the steps taken on it, all as numbers.

use std::str::SplitAsciiWhitespace;

use timely::order::Product;
use timely::progress::{Location, PathSummary, Timestamp};

/// Times of a trace. What an edge adds to a time is written as a time, too.
pub trait Time: Timestamp<Summary = Self> + PathSummary<Self> + Copy {
    fn read(words: &mut SplitAsciiWhitespace) -> Self;
    fn each(&self, take: impl FnMut(u64));
}

fn number<N: std::str::FromStr>(words: &mut SplitAsciiWhitespace) -> N {
    words.next().and_then(|word| word.parse().ok()).expect("a number")
}

impl Time for u64 {
    fn read(words: &mut SplitAsciiWhitespace) -> Self {
        number(words)
    }
    fn each(&self, mut take: impl FnMut(u64)) {
        take(*self);
    }
}

impl Time for Product<u64, u64> {
    fn read(words: &mut SplitAsciiWhitespace) -> Self {
        Product::new(number(words), number(words))
    }
    fn each(&self, mut take: impl FnMut(u64)) {
        take(self.outer);
        take(self.inner);
    }
}

impl Time for Product<u32, u32> {
    fn read(words: &mut SplitAsciiWhitespace) -> Self {
        Product::new(number(words), number(words))
    }
    fn each(&self, mut take: impl FnMut(u64)) {
        take(self.outer.into());
        take(self.inner.into());
    }
}

/// The lines of the text, resolved; see `../../trace_text.py` for what each means.
pub struct Trace<T> {
    /// For every node, the distinct summaries of its edges: one output port each.
    pub ports: Vec<Vec<T>>,
    /// Source, its port, target.
    pub edges: Vec<(usize, usize, usize)>,
    pub watched: Vec<bool>,
    pub notifies: bool,
    /// All changes, one step after the other.
    pub updates: Vec<(Location, T, i64)>,
    /// All requests made, one step after the other; kept only where readiness is asked for.
    pub asked: Vec<(usize, T)>,
    /// Where each step ends in the two lists above.
    pub ends: Vec<(usize, usize)>,
    /// The first step whose time counts.
    pub timed: usize,
}

impl<T: Time> Trace<T> {
    pub fn read(text: &str) -> Self {
        let mut trace = Trace {
            ports: Vec::new(),
            edges: Vec::new(),
            watched: Vec::new(),
            notifies: false,
            updates: Vec::new(),
            asked: Vec::new(),
            ends: Vec::new(),
            timed: 0,
        };
        for line in text.lines().skip(1) {
            let words = &mut line.split_ascii_whitespace();
            match words.next() {
                Some("nodes") => {
                    let count = number(words);
                    trace.ports = vec![Vec::new(); count];
                    trace.watched = vec![false; count];
                }
                Some("e") => {
                    let (source, target, summary): (usize, usize, T) = (number(words), number(words), T::read(words));
                    let ports = &mut trace.ports[source];
                    let port = ports.iter().position(|known| *known == summary).unwrap_or_else(|| {
                        ports.push(summary);
                        ports.len() - 1
                    });
                    trace.edges.push((source, port, target));
                }
                Some("watch") => words.for_each(|word| match word {
                    "all" => trace.watched.fill(true),
                    node => trace.watched[node.parse::<usize>().expect("a node")] = true,
                }),
                Some("ready") => trace.notifies = true,
                Some("m") => {
                    let (node, change, time): (usize, i64, T) = (number(words), number(words), T::read(words));
                    trace.updates.push((Location::new_target(node + 1, 0), time, change));
                }
                Some("r") => {
                    let (node, change, time): (usize, i64, T) = (number(words), number(words), T::read(words));
                    for (port, summary) in trace.ports[node].iter().enumerate() {
                        if let Some(later) = summary.results_in(&time) {
                            trace
                                .updates
                                .push((Location::new_source(node + 1, port), later, change));
                        }
                    }
                    if trace.notifies && change > 0 {
                        trace.asked.push((node, time));
                    }
                }
                Some(".") => trace.ends.push((trace.updates.len(), trace.asked.len())),
                Some("timed") => trace.timed = trace.ends.len(),
                other => panic!("a line that begins with {other:?}"),
            }
        }
        trace
    }
}
