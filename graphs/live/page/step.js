// A run that waits: what may happen next, of which one thing is chosen, or after which the run goes on by itself.

import { element, keep, say } from "./elements.js";

export class Step {
  /** `parts`: the elements of the section by name; `nodes`: whose notifications may be run to; `give` tells the run. */
  constructor(parts, nodes, give) {
    Object.assign(this, parts);
    this.give = give;
    this.number = 0;
    this.section.hidden = false;
    for (const node of [...nodes].sort()) this.node.append(element("option", { value: node }, node));
    this.once.addEventListener("click", () => this.send({ step: true }));
    this.end.addEventListener("click", () => this.send({ run: "end" }));
    this.pause.addEventListener("click", () => this.send({ pause: true }));
    this.run.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send({ run: "notification", node: this.node.value });
    });
  }

  async send(what) {
    const inside = this.list.contains(document.activeElement);
    try {
      this.show(await this.give({ number: this.number, ...what }));
    } catch (error) {
      say(this.says, error.message);
    }
    if (inside && !this.list.contains(document.activeElement)) (this.list.querySelector("button") ?? this.says).focus();
  }

  show(state) {
    if (state.number < this.number) return; // told before what has been done since
    this.number = state.number;
    const done = `${state.number.toLocaleString("en")} done`;
    say(this.count, done);
    say(this.says, state.over ? "The run is over." : state.paused ? "The run waits. Choose what happens next:" : state.runs_to ? `It runs to ${state.runs_to === "end" ? "its end" : "a notification"}.` : "It waits for something to come in.");
    for (const button of [this.once, this.end, this.go]) button.disabled = !state.paused;
    this.pause.disabled = state.over || !state.runs_to;
    const places = state.choices.map((choice, place) => ({ ...choice, place, key: `${state.number} ${place}` }));
    keep(this.list, places, (choice) => choice.key, (choice) => {
      const next = choice.next ? element("span", { class: "ready" }, " next, if nobody chooses") : null;
      const send = () => this.send({ do: choice.place, ...(this.one.checked && choice.messages > 1 ? { many: 1 } : {}) });
      return element("li", {}, element("button", { type: "button", class: "row", onclick: send }, choice.says, next));
    });
  }
}
