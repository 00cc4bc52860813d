// One wait in full: its sentence, who holds it on which way, and what can be done about it.

import { element, nameText, pointText, say, timeText } from "./elements.js";

const MOST_STEPS = 24; // of a way that are shown at first
const AT_ENDS = 9; // steps of a longer one that are shown at each end

/** The way from what holds to what is held, location by location, with what it walks several times. */
export function way(proof, folds = []) {
  const steps = proof.map(([location, time]) => element("li", {}, element("span", { class: "location", title: location }, nameText(location)), ` ${timeText(time)}`));
  for (const fold of folds) steps[fold.after]?.append(element("span", { class: "quiet" }, ` and ${fold.times} times ${fold.cycle.map(nameText).join(" → ")}`));
  if (steps.length > MOST_STEPS) steps.splice(AT_ENDS, 0, between(steps.slice(AT_ENDS, -AT_ENDS)));
  return element("ol", { class: "steps", "aria-label": "The way from what holds it" }, ...steps);
}

/** What stands for the middle of a long way, until it is asked for. */
function between(hidden) {
  for (const step of hidden) step.hidden = true;
  const show = () => {
    for (const step of hidden) step.hidden = false;
    hidden[0].tabIndex = -1;
    hidden[0].focus();
    item.remove();
  };
  const item = element("li", {}, element("button", { type: "button", class: "more", onclick: show }, `${hidden.length} steps between`));
  return item;
}

export class Details {
  /** `gives`: the inputs that take from this page; `give` opens the form for one of them; `ask` finds all who hold it; `acts`: what else can be done. */
  constructor({ gives = [], give, ask, acts = () => [] }) {
    Object.assign(this, { gives, give, ask, acts });
  }

  make() {
    const says = element("p", { class: "says" });
    const action = element("p", { class: "action" });
    const proof = element("div");
    const all = element("div", { class: "all" });
    return Object.assign(element("div", { class: "details" }, says, action, proof, all), { says, action, proof, all, shown: "" });
  }

  show(made, wait) {
    say(made.says, `${wait.says}.`);
    const now = JSON.stringify([wait.request, wait.by?.proof, wait.by?.folds]);
    if (made.shown === now) return;
    made.shown = now;
    made.action.replaceChildren();
    made.proof.replaceChildren();
    made.all.replaceChildren();
    if (!wait.by) return;
    const [location] = wait.by.pointstamp;
    if (wait.by.kind === "input" && this.gives.includes(location)) {
      made.action.append(element("button", { type: "button", class: "do", onclick: () => this.give(location) }, `Give something to ${nameText(location)}`));
    }
    made.action.append(...this.acts(wait));
    made.proof.append(way(wait.by.proof, wait.by.folds));
    if (this.ask) {
      made.all.append(element("button", { type: "button", class: "more", onclick: () => this.showAll(made, wait) }, "All that hold it"));
    }
  }

  async showAll(made, wait) {
    try {
      const answer = await this.ask(...wait.request);
      const rows = answer.by.map((one) => element("li", {}, `${one.kind} ${pointText(one.pointstamp)}`, way(one.proof, one.folds)));
      if (!answer.by.length) rows.push(element("li", {}, "Nothing holds it: it may be delivered."));
      if (answer.all > answer.by.length) rows.push(element("li", {}, `and ${answer.all - answer.by.length} more`));
      made.all.replaceChildren(element("ul", { class: "rows", tabindex: "-1", "aria-label": "All that hold it" }, ...rows));
      made.all.firstElementChild.focus();
    } catch (error) {
      made.all.replaceChildren(element("p", { class: "wrong" }, error.message));
    }
  }
}
