// The picture of a graph, as the layout places it, with what changes in it: frontiers, queues, a way that is shown.

import { at, brief, capped, drawn, frontierText } from "./elements.js";

/** Letters that the layout keeps free for what changes; `graphs.live.outstanding.ROOM`. */
const ROOM = 18;
const HEAD = 17; // pixels of the title of a part that is open; `graphs.drawing.arrange.HEAD`
const SMALLEST = 0.85 / 15, LARGEST = 1.7 / 15; // rem for a pixel of the layout: text in it is never much smaller than that of the page

export class Picture {
  /** `place` is filled with the picture of `graph`. `chosen` is told of a click; `toggled`, where it is set, of one on a part. */
  constructor(place, graph, chosen = () => {}) {
    Object.assign(this, { place, graph, toggled: () => {}, state: null });
    this.marks = new Map(); // by kind: the locations that have it
    place.addEventListener("click", (event) => {
      const group = event.target.closest("g[data-part], g[data-location]");
      if (group?.dataset.part) this.toggled(group.dataset.part);
      else if (group) chosen(group.dataset.location);
    });
    this.draw(graph.picture);
    const first = graph.picture.edges.find((edge) => edge.source === -1) ?? graph.picture.nodes[0];
    if (first) place.scrollTop = ((first.y + (first.height ?? 0) / 2) / graph.picture.height) * this.svg.clientHeight - place.clientHeight / 2; // what is higher than its place begins there
  }

  /** Shows a layout of the graph, with what was shown in the one before. */
  draw(layout) {
    const { place, graph } = this;
    this.parts = new Map(); // by location: the groups of what stands for it
    const { width, height } = layout;
    const title = `The graph: ${graph.nodes.length} nodes and ${graph.edges.length} edges${graph.has_parts ? ", by its parts" : ""}`;
    const svg = (this.svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: graph.has_parts ? "group" : "img", "aria-label": title }));
    for (const frame of layout.frames) svg.append(this.frame(frame));
    for (const edge of layout.edges) svg.append(this.edge(edge));
    for (const node of layout.nodes) svg.append(this.node(node));
    for (const { name, to } of graph.edges) {
      if (this.parts.has(name)) continue; // else it is within a box
      this.parts.set(name, this.parts.get(to));
      for (const part of this.parts.get(to)) part.inner.push(name);
    }
    svg.style.minWidth = `${(SMALLEST * width).toFixed(1)}rem`; // what is smaller is scrolled
    svg.style.maxWidth = `${(LARGEST * width).toFixed(1)}rem`;
    place.replaceChildren(svg);
    for (const [kind, locations] of this.marks) this.mark(kind, locations);
    if (this.state) this.show(this.state);
  }

  frame({ x, y, width, height, title, kind, key }) {
    const rect = drawn("rect", { x, y, width, height, rx: 8 });
    if (!key) return drawn("g", { class: `frame ${kind}` }, rect, written(title, "start"));
    const head = drawn("rect", { class: "head", x, y, width, height: HEAD, rx: 8 });
    const button = drawn("g", { ...opens(key, title[0], true) }, drawn("title", {}, `${title[0]}: close it`), head, written(title, "start"));
    return drawn("g", { class: `frame ${kind}` }, rect, button);
  }

  node(node) {
    const { x, y, width, height, key } = node;
    const boxes = [drawn("rect", { class: "box", x, y, width, height, rx: 6 })];
    if (key) boxes.push(drawn("rect", { class: "inner", x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 4 }));
    return this.part(node, "node", ...boxes);
  }

  edge(edge) {
    const [x, y] = edge.arrow;
    const line = drawn("path", { class: "line", d: edge.path });
    const head = drawn("path", { class: "head", d: `M${x},${y} l-8,-4 v8 z` });
    return this.part(edge, edge.feedback ? "edge feedback" : "edge", line, head);
  }

  part(placed, kind, ...shapes) {
    const live = placed.room && drawn("text", { class: "live", x: placed.room[0], y: placed.room[1] });
    const says = placed.key ? placed.lines.map(([text]) => text).join(", ") : placed.name;
    const group = drawn("g", { class: kind, "data-location": placed.name, ...(placed.key ? opens(placed.key, says, false) : {}) }, drawn("title", {}, placed.key ? `${says}: open it` : says), ...shapes, ...placed.lines.map((line) => written(line)), live);
    const part = { group, live, says, inner: [], names: placed.stands_for.length ? placed.stands_for : [placed.name] };
    for (const name of new Set([placed.name, ...part.names])) {
      if (!this.parts.has(name)) this.parts.set(name, []);
      this.parts.get(name).push(part);
    }
    return group;
  }

  /** Frontiers, queues and requests as they are in a state. */
  show(state) {
    this.state = state;
    const ready = new Map();
    for (const request of state.requests) if (request.ready) ready.set(request.node, (ready.get(request.node) ?? 0) + 1);
    for (const part of new Set([...this.parts.values()].flat())) {
      if (!part.live) continue;
      const sum = (of) => part.names.reduce((total, name) => total + (of(name) ?? 0), 0);
      const queued = sum((name) => at(state.queued, name)) + part.inner.reduce((total, name) => total + (at(state.queued, name) ?? 0), 0);
      const asked = sum((name) => at(state.nodes, name)?.[0]);
      const free = sum((name) => ready.get(name));
      const counts = [];
      if (queued) counts.push(["queued", `${brief(queued)} queued`]);
      if (asked > free) counts.push(["blocked", `${brief(asked - free)} wait`]);
      if (free) counts.push(["ready", `${brief(free)} ready`]);
      const isOne = part.names.length === 1;
      if (!isOne) counts.sort(([one], [other]) => (one === "blocked" ? -1 : other === "blocked" ? 1 : 0)); // there is no frontier, and not room for all
      this.write(part, isOne ? at(state.frontiers, part.names[0]) : undefined, counts);
      part.group.classList.toggle("busy", sum((name) => at(state.nodes, name)?.[2]) > 0);
    }
  }

  write(part, times, counts) {
    let room = ROOM;
    const texts = [];
    for (const [kind, text] of counts) {
      if (text.length > room - (times === undefined ? 0 : 4)) continue;
      texts.push([kind, text]);
      room -= text.length + 2;
    }
    const text = frontierText(times, room);
    const frontier = times === null && text.length > room ? "" : capped(text, room); // half of "no earliest time" says nothing
    if (frontier) texts.unshift(["frontier", frontier]);
    const now = JSON.stringify(texts);
    if (part.written === now) return;
    part.written = now;
    if (part.group.dataset.part) part.group.setAttribute("aria-label", [part.says, ...texts.map(([, text]) => text)].join(", "));
    part.live.replaceChildren(...texts.map(([kind, text], number) => drawn("tspan", { class: kind, dx: number ? 8 : 0 }, text)));
  }

  /** Shows a way: its locations, and the last one as what waits. */
  way(locations, target) {
    this.mark("way", locations);
    this.mark("target", target === undefined ? [] : [target]);
  }

  /** Marks locations, and unmarks the others. */
  mark(kind, locations) {
    this.marks.set(kind, locations);
    for (const part of new Set([...this.parts.values()].flat())) part.group.classList.remove(kind);
    for (const name of locations) for (const part of this.parts.get(name) ?? []) part.group.classList.add(kind);
  }

  /** Scrolls to a location. */
  reveal(name) {
    this.parts.get(name)?.[0].group.scrollIntoView({ block: "nearest", inline: "center" });
  }

  /** What opens or closes a part. */
  button(key) {
    return this.svg.querySelector(`[data-part="${key}"]`);
  }
}

/** The attributes of what opens or closes a part. */
function opens(key, label, isOpen) {
  return { "data-part": key, role: "button", tabindex: -1, "aria-expanded": String(isOpen), "aria-label": label };
}

function written([text, x, y], anchor = "middle") {
  return drawn("text", { x, y, "text-anchor": anchor }, text);
}
