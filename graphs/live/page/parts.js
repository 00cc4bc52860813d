// The parts of a graph that is too large for a picture of every node: opened in the picture and in a table, which says
// what waits in each, how much, the oldest.

import { Arrows } from "./arrows.js";
import { duration, element, keep, pointText, say, several } from "./elements.js";

const MOST_ROWS = 100;

export class Parts {
  /** `picture` is the one that changes; `says` tells what was opened or closed; `ask` finds a picture with parts opened, by their keys; `shown` is told that it is there. */
  constructor({ section, body, says, graph, picture, ask, shown = () => {} }) {
    Object.assign(this, { section, body, says, graph, picture, ask, shown });
    this.opened = []; // keys
    this.turn = Promise.resolve(); // one after the other
    section.hidden = !graph.has_parts;
    if (section.hidden) return;
    this.take(graph);
    picture.toggled = (key) => this.toggle(key);
    this.arrows = new Arrows(picture);
  }

  /** What is in a picture: its parts, and the one that each location is in, the innermost. */
  take({ picture, parts }) {
    this.parts = new Map(parts.map((part) => [part.key, part]));
    this.members = new Map(picture.nodes.filter((box) => box.key).map((box) => [box.key, box.stands_for]));
    this.of = new Map();
    for (const part of parts) for (const name of this.members.get(part.key) ?? [part.name]) this.of.set(name, part.key);
    for (const edge of this.graph.edges) this.of.set(edge.name, this.of.get(edge.to ?? edge.from));
  }

  /** Opens a part, or closes it and what is open within. */
  toggle(key) {
    return (this.turn = this.turn.then(() => this.change(key)));
  }

  async change(key) {
    const part = this.parts.get(key);
    if (!part) return; // closed meanwhile
    const others = this.opened.filter((other) => !isWithin(other, key));
    const opened = part.open ? others : [...others, key];
    try {
      const found = await this.ask(opened);
      this.opened = opened;
      this.take(found);
      this.arrows.around(key, () => this.picture.draw(found.picture));
      say(this.says, `${part.says}: ${part.open ? "closed" : "open"}.`);
    } catch (error) {
      say(this.says, error.message);
    }
    this.again?.();
    this.shown();
  }

  /** `passed`: seconds since what waits was looked at. */
  show(state, search, passed = 0) {
    if (this.section.hidden) return;
    this.again = () => this.show(state, search, passed);
    const rows = new Map();
    const row = (key) => {
      if (!rows.has(key)) rows.set(key, { key, waiting: 0, oldest: null, queued: 0, found: [] });
      return rows.get(key);
    };
    for (const { part, waiting, oldest } of state.waits.parts ?? []) if (this.parts.has(part)) Object.assign(row(part), { waiting, oldest });
    for (const [edge, count] of Object.entries(state.queued)) {
      for (const key of outwards(this.of.get(edge))) {
        row(key).queued += count;
        row(key).found.push(edge);
      }
    }
    for (const [node, [asked]] of Object.entries(state.nodes)) if (asked) for (const key of outwards(this.of.get(node))) row(key).found.push(node);
    for (const key of this.opened) row(key);
    const found = [...rows.values()].filter(({ key, found }) => search.finds(this.parts.get(key).says, ...found));
    keep(this.body, inOrder(found).slice(0, MOST_ROWS), ({ key }) => key, ({ key }) => this.make(key), (made, part) => this.update(made, part, passed));
  }

  make(key) {
    const { says, nodes, name } = this.parts.get(key);
    const act = nodes > 1 ? () => this.toggle(key) : () => this.picture.reveal(name);
    const button = element("button", { type: "button", class: "row", onclick: act }, says);
    const head = element("th", { scope: "row", class: `depth-${Math.min(outwards(key).length, 6)}` }, button);
    const figures = [0, 1, 2].map(() => element("td"));
    return Object.assign(element("tr", {}, head, ...figures), { button, figures });
  }

  update(made, { key, waiting, oldest, queued }, passed) {
    say(made.figures[0], waiting ? waiting.toLocaleString("en") : "");
    say(made.figures[1], oldest ? `${pointText(oldest.request)}, ${oldest.age === undefined ? several(oldest.steps, "step") : duration(oldest.age + passed)}` : "");
    say(made.figures[2], queued ? queued.toLocaleString("en") : "");
    const { nodes, open } = this.parts.get(key);
    if (nodes > 1) made.button.setAttribute("aria-expanded", String(open));
    made.classList.toggle("chosen", open);
  }
}

/** Whether a part is another one, or within it. */
function isWithin(key, other) {
  return key === other || key.startsWith(`${other}.`);
}

/** The keys of a part and of all that it is in, the outermost first. */
function outwards(key) {
  const places = key?.split(".") ?? [];
  return places.map((_, number) => places.slice(0, number + 1).join("."));
}

/** Rows with the longest wait first, then the longest queues; what is within a part follows it. */
function inOrder(rows) {
  const steps = ({ oldest }) => oldest?.age ?? oldest?.steps ?? -1;
  const ranked = [...rows].sort((one, other) => steps(other) - steps(one) || other.queued - one.queued);
  const rank = new Map(ranked.map(({ key }, place) => [key, place]));
  const way = ({ key }) => outwards(key).map((each) => rank.get(each) ?? -1);
  const ways = new Map(rows.map((row) => [row, way(row)]));
  return [...rows].sort((one, other) => compare(ways.get(one), ways.get(other)));
}

function compare(one, other) {
  for (let place = 0; place < Math.min(one.length, other.length); place++) if (one[place] !== other[place]) return one[place] - other[place];
  return one.length - other.length;
}
