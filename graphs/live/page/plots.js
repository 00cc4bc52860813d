// Rates and lengths of queues, edge by edge, over the last minutes: two small plots a line.

import { at, brief, drawn, element, keep, nameText, say } from "./elements.js";

const MOST_SECONDS = 240;
const LEAST_SECONDS = 30;
const EVERY = 2; // seconds between two points
const MOST_LINES = 12; // edges that are shown, unless one is looked for
const WIDTH = 120;
const HEIGHT = 28;

export class Plots {
  /** `list` is the body of a table; `series` what the run knows of the minutes before this page was opened. */
  constructor(list, none, edges, series = { seconds: [], edges: {} }) {
    Object.assign(this, { list, none, edges });
    this.points = new Map(); // by edge: [seconds, passed, queued]
    for (const [edge, { passed, queued }] of Object.entries(series.edges)) {
      this.points.set(edge, series.seconds.map((seconds, number) => [seconds, passed[number], queued[number]]));
    }
    this.last = series.seconds.at(-1) ?? -EVERY;
  }

  show(state, search) {
    if (state.seconds - this.last >= EVERY) this.add(state);
    const now = state.seconds;
    const lines = [];
    for (const [edge, points] of this.points) if (search.finds(edge)) lines.push({ edge, ...measured(points, now) });
    lines.sort((one, other) => other.rate - one.rate || other.queue - one.queue || other.most - one.most || (one.edge < other.edge ? -1 : 1));
    keep(this.list, lines.slice(0, MOST_LINES), (line) => line.edge, make, update);
    this.none.hidden = lines.length > 0;
  }

  add(state) {
    this.last = state.seconds;
    for (const edge of new Set([...this.points.keys(), ...Object.keys(state.passed), ...Object.keys(state.queued ?? {})])) {
      if (!this.points.has(edge)) this.points.set(edge, []);
      const points = this.points.get(edge);
      points.push([state.seconds, at(state.passed, edge) ?? 0, at(state.queued, edge) ?? 0]);
      while (points.length > 1 && state.seconds - points[0][0] > MOST_SECONDS) points.shift();
    }
  }
}

/** Rates between the points, as [seconds ago, value], and queues alike. */
function measured(points, now) {
  const rates = [], queues = [];
  for (let number = 0; number < points.length; number++) {
    const [at, passed, queued] = points[number];
    if (number) {
      const [before, then] = points[number - 1];
      rates.push([now - at, at > before ? Math.max(0, passed - then) / (at - before) : 0]);
    }
    queues.push([now - at, queued]);
  }
  const most = (values) => values.reduce((found, [, value]) => Math.max(found, value), 0);
  return { rates, queues, rate: rates.at(-1)?.[1] ?? 0, queue: queues.at(-1)?.[1] ?? 0, most: most(rates), longest: most(queues) };
}

function make({ edge }) {
  const cell = (kind) => {
    const line = drawn("path", { class: kind });
    const area = drawn("path", { class: `area ${kind}` });
    const plot = drawn("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", preserveAspectRatio: "none" }, area, line);
    const figure = element("span", { class: "figure" });
    return { line, area, plot, figure, cell: element("td", {}, plot, figure) };
  };
  const rate = cell("rate"), queue = cell("queue");
  return Object.assign(element("tr", {}, element("th", { scope: "row", title: edge }, nameText(edge)), rate.cell, queue.cell), { rate, queue });
}

function update(row, { edge, rates, queues, rate, queue, most, longest }) {
  draw(row.rate, rates, most, `${brief(rate)} a second`, `${edge}: ${brief(rate)} messages a second now, at most ${brief(most)} in the last minutes`);
  draw(row.queue, queues, longest, brief(queue), `${edge}: ${brief(queue)} messages queued now, at most ${brief(longest)} in the last minutes`);
}

function draw({ line, area, plot, figure }, values, most, text, label) {
  const span = Math.max(LEAST_SECONDS, values[0]?.[0] ?? 0);
  const x = (ago) => (WIDTH * (1 - ago / span)).toFixed(1);
  const y = (value) => (HEIGHT - 2 - (most ? (HEIGHT - 4) * value / most : 0)).toFixed(1);
  const path = values.map(([ago, value], number) => `${number ? "L" : "M"}${x(ago)},${y(value)}`).join("");
  line.setAttribute("d", path || "M0,0");
  area.setAttribute("d", path ? `${path}L${x(values.at(-1)[0])},${HEIGHT}L${x(values[0][0])},${HEIGHT}z` : "M0,0");
  if (plot.getAttribute("aria-label") !== label) plot.setAttribute("aria-label", label);
  say(figure, text);
}
