// A recorded session as a film: a time line, and how everything stands at the line that is shown.

import { ask, listen } from "./connection.js";
import { Details } from "./details.js";
import { byId, element, keep, keyOf, pointText, say, several } from "./elements.js";
import { Locations } from "./locations.js";
import { Moment, freedBy } from "./moment.js";
import { Parts } from "./parts.js";
import { Picture } from "./picture.js";
import { Search } from "./search.js";
import { Timeline } from "./timeline.js";
import { Waits } from "./waits.js";

/** The line that an address names; null where it names none. */
function lineOf(hash) {
  const found = /^#line=([0-9]{1,15})$/.exec(hash);
  return found ? Number(found[1]) : null;
}

async function begin() {
  const first = lineOf(location.hash);
  if (location.search) history.replaceState(null, "", location.pathname); // a token is kept by the browser, out of sight
  const graph = await ask("graph");
  say(byId("name"), graph.name);
  document.title = `${graph.name} – Pointstamp`;
  let moment = null; // what is shown
  let wanted = null; // the line that is to be shown, if it is not
  let busy = null; // while one is asked for

  const search = new Search(byId("search"), () => {
    picture.mark("found", search.text ? [...picture.parts.keys()].filter((name) => search.finds(name)) : []);
    if (moment) show(moment);
    say(byId("found"), search.text ? `${several(byId("waits").children.length + byId("free").children.length, "line")} found` : "");
  });
  const picture = new Picture(byId("picture"), graph, (name) => {
    byId("search").value = name;
    byId("search").dispatchEvent(new Event("input"));
  });
  const details = new Details({
    ask: (node, time) => ask("why", { line: moment.line, node, time: JSON.stringify(time) }),
    acts: (wait) => [element("button", { type: "button", class: "do", onclick: () => freed(wait.request) }, "When does it become free?")],
  });
  const showWay = (wait) => picture.way(wait?.by ? wait.by.proof.map(([name]) => name) : [], wait?.request[0]);
  const waits = new Waits({
    list: byId("waits"), count: byId("waits-count"), none: byId("waits-none"), news: byId("news"), more: byId("waits-more"), details,
    chosen: (wait) => {
      showWay(wait);
      if (wait) picture.reveal(wait.by?.pointstamp[0] ?? wait.request[0]);
    },
  });
  const parts = new Parts({
    section: byId("parts"), body: byId("parts-body"), says: byId("parts-says"), graph, picture,
    ask: (opened) => ask("parts", { open: JSON.stringify(opened) }),
    shown: () => timeline.to(timeline.line), // what waits in parts is told of those that somebody has seen
  });
  const locations = new Locations(byId("locations"), byId("locations-body"), byId("locations-count"));
  byId("locations").addEventListener("toggle", () => moment && locations.show(moment, search));
  const timeline = new Timeline({
    scrub: byId("scrub"), first: byId("first"), before: byId("before"), play: byId("play"), after: byId("after"), last: byId("last"),
    speed: byId("speed"), form: byId("go"), field: byId("go-line"), now: byId("line-now"), size: byId("line-known"),
  }, (line) => {
    wanted = line;
    return (busy ??= look().finally(() => (busy = null)));
  });
  const line = new Moment({ given: byId("moment-in"), says: byId("moment-says"), answer: byId("moment-out"), around: byId("around"), go: (number) => timeline.go(number) });
  for (const node of [...graph.nodes].sort()) byId("deliver-node").append(element("option", {}, node));
  byId("deliver").addEventListener("submit", (event) => {
    event.preventDefault();
    deliver(byId("deliver-node").value).catch(failed);
  });

  /** Shows the line that is wanted, and again while another one is by then. One that is not known yet waits; beyond the end, the last is shown. */
  async function look() {
    let note = "";
    while (wanted !== null) {
      const asked = wanted;
      try {
        const found = await ask("line", { line: asked });
        if (wanted !== asked) {
          note = "";
          continue;
        }
        if (!found.frontiers && found.is_all) {
          note = `There is no line ${asked.toLocaleString("en")}: the trace has ${several(found.known, "line")}. This is the last.`;
          wanted = timeline.stand(found.known);
          continue;
        }
        if (!found.frontiers) {
          say(byId("told"), `Line ${asked.toLocaleString("en")} is not known yet: there are ${found.known.toLocaleString("en")} so far.`);
          return;
        }
        wanted = null;
        say(byId("told"), note);
        show(found);
      } catch (error) {
        wanted = null;
        failed(error);
      }
    }
  }

  const failed = (error) => say(byId("told"), error.message);

  function show(now) {
    moment = now;
    history.replaceState(null, "", `#line=${moment.line}`);
    line.show(moment);
    const open = waits.show(moment.waits, search);
    picture.show(moment);
    if (open) showWay(open);
    parts.show(moment, search);
    locations.show(moment, search);
    const free = moment.requests.filter((request) => request.ready && search.finds(request.node, JSON.stringify(request.time))).map(({ node, time }) => [node, time]);
    keep(byId("free"), free, keyOf, (request) =>
      element("li", {}, element("span", { class: "what" }, pointText(request)), " ", element("button", { type: "button", class: "more", "aria-label": `What freed ${pointText(request)}`, onclick: () => freed(request) }, "What freed it?")));
    say(byId("free-count"), `${moment.all_requests - moment.blocked}`);
    byId("free-none").hidden = free.length > 0;
  }

  /** Says when a request becomes free, or what freed it. */
  async function freed(request) {
    try {
      const found = await ask("freed", { line: moment.line, node: request[0], time: JSON.stringify(request[1]) });
      byId("freed").replaceChildren(...freedBy(request, found, (number) => timeline.go(number)));
    } catch (error) {
      byId("freed").replaceChildren(element("p", { class: "wrong" }, error.message));
    }
    byId("freed-section").hidden = false;
    byId("freed-section").focus();
  }

  async function deliver(node) {
    const found = await ask("next", { line: timeline.line, node });
    if (found.line === null) say(byId("told"), `${node} is notified no more in the ${several(found.known, "line")} that are known.`);
    else timeline.go(found.line);
  }

  addEventListener("hashchange", () => {
    const line = lineOf(location.hash);
    if (line !== null) timeline.go(line, true);
  });

  let begun = false;
  listen("events", graph.run, {
    told: (state) => {
      timeline.grows(state.known, state.share);
      say(byId("phase"), `${several(state.steps, "step")}, ${state.refused} refused, ${several(state.ready, "request")} became free`);
      const wrong = [];
      if (state.damage) wrong.push(`The trace is damaged, and shown up to there: ${state.damage}.`);
      if (state.torn) wrong.push("The last line is not whole, as while it is being written.");
      if (state.difference) wrong.push(`Line ${state.difference} was answered differently when it was recorded.`);
      say(byId("reason"), wrong.join(" "));
      byId("reason").hidden = !wrong.length;
      if (!begun) timeline.go(first ?? graph.at, true);
      else if (wanted !== null && wanted <= state.known) timeline.wanted(wanted);
      begun = true;
    },
    over: () => say(byId("phase"), "the replay is over"),
    lost: (why) => say(byId("phase"), `no connection: ${why ?? "the replay has ended"}`),
  });
}

begin().catch((error) => say(byId("phase"), error.message));
