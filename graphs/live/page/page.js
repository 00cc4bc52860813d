// The live view: what waits first, then where everything stands, as the run tells it.

import { NOBODY, ask, give, listen } from "./connection.js";
import { Delivered } from "./delivered.js";
import { Details } from "./details.js";
import { byId, say, several } from "./elements.js";
import { Figures } from "./figures.js";
import { Give } from "./give.js";
import { Letters } from "./letters.js";
import { Locations } from "./locations.js";
import { Parts } from "./parts.js";
import { Picture } from "./picture.js";
import { Plots } from "./plots.js";
import { Search } from "./search.js";
import { Step } from "./step.js";
import { Waits } from "./waits.js";

const figures = new Figures(byId("phase"), byId("reason"), byId("figures"));

async function begin() {
  if (location.search) history.replaceState(null, "", location.pathname); // a token is kept by the browser, out of sight
  const graph = await ask("graph");
  say(byId("name"), graph.name);
  document.title = `${graph.name} – Pointstamp`;
  let state = null;

  const search = new Search(byId("search"), () => {
    picture.mark("found", search.text ? [...picture.parts.keys()].filter((name) => search.finds(name)) : []);
    if (state) show(state);
    const found = byId("waits").children.length + byId("plots").children.length;
    say(byId("found"), search.text ? `${several(found, "line")} found` : "");
  });
  const picture = new Picture(byId("picture"), graph, (name) => {
    byId("search").value = name;
    byId("search").dispatchEvent(new Event("input"));
  });
  const form = new Give({ form: byId("give"), says: byId("given"), gives: graph.gives, give: (data) => give("give", data) });
  const details = new Details({
    gives: graph.gives,
    give: (name) => form.open(name),
    ask: (node, time) => ask("why", { node, time: JSON.stringify(time) }),
  });
  const step = graph.steps
    ? new Step({
        section: byId("step-section"), count: byId("step-count"), says: byId("step-says"), list: byId("step-list"), one: byId("step-one"),
        once: byId("step-once"), end: byId("step-end"), pause: byId("step-pause"), run: byId("step-run"), node: byId("step-node"), go: byId("step-go"),
      }, graph.nodes, (data) => give("step", data))
    : null;
  const showWay = (wait) => picture.way(wait?.by ? wait.by.proof.map(([name]) => name) : [], wait?.request[0]);
  const waits = new Waits({
    list: byId("waits"), count: byId("waits-count"), none: byId("waits-none"), news: byId("news"), more: byId("waits-more"), details,
    chosen: (wait) => {
      showWay(wait);
      if (wait) picture.reveal(wait.by?.pointstamp[0] ?? wait.request[0]);
    },
  });
  const plots = new Plots(byId("plots"), byId("plots-none"), graph.edges, await ask("series"));
  const delivered = new Delivered({ list: byId("delivered"), count: byId("delivered-count"), none: byId("delivered-none"), more: byId("delivered-more"), ask: () => ask("delivered") });
  const letters = new Letters(byId("letters"), byId("letters-section"));
  const parts = new Parts({
    section: byId("parts"), body: byId("parts-body"), says: byId("parts-says"), graph, picture,
    ask: (opened) => ask("parts", { open: JSON.stringify(opened) }),
  });
  const locations = new Locations(byId("locations"), byId("locations-body"), byId("locations-count"));
  byId("locations").addEventListener("toggle", () => state?.frontiers && locations.show(state, search));

  function show(now) {
    state = now;
    figures.show(state, graph.engine);
    if (step && state.stepping) step.show(state.stepping);
    letters.show(state, search);
    delivered.show(state, search);
    plots.show(state, search);
    if (!state.frontiers) return;
    const passed = state.phase === "runs" ? state.seconds - state.waits.at : 0;
    const open = waits.show(state.waits, search, passed);
    picture.show(state);
    if (open) showWay(open);
    parts.show(state, search, passed);
    locations.show(state, search);
  }

  listen("events", graph.run, {
    told: show,
    over: () => form.end(),
    lost: (why) => {
      if (!state || state.phase === "runs") figures.says(`no connection: ${why ?? NOBODY}`, "stopped");
    },
  });
}

begin().catch((error) => figures.says(error.message, "stopped"));
