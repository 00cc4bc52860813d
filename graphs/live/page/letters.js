// Late and dead letters: what came after its time was complete, and what no node or input could take.

import { duration, element, keep, nameText, several } from "./elements.js";

export class Letters {
  constructor(list, section) {
    Object.assign(this, { list, section });
  }

  show(state, search) {
    this.section.hidden = !state.letters.length;
    const found = state.letters.filter((letter) => search.finds(letter.says, letter.kind)).reverse();
    keep(this.list, found, (letter) => JSON.stringify(letter), ({ seconds, kind, says, count }) =>
      element("li", {}, element("span", { class: "when" }, duration(seconds)), element("strong", {}, ` ${kind} `),
        kind === "late" ? `${several(count, "message")} at ${nameText(says)}` : says));
  }
}
