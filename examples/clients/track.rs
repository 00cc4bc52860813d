// A client of `pointstamp track` for Rust, with the standard library alone: rustc track.rs && ./track loop.yaml
use std::io::{BufRead, BufReader, Error, ErrorKind, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Tracker {
    process: Child,
    lines: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Tracker {
    pub fn start(graph: &str) -> Result<Tracker> {
        let mut command = Command::new("pointstamp");
        let mut process = command.args(["track", graph]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (lines, answers) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Ok(Tracker { process, lines, answers })
    }

    /// One atomic step, a line of JSON, and its answer, another; read it with the JSON library of your choice.
    /// A step that is refused is an error of kind `InvalidInput`, and changes nothing.
    pub fn step(&mut self, line: &str) -> Result<String> {
        writeln!(self.lines.as_mut().unwrap(), "{}", line)?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err(Error::new(ErrorKind::UnexpectedEof, "track has ended"));
        }
        let refused = answer.starts_with("{\"error\"");
        if refused { Err(Error::new(ErrorKind::InvalidInput, answer)) } else { Ok(answer) }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        self.lines.take(); // the end of the lines is the end of the session
        let _ = self.process.wait();
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
