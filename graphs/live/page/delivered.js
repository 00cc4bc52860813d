// What was delivered: the last notifications, the latest first.

import { duration, element, keep, pointText, say, wholeText } from "./elements.js";

const SHOWN = 50;
const KEPT = 1000;
const PAUSE = 2000; // milliseconds between two questions

export class Delivered {
  /** `before` are those that were delivered before this page was opened; `ask` finds those that it has missed. */
  constructor({ list, count, none, more, ask }) {
    Object.assign(this, { list, count, none, more, ask });
    this.items = []; // the latest first
    this.most = SHOWN;
    this.all = 0;
    more.addEventListener("click", () => {
      this.most += 4 * SHOWN;
      this.write();
    });
  }

  show(state, search) {
    this.search = search;
    this.all = state.notifications;
    const last = this.items[0]?.number ?? 0;
    const told = (this.told = state.told.filter((item) => item.number > last));
    if (told.length && told[0].number > last + 1) this.catchUp(); // there were more than are told of at once
    else this.take(told);
    this.write();
  }

  async catchUp() {
    if (this.asks) return;
    this.asks = true;
    try {
      this.take(await this.ask());
    } catch {
      this.take(this.told); // the run is over; what was told last is known
    }
    this.write();
    setTimeout(() => {
      this.asks = false;
      if ((this.items[0]?.number ?? 0) < this.all) this.catchUp();
    }, PAUSE);
  }

  take(items) {
    const last = this.items[0]?.number ?? 0;
    this.items = [...items.filter((item) => item.number > last).reverse(), ...this.items].slice(0, KEPT);
  }

  write() {
    const found = this.items.filter((item) => this.search.finds(wholeText([item.node, item.time])));
    keep(this.list, found.slice(0, this.most), (item) => item.number, (item) =>
      element("li", {}, element("span", { class: "when" }, duration(item.seconds)), ` ${pointText([item.node, item.time])}`));
    say(this.count, this.all ? this.all.toLocaleString("en") : "");
    this.none.hidden = this.all > 0;
    this.more.hidden = found.length <= this.most;
  }
}
