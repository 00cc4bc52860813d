// A client of `pointstamp track` for Rust, with the standard library alone: rustc track.rs && ./track loop.yaml
use std::io::{BufRead, BufReader, Error, ErrorKind, Lines, Result, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// A session; it ends when this is dropped.
pub struct Tracker(ChildStdin, Lines<BufReader<ChildStdout>>);

impl Tracker {
    pub fn start(graph: &str) -> Result<Tracker> {
        let mut command = Command::new("pointstamp");
        let process = command.args(["track", graph]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Tracker(process.stdin.unwrap(), BufReader::new(process.stdout.unwrap()).lines()))
    }

    /// One atomic step, a line of JSON, and its answer, another; read it with the JSON library of your choice.
    /// A step that is refused is an error of kind `InvalidInput`, and changes nothing.
    pub fn step(&mut self, line: &str) -> Result<String> {
        writeln!(self.0, "{line}")?;
        let answer = self.1.next().unwrap_or(Err(Error::new(ErrorKind::UnexpectedEof, "track has ended")))?;
        let refused = answer.starts_with("{\"error\"");
        if refused { Err(Error::new(ErrorKind::InvalidInput, answer)) } else { Ok(answer) }
    }
}

fn main() -> Result<()> {
    let mut tracker = Tracker::start(&std::env::args().nth(1).expect("the file of a graph"))?;
    tracker.step(r#"{"messages": [["input", 0, 1]], "requests": [["body", 0]]}"#)?;
    tracker.step(r#"{"inputs": {"input": []}}"#)?; // nothing more will come in
    let answer = tracker.step(r#"{"messages": [["input", 0, -1], ["out", 0, 1]]}"#)?;
    if answer.contains(r#""ready": [["body", 0]]"#) {
        println!("body is complete at 0");
        tracker.step(r#"{"delivered": [["body", 0]], "messages": [["out", 0, -1]]}"#)?;
    }
    if let Err(refused) = tracker.step(r#"{"delivered": [["body", 7]]}"#) {
        println!("refused: {}", refused.to_string().split('"').nth(5).unwrap());
    }
    Ok(())
}
