// The picture of a graph, as the layout places it, with what changes in it: frontiers, queues, a way that is shown.

import { at, brief, capped, drawn, frontierText } from "./elements.js";

/** Letters that the layout keeps free for what changes; `graphs.live.outstanding.ROOM`. */
const ROOM = 18;
const SMALLEST = 0.85, LARGEST = 1.7; // of the size in which the layout has made it

export class Picture {
  /** `place` is filled with the picture of `graph`. `chosen` is told of a click. */
  constructor(place, graph, chosen = () => {}) {
    this.place = place;
    this.parts = new Map(); // by location: the groups of what stands for it
    const layout = graph.picture;
    place.replaceChildren();
    const { width, height } = layout;
    const title = `The graph: ${graph.nodes.length} nodes and ${graph.edges.length} edges${graph.has_parts ? ", by its parts" : ""}`;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
    for (const frame of layout.frames) svg.append(this.frame(frame));
    for (const edge of layout.edges) svg.append(this.edge(edge));
    for (const node of layout.nodes) svg.append(this.node(node));
    for (const { name, to } of graph.edges) if (!this.parts.has(name)) for (const part of this.parts.get(to)) part.inner.push(name); // within a box
    svg.addEventListener("click", (event) => {
      const group = event.target.closest("g[data-location]");
      if (group) chosen(group.dataset.location);
    });
    svg.style.minWidth = `${Math.round(SMALLEST * width)}px`; // what is smaller is scrolled
    svg.style.maxWidth = `${Math.round(LARGEST * width)}px`;
    place.append(svg);
    const first = layout.edges.find((edge) => edge.source < 0) ?? layout.nodes[0];
    if (first) place.scrollTop = ((first.y + (first.height ?? 0) / 2) / height) * svg.clientHeight - place.clientHeight / 2; // what is higher than its place begins there
  }

  frame({ x, y, width, height, title, kind }) {
    return drawn("g", { class: `frame ${kind}` }, drawn("rect", { x, y, width, height, rx: 8 }), written(title, "start"));
  }

  node(node) {
    const box = drawn("rect", { class: "box", x: node.x, y: node.y, width: node.width, height: node.height, rx: 6 });
    return this.part(node, "node", box);
  }

  edge(edge) {
    const [x, y] = edge.arrow;
    const line = drawn("path", { class: "line", d: edge.path });
    const head = drawn("path", { class: "head", d: `M${x},${y} l-8,-4 v8 z` });
    return this.part(edge, edge.feedback ? "edge feedback" : "edge", line, head);
  }

  part(placed, kind, ...shapes) {
    const live = placed.room && drawn("text", { class: "live", x: placed.room[0], y: placed.room[1] });
    const group = drawn("g", { class: kind, "data-location": placed.name }, drawn("title", {}, placed.name), ...shapes, ...placed.lines.map((line) => written(line)), live);
    const part = { group, live, inner: [], names: placed.stands_for.length ? placed.stands_for : [placed.name] };
    for (const name of new Set([placed.name, ...part.names])) {
      if (!this.parts.has(name)) this.parts.set(name, []);
      this.parts.get(name).push(part);
    }
    return group;
  }

  /** Frontiers, queues and requests as they are in a state. */
  show(state) {
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
    part.live.replaceChildren(...texts.map(([kind, text], number) => drawn("tspan", { class: kind, dx: number ? 8 : 0 }, text)));
  }

  /** Shows a way: its locations, and the last one as what waits. */
  way(locations, target) {
    this.mark("way", locations);
    this.mark("target", target === undefined ? [] : [target]);
  }

  /** Marks locations, and unmarks the others. */
  mark(kind, locations) {
    for (const part of new Set([...this.parts.values()].flat())) part.group.classList.remove(kind);
    for (const name of locations) for (const part of this.parts.get(name) ?? []) part.group.classList.add(kind);
  }

  /** Scrolls to a location. */
  reveal(name) {
    this.parts.get(name)?.[0].group.scrollIntoView({ block: "nearest", inline: "center" });
  }
}

function written([text, x, y], anchor = "middle") {
  return drawn("text", { x, y, "text-anchor": anchor }, text);
}
