// Elements of a page, and how times read. All texts are set as text, never as markup: they are strangers'.

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 72, TAIL = 24; // characters of a name, and of its end where it is longer
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export const byId = (id) => document.getElementById(id);

/** An element; texts among its children stay texts. Handlers are given as functions: {onclick: ...}. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same, for pictures. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** Sets a text only where it is another, so that a screen reader is not told the same again. */
export function say(made, text) {
  if (made.textContent !== text) made.textContent = text;
}

/**
 * Children of `parent`, one for each item, in their order. One that is there already stays, and so do its focus and
 * what it has opened.
 */
export function keep(parent, items, keyOf, make, update = () => {}) {
  const known = (parent.kept ??= new Map());
  const now = new Map();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const child = known.get(key) ?? make(item);
    now.set(key, child);
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const [key, child] of known) if (now.get(key) !== child) child.remove();
  parent.kept = now;
}

/** What data have by a name; names are strangers', and may be those that every object has. */
export const at = (data, name) => (data && Object.hasOwn(data, name) ? data[name] : undefined);

export const timeText = (time) => (typeof time === "string" ? time : JSON.stringify(time));
/** A name as it is shown: not too long, never nothing, and read from the right without what stands beside it. */
export function nameText(name) {
  const text = [...name];
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST - TAIL - 1).join("")}…${text.slice(-TAIL).join("")}` : name;
  const shown = name.trim() ? short : JSON.stringify(short);
  return FROM_RIGHT.test(shown) ? `\u2068${shown}\u2069` : shown;
}

export const pointText = ([location, time]) => `${nameText(location)} at ${timeText(time)}`;
/** What a search looks in: the whole of it. */
export const wholeText = ([location, time]) => `${location} at ${timeText(time)}`;
export const keyOf = (pointstamp) => JSON.stringify(pointstamp);

/** The minimal times of a frontier, as many as fit into some letters. */
export function frontierText(times, most = 60) {
  if (times === undefined) return "";
  if (times === null) return "no earliest time";
  if (!times.length) return "complete";
  let text = "";
  for (const [number, time] of times.entries()) {
    const next = text + (number ? ", " : "") + timeText(time);
    if (number && next.length > most) return `${text} +${times.length - number}`;
    text = next;
  }
  return text;
}

/** A text in so many letters: its end is left out. */
export const capped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** How long something has taken, in the two largest units. */
export function duration(seconds) {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A number in few letters. */
export function brief(count) {
  if (count < 10 && !Number.isInteger(count)) return count.toFixed(1);
  if (count < 1000) return String(Math.round(count));
  if (count < 1e6) return `${(count / 1e3).toPrecision(3).replace(/\.0+$/, "")}k`;
  return `${(count / 1e6).toPrecision(3).replace(/\.0+$/, "")}M`;
}

export const several = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
