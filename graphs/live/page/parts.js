// The parts of a graph that is too large for a picture of every node: what waits in each, how much, the oldest.

import { duration, element, keep, pointText, say, several } from "./elements.js";

const MOST_ROWS = 100;
const MOST_MEMBERS = 20;

export class Parts {
  /** `chosen` is told of the part that is opened, by the name of its box, or of null. */
  constructor({ section, body, graph, chosen }) {
    Object.assign(this, { section, body, chosen });
    this.open = null; // the box whose members are shown
    this.boxes = new Map(); // by name: what it is called, how many it stands for
    this.of = new Map(); // by location: the name of its box
    section.hidden = !graph.has_parts;
    if (section.hidden) return;
    for (const box of graph.picture.nodes) {
      this.boxes.set(box.name, box.lines.map(([text]) => text).join(", "));
      for (const name of box.stands_for.length ? box.stands_for : [box.name]) this.of.set(name, box.name);
    }
    for (const edge of graph.edges) this.of.set(edge.name, this.of.get(edge.to ?? edge.from));
  }

  /** `passed`: seconds since what waits was looked at. */
  show(state, search, passed = 0) {
    if (this.section.hidden) return;
    this.again = () => this.show(state, search, passed);
    const rows = new Map();
    const row = (name) => {
      if (!rows.has(name)) rows.set(name, { name, waiting: 0, oldest: null, queued: 0, members: [] });
      return rows.get(name);
    };
    for (const { part, waiting, oldest } of state.waits.parts ?? []) Object.assign(row(part), { waiting, oldest });
    for (const [edge, count] of Object.entries(state.queued).sort(([, one], [, other]) => other - one)) {
      const part = row(this.of.get(edge));
      part.queued += count;
      part.members.push([edge, `${count.toLocaleString("en")} queued`]);
    }
    for (const [node, [asked]] of Object.entries(state.nodes)) if (asked) row(this.of.get(node)).members.push([node, several(asked, "request")]);
    const found = [...rows.values()].filter(({ name, members }) => search.finds(this.boxes.get(name), ...members.map(([member]) => member)));
    found.sort((one, other) => Number(!one.oldest) - Number(!other.oldest) || (one.oldest ? 0 : other.queued - one.queued));
    keep(this.body, found.slice(0, MOST_ROWS), ({ name }) => name, ({ name }) => this.make(name), (made, part) => this.update(made, part, passed));
  }

  make(name) {
    const button = element("button", { type: "button", class: "row", "aria-expanded": "false", onclick: () => this.choose(name) }, this.boxes.get(name));
    const head = element("th", { scope: "row" }, button);
    const figures = [0, 1, 2].map(() => element("td"));
    return Object.assign(element("tr", {}, head, ...figures), { button, head, figures, members: null });
  }

  update(made, { name, waiting, oldest, queued, members }, passed) {
    say(made.figures[0], waiting ? waiting.toLocaleString("en") : "");
    say(made.figures[1], oldest ? `${pointText(oldest.request)}, ${oldest.age === undefined ? several(oldest.steps, "step") : duration(oldest.age + passed)}` : "");
    say(made.figures[2], queued ? queued.toLocaleString("en") : "");
    const isOpen = this.open === name;
    made.button.setAttribute("aria-expanded", String(isOpen));
    made.classList.toggle("chosen", isOpen);
    if (isOpen && !made.members) made.head.append((made.members = element("ul", { class: "rows" })));
    if (!isOpen && made.members) {
      made.members.remove();
      made.members = null;
    }
    if (!made.members) return;
    const lines = members.slice(0, MOST_MEMBERS).map(([member, says]) => `${member}: ${says}`);
    if (members.length > MOST_MEMBERS) lines.push(`and ${(members.length - MOST_MEMBERS).toLocaleString("en")} more`);
    keep(made.members, lines.map((text, place) => [place, text]), ([place]) => place, () => element("li"), (item, [, text]) => say(item, text));
  }

  choose(name) {
    this.open = this.open === name ? null : name;
    this.chosen(this.open);
    this.again();
  }
}
