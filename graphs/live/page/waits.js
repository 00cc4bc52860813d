// What waits, the longest first: each a line that opens, with its reason in it.

import { duration, element, keep, keyOf, pointText, say, several, wholeText } from "./elements.js";

const SHOWN = 8; // lines, until more are asked for
const KINDS = { input: "the input", message: "a message on", request: "a request of" };

export class Waits {
  /**
   * `list` holds the lines, `count` says how many there are, `none` is shown where there are none. `chosen` is told of
   * the wait that is opened, or of null.
   */
  constructor({ list, count, none, news, more, details, chosen }) {
    Object.assign(this, { list, count, none, news, more, details, chosen });
    this.key = null; // of the wait that is open
    this.most = SHOWN;
    more.addEventListener("click", () => {
      this.most = Infinity;
      this.again();
    });
    this.waits = [];
    list.addEventListener("keydown", (event) => this.move(event));
  }

  /** `told`: what waits, as `graphs.sessions.waiting` has it; `search` says which are looked for; `passed`: seconds since. */
  show(told, search, passed = 0) {
    const { waits: first, waiting: all, ready } = told;
    this.again = () => this.show(told, search, passed);
    this.passed = passed;
    this.waits = first;
    const open = first.find((wait) => keyOf(wait.request) === this.key);
    if (this.key && !open) this.over();
    const found = first.filter((wait) => search.finds(wholeText(wait.request), wait.by?.pointstamp[0] ?? ""));
    const most = search.text ? Infinity : this.most;
    keep(this.list, found.filter((wait, place) => place < most || wait === open), (wait) => keyOf(wait.request), (wait) => this.make(wait), (item, wait) => this.update(item, wait));
    this.more.hidden = found.length <= most;
    const shown = found.length === all ? `${all}` : `${found.length} of ${all}`;
    say(this.count, shown + (ready ? `, ${ready} may be delivered` : ""));
    this.none.hidden = found.length > 0;
    const among = `There is nothing of that name among the ${several(first.length, "request")} that have waited longest.`;
    say(this.none, !all ? "Nothing waits." : first.length < all ? among : "Nothing of that name waits.");
    return open ?? null;
  }

  make(wait) {
    const what = element("span", { class: "what" });
    const age = element("span", { class: "age" });
    const by = element("span", { class: "by" });
    const button = element("button", { type: "button", "aria-expanded": "false", onclick: () => this.choose(keyOf(wait.request)) }, what, " ", age, " ", by);
    return Object.assign(element("li", {}, button), { button, what, age, by, opened: null });
  }

  update(item, wait) {
    say(item.what, pointText(wait.request));
    item.what.title = wholeText(wait.request);
    say(item.age, wait.age === undefined ? several(wait.steps, "step") : duration(wait.age + this.passed));
    say(item.by, wait.by ? `held by ${KINDS[wait.by.kind]} ${pointText(wait.by.pointstamp)}` : "held by too much to tell");
    const isOpen = keyOf(wait.request) === this.key;
    item.button.setAttribute("aria-expanded", String(isOpen));
    item.classList.toggle("chosen", isOpen);
    if (isOpen && !item.opened) item.append((item.opened = this.details.make()));
    if (!isOpen && item.opened) {
      item.opened.remove();
      item.opened = null;
    }
    if (item.opened) this.details.show(item.opened, wait);
  }

  choose(key) {
    this.key = key === this.key ? null : key;
    for (const wait of this.waits) {
      const item = this.list.kept?.get(keyOf(wait.request));
      if (item) this.update(item, wait);
    }
    this.chosen(this.waits.find((wait) => keyOf(wait.request) === this.key) ?? null);
  }

  /** The wait that was open is over: say so, and keep the focus near. */
  over() {
    const item = this.list.kept?.get(this.key);
    const hadFocus = item?.contains(document.activeElement);
    say(this.news, `${pointText(JSON.parse(this.key))} waits no more.`);
    this.key = null;
    this.chosen(null);
    if (hadFocus) this.news.focus();
  }

  /** Up and down lead from line to line, Escape closes the open one. */
  move(event) {
    const buttons = [...this.list.children].map((item) => item.button);
    const place = buttons.findIndex((button) => button.parentElement.contains(document.activeElement));
    const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to !== undefined && buttons[to]) {
      buttons[to].focus();
      event.preventDefault();
    } else if (event.key === "Escape" && this.key) {
      this.list.kept?.get(this.key)?.button.focus();
      this.choose(this.key);
    }
  }
}
