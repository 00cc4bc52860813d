// A form for inputs that take from this page: a message, or which times are complete.

import { element, say } from "./elements.js";

export class Give {
  /** `give` sends what is given, and throws why it is refused. */
  constructor({ form, says, gives, give }) {
    Object.assign(this, { form, says, give });
    form.closest("section").hidden = !gives.length;
    const { edge, what } = form.elements;
    edge.replaceChildren(...gives.map((name) => element("option", { value: name }, name)));
    this.choose = () => {
      for (const part of form.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== what.value;
    };
    form.addEventListener("change", this.choose);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.choose();
  }

  /** Leads to the form, to complete times of an input: that is what lets a wait go that it holds. */
  open(name) {
    const { edge, what, times } = this.form.elements;
    edge.value = name;
    what.value = "complete";
    this.choose();
    this.form.closest("section").scrollIntoView({ block: "nearest" });
    times.focus();
  }

  /** The run is over. */
  end() {
    for (const field of this.form.elements) field.disabled = true;
    this.answer("The run is over: nothing is taken any more.");
  }

  async send() {
    const { edge, what, time, value, times } = this.form.elements;
    let line;
    try {
      if (what.value === "message") line = { time: json(time), value: json(value) };
      else line = { complete: what.value === "end" ? [] : several(times) };
      await this.give({ edge: edge.value, line });
      this.answer(`${edge.value} was given ${JSON.stringify(line)}`);
    } catch (error) {
      this.answer(error.message, "wrong");
      error.field?.focus();
    }
  }

  answer(text, kind = "") {
    say(this.says, text);
    this.says.className = kind;
  }
}

/** What a field has, as JSON; what is none is a text where that may be meant. */
function json(field) {
  const text = field.value.trim();
  try {
    return JSON.parse(text);
  } catch {
    if (/^[\p{L}_][\p{L}\p{N} _-]*$/u.test(text)) return text;
    throw Object.assign(new Error(`${field.dataset.name}: ${text ? "this is not JSON" : "there is none"}`), { field });
  }
}

/** The times of a field, one a line. */
function several(field) {
  const lines = field.value.split("\n").filter((line) => line.trim());
  return (lines.length ? lines : [""]).map((line) => json({ value: line, dataset: field.dataset, focus: () => field.focus() }));
}
