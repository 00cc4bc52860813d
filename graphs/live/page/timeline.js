// The time line of a film: scrubbed, stepped, played. It says which line is wanted; who shows it says when it is there.

import { say } from "./elements.js";

const TICK = 100; // milliseconds between two lines that are shown while it plays, at least

export class Timeline {
  /** `parts` are the controls by name; `wanted` is told of each line that is to be shown, and answers when it is. */
  constructor(parts, wanted) {
    Object.assign(this, parts);
    this.wanted = wanted;
    this.line = 0; // that is wanted
    this.known = 0;
    this.plays = null; // the timer, while it plays
    this.scrub.addEventListener("input", () => this.go(Number(this.scrub.value)));
    this.first.addEventListener("click", () => this.go(0));
    this.before.addEventListener("click", () => this.go(this.line - 1));
    this.after.addEventListener("click", () => this.go(this.line + 1));
    this.last.addEventListener("click", () => this.go(this.known));
    this.play.addEventListener("click", () => (this.plays ? this.stop() : this.start()));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (/^[0-9]{1,15}$/.test(this.field.value)) this.go(Number(this.field.value), true);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Arrows step, and space plays, wherever that means nothing else. */
  key(event) {
    if (event.target.closest("input, textarea, select, button, summary, a, pre, [role=group]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => this.go(this.line - 1), ArrowRight: () => this.go(this.line + 1), " ": () => this.play.click() }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Shows a line. One beyond what is known is waited for where it was asked for by its number. */
  go(line, waits = false) {
    this.stop();
    this.to(waits ? line : Math.min(line, this.known));
  }

  to(line) {
    return this.wanted(this.stand(line));
  }

  /** Says that a line is shown; which one that is. */
  stand(line) {
    this.line = Math.max(0, line);
    this.scrub.value = this.line;
    say(this.now, this.line.toLocaleString("en"));
    return this.line;
  }

  start() {
    if (this.line >= this.known) this.line = 0;
    this.plays = true;
    this.says("Pause", true);
    let begun = performance.now();
    const tick = async () => {
      if (!this.plays) return;
      const passed = performance.now() - begun;
      const many = Math.floor((passed * Number(this.speed.value)) / 1000);
      if (many) {
        begun = performance.now();
        await this.to(Math.min(this.line + many, this.known));
      }
      if (this.line >= this.known) this.stop();
      else if (this.plays) this.plays = setTimeout(tick, TICK);
    };
    this.plays = setTimeout(tick, TICK);
  }

  stop() {
    if (!this.plays) return;
    clearTimeout(this.plays);
    this.plays = null;
    this.says("Play", false);
  }

  says(text, is) {
    say(this.play, text);
    this.play.setAttribute("aria-pressed", String(is));
  }

  /** How many lines are known, and which share of the trace that is. */
  grows(known, share) {
    this.known = known;
    this.scrub.max = known;
    this.scrub.value = this.line;
    const all = share < 1 ? `${Math.floor(100 * share)}% of the trace is known so far` : "the whole trace is known";
    say(this.size, `of ${known.toLocaleString("en")}; ${all}`);
  }
}
