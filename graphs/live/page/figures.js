// The head of the page: whether the run goes, and its counts.

import { duration, element, keep, say } from "./elements.js";

const WINDOW = 3; // seconds over which the rate is measured

export class Figures {
  constructor(phase, reason, list) {
    Object.assign(this, { phase, reason, list });
    this.recent = []; // [seconds, messages]
  }

  show(state, engine) {
    this.recent.push([state.seconds, state.messages]);
    while (this.recent.length > 2 && state.seconds - this.recent[0][0] > WINDOW) this.recent.shift();
    const [first, messages] = this.recent[0];
    const rate = state.seconds > first ? Math.round((state.messages - messages) / (state.seconds - first)) : 0;
    const pairs = [
      ["time", duration(state.seconds)],
      ["steps", state.steps ?? 0],
      ["messages", state.messages],
      ["a second", state.phase === "runs" ? rate : 0],
      ["delivered", state.notifications],
    ];
    if (state.late) pairs.push(["late", state.late]);
    if (state.failures) pairs.push(["failures", state.failures]);
    keep(this.list, pairs, ([word]) => word, ([word]) => element("div", {}, element("dt", {}, word), element("dd")), (pair, [, figure]) => {
      say(pair.lastElementChild, typeof figure === "number" ? figure.toLocaleString("en") : figure);
    });
    const held = state.held?.length ? `, ${state.held.length} held back` : "";
    this.says(state.phase + (state.phase === "runs" ? `, ${engine}${held}` : ""), { runs: "runs", "was stopped": "stopped" }[state.phase]);
    say(this.reason, state.reason);
    this.reason.hidden = !state.reason;
  }

  says(text, kind = "") {
    say(this.phase, text);
    this.phase.className = kind;
  }
}
