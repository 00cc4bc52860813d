// Every location in a table, the same as the picture for those who do not see it: frontier, messages, requests.

import { at, element, frontierText, keep, nameText, say } from "./elements.js";

const MOST_ROWS = 500;

export class Locations {
  constructor(details, body, count) {
    Object.assign(this, { details, body, count });
  }

  show(state, search) {
    const found = Object.entries(state.frontiers).filter(([name]) => search.finds(name));
    say(this.count, `${Object.keys(state.frontiers).length}`);
    if (!this.details.open) return;
    keep(this.body, found.slice(0, MOST_ROWS), ([name]) => name, ([name]) =>
      element("tr", {}, element("th", { scope: "row", title: name }, nameText(name)), element("td"), element("td"), element("td")), (row, [name, times]) => {
      const node = at(state.nodes, name);
      const cells = row.children;
      say(cells[1], frontierText(times));
      say(cells[2], String(at(state.queued, name) || node?.[1] || ""));
      say(cells[3], String(node?.[0] || ""));
    });
  }
}
