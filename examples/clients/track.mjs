// A client of `pointstamp track` for Node.js: node track.mjs loop.yaml
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Tracker {
  constructor(graph, command = "pointstamp") {
    this.process = spawn(command, ["track", graph], { stdio: ["pipe", "pipe", "inherit"] });
    this.answers = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.turn = Promise.resolve(); // each line is answered before the next one is written
  }

  // One atomic step: { messages, requests, delivered, inputs, show }. A step that is refused throws, and changes nothing.
  step(line) {
    const answer = this.turn.then(async () => {
      this.process.stdin.write(JSON.stringify(line) + "\n");
      const { value, done } = await this.answers.next();
      if (done) throw new Error("track has ended");
      const found = JSON.parse(value);
      if (found.error) throw Object.assign(new Error(found.error.message), found.error);
      return found;
    });
    this.turn = answer.catch(() => {});
    return answer;
  }

  close() {
    this.process.stdin.end();
  }
}

const tracker = new Tracker(process.argv[2]);
await tracker.step({ messages: [["input", 0, 1]], requests: [["body", 0]] });
await tracker.step({ inputs: { input: [] } }); // nothing more will come in
const { ready } = await tracker.step({ messages: [["input", 0, -1], ["out", 0, 1]] });
for (const [node, time] of ready) {
  console.log(`${node} is complete at ${time}`);
  await tracker.step({ delivered: [[node, time]], messages: [["out", 0, -1]] });
}
await tracker.step({ delivered: [["body", 7]] }).catch((refused) => console.log(`refused: ${refused.code}`));
tracker.close();
