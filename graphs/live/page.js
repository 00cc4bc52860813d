// The live view: draws /graph once, then shows each state that /events tells. All texts are set as text, never as markup.
"use strict";

const LONGEST = 22; // characters of a name or a frontier in the picture
const WINDOW = 3; // seconds over which the rate is measured
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
let graph = null;
let before = null; // the last state
const recent = []; // [seconds, messages] of the last states, for the rate
let chosen = null; // the request whose blockers are shown, as JSON
const parts = new Map(); // by location: what of the picture changes

function make(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function row(parent, text, count) {
  const item = document.createElement("li");
  if (count !== undefined) {
    const span = document.createElement("span");
    span.className = "count";
    span.textContent = count;
    item.append(span);
  }
  item.append(text);
  parent.append(item);
  return item;
}

const short = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text);
const timeText = (time) => (typeof time === "string" ? time : JSON.stringify(time));

function frontierText(times, most) {
  if (times === undefined) return "";
  if (times === null) return "no earliest time";
  if (!times.length) return "complete";
  return times.slice(0, most).map(timeText).join(", ") + (times.length > most ? `, +${times.length - most}` : "");
}

// --- the picture -----------------------------------------------------------------------------------------------------

function curve(points) {
  let path = `M${points[0][0]},${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], middle = (x0 + x1) / 2;
    path += ` C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
  }
  return path;
}

function drawPicture() {
  const picture = graph.picture, place = byId("picture");
  place.replaceChildren();
  if (!picture) {
    const says = document.createElement("p");
    says.textContent = `${graph.nodes.length} nodes and ${graph.edges.length} edges are too many for a picture.`;
    place.append(says);
    byId("places").open = true;
    return;
  }
  const margin = 14;
  const svg = make("svg", {
    viewBox: `${-margin} ${-margin} ${picture.width + 2 * margin} ${picture.height + 2 * margin}`,
    width: picture.width + 2 * margin, height: picture.height + 2 * margin, role: "img", "aria-label": "the graph and its frontiers",
  }, place);
  svg.style.minWidth = `${Math.round(0.6 * picture.width)}px`; // smaller than that it is scrolled
  const marker = make("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, make("defs", {}, svg));
  make("path", { id: "head", d: "M0,0 L8,4 L0,8 z" }, marker);
  const width = new Map(graph.nodes.map((name, number) => [name, picture.nodes[number][2]]));
  graph.edges.forEach((edge, number) => {
    const points = picture.edges[number].points.map((point) => [...point]), [lx, ly] = picture.edges[number].label;
    const last = points.length - 1;
    const side = (at, other, name) => { if (name) at[0] += (other[0] > at[0] ? 1 : -1) * width.get(name) / 2; };
    side(points[0], points[1], edge.from);
    side(points[last], points[last - 1], edge.to);
    const group = make("g", { class: "edge" }, svg);
    make("title", {}, group, edge.name);
    make("path", { d: curve(points), "marker-end": "url(#arrow)" }, group);
    make("text", { x: lx, y: ly - 5 }, group, short(edge.name));
    parts.set(edge.name, { group, frontier: make("text", { x: lx, y: ly + 15, class: "frontier" }, group, ""), tags: make("g", {}, group), at: [lx, ly + 29] });
  });
  graph.nodes.forEach((name, number) => {
    const [x, y, w] = picture.nodes[number];
    const group = make("g", { class: "node" }, svg);
    make("title", {}, group, name);
    make("rect", { class: "box", x: x - w / 2, y: y - 14, width: w, height: 28, rx: 8 }, group);
    make("text", { x, y: y + 5 }, group, short(name));
    parts.set(name, { group, frontier: make("text", { x, y: y - 19, class: "frontier" }, group, ""), tags: make("g", {}, group), at: [x, y + 24] });
  });
}

function tag(part, kind, count, offset) {
  const text = String(count), w = 10 + 7 * text.length, [x, y] = part.at;
  make("rect", { class: `tag ${kind}`, x: x + offset - w / 2, y: y - 8, width: w, height: 16, rx: 8 }, part.tags);
  make("text", { class: "tag-text", x: x + offset, y: y + 4 }, part.tags, text);
}

function showPicture(state) {
  const ready = new Map();
  for (const request of state.requests) if (request.ready) ready.set(request.node, (ready.get(request.node) || 0) + 1);
  for (const [name, part] of parts) {
    part.frontier.textContent = short(frontierText(state.frontiers[name], 2));
    part.tags.replaceChildren();
    const node = state.nodes[name], kinds = [];
    if (state.queued[name]) kinds.push(["queued", state.queued[name]]);
    if (node) {
      const may = ready.get(name) || 0;
      if (may) kinds.push(["ready", may]);
      if (node[0] > may) kinds.push(["blocked", node[0] - may]);
    }
    part.group.classList.toggle("busy", Boolean(node && node[2]));
    kinds.forEach(([kind, count], number) => tag(part, kind, count, 30 * (number - (kinds.length - 1) / 2)));
  }
}

// --- the tables ------------------------------------------------------------------------------------------------------

function showFigures(state) {
  recent.push([state.seconds, state.messages]);
  while (recent.length > 2 && state.seconds - recent[1][0] > WINDOW) recent.shift();
  const [seconds, messages] = recent[0];
  const rate = state.seconds > seconds ? (state.messages - messages) / (state.seconds - seconds) : 0;
  const figures = [
    ["seconds", state.seconds.toFixed(1)], ["messages", state.messages], ["a second", Math.round(rate)], ["notified", state.notifications],
    ["wait", state.all_waiting ?? 0], ["blocked", state.blocked ?? 0], ["late", state.late], ["failed", state.failures],
  ];
  byId("figures").replaceChildren(...figures.map(([word, figure]) => {
    const pair = document.createElement("div"), term = document.createElement("dt"), value = document.createElement("dd");
    term.textContent = word;
    value.textContent = figure.toLocaleString();
    pair.append(term, value);
    return pair;
  }));
  const held = state.held && state.held.length ? `, ${state.held.length} held back` : "";
  const phase = byId("phase");
  phase.textContent = state.phase + (state.phase === "runs" ? `, ${graph.engine}${held}` : "");
  phase.className = { runs: "runs", "was stopped": "stopped" }[state.phase] || "";
  byId("reason").textContent = state.reason;
  byId("reason").hidden = !state.reason;
}

function list(id, items, fill) {
  const parent = byId(id);
  const top = parent.scrollTop;
  parent.replaceChildren();
  items.forEach((item) => fill(parent, item));
  parent.scrollTop = top;
}

function showRequests(state) {
  byId("request-count").textContent = state.all_requests > state.requests.length ? `${state.requests.length} of ${state.all_requests}` : String(state.all_requests);
  const focused = document.activeElement && document.activeElement.dataset.key;
  list("requests", state.requests, (parent, request) => {
    const key = JSON.stringify([request.node, request.time]);
    const item = row(parent, "");
    const button = document.createElement("button");
    button.dataset.key = key;
    button.className = request.ready ? "ready" : "waits";
    button.textContent = `${request.node} at ${timeText(request.time)}`;
    button.addEventListener("click", () => choose(chosen === key ? null : key));
    item.classList.toggle("chosen", chosen === key);
    item.append(button);
    if (focused === key) button.focus();
  });
}

function showLocations(state) {
  if (!byId("places").open) return;
  const body = byId("places").querySelector("tbody");
  body.replaceChildren(...Object.entries(state.frontiers).map(([name, times]) => {
    const line = document.createElement("tr"), node = state.nodes[name];
    for (const text of [name, frontierText(times, 12), state.queued[name] ?? (node && node[1]) ?? "", (node && node[0]) || ""]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  }));
}

async function choose(key) {
  chosen = key;
  await showWhy();
  if (before) showRequests(before);
}

async function showWhy() {
  let answer = null;
  if (chosen) {
    const [node, time] = JSON.parse(chosen);
    try {
      answer = await (await fetch(`why?node=${encodeURIComponent(node)}&time=${encodeURIComponent(JSON.stringify(time))}`)).json();
    } catch { return; } // the run is over; what was shown stays
  }
  for (const part of parts.values()) part.group.classList.remove("way");
  byId("why-section").hidden = !answer;
  if (!answer) return;
  const [node, time] = JSON.parse(chosen);
  byId("why-what").textContent = `${node} at ${timeText(time)}`;
  const why = byId("why");
  why.replaceChildren();
  if (answer.error) { row(why, answer.error); return; }
  if (!answer.blocked) row(why, "Nothing blocks it: it may be delivered.");
  for (const blocker of answer.by) {
    const [place, at] = blocker.pointstamp;
    const steps = blocker.proof.map(([name, when]) => `${name} ${timeText(when)}`);
    for (const fold of blocker.folds ?? []) steps[fold.after] += ` → (${fold.times} times ${fold.cycle.join(" → ")})`;
    row(why, `${blocker.kind} ${place} at ${timeText(at)}: ` + steps.join(" → "));
  }
  if (answer.all > answer.by.length) row(why, `and ${answer.all - answer.by.length} more`);
  for (const [name] of answer.by.length ? answer.by[0].proof : []) if (parts.has(name)) parts.get(name).group.classList.add("way");
}

function show(state) {
  showFigures(state);
  list("told", [...state.told].reverse(), (parent, item) => row(parent, `${item.node} at ${timeText(item.time)}`, `${item.seconds.toFixed(1)} s`));
  byId("failed-section").hidden = !state.failed.length;
  list("failed", [...state.failed].reverse(), (parent, item) => row(parent, item.message, `${item.seconds.toFixed(1)} s`));
  if (state.frontiers) {
    showPicture(state);
    showRequests(state);
    showLocations(state);
    byId("waiting-count").textContent = String(state.all_waiting);
    list("waiting", state.waiting, (parent, item) => row(parent, `${item.edge} at ${timeText(item.time)}`, item.count.toLocaleString()));
  }
  before = state;
  if (chosen) showWhy();
}

async function begin() {
  graph = await (await fetch("graph")).json();
  byId("name").textContent = graph.name;
  document.title = `${graph.name} – Pointstamp`;
  drawPicture();
  byId("places").addEventListener("toggle", () => before && before.frontiers && showLocations(before));
  const events = new EventSource("events");
  events.onmessage = (event) => show(JSON.parse(event.data));
  events.addEventListener("over", () => events.close());
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED || (before && before.phase !== "runs")) return;
    byId("phase").textContent = "no connection: the process has ended, or is busy";
    byId("phase").className = "stopped";
  };
}

begin().catch(() => { byId("phase").textContent = "no connection"; });
