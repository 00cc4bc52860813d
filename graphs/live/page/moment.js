// One line of a film: what was fed, what was answered, the lines around it; and what freed a request.

import { element, keep, pointText, say } from "./elements.js";
import { way } from "./details.js";

export class Moment {
  /** `go` leads to a line. */
  constructor({ given, says, answer, around, go }) {
    Object.assign(this, { given, says, answer, around, go });
  }

  show(moment) {
    const { line, fed, around } = moment;
    say(this.given, line ? moment.in : "");
    say(this.answer, line ? moment.out : "");
    const refused = moment.is_refused ? "It was refused, and changed nothing." : "";
    say(this.says, !line ? "Before the first line." : fed < line ? `This line answers line ${fed}. ${refused}` : refused);
    const rows = around.lines.map((text, place) => [around.first + place, text]);
    keep(this.around, rows, ([number]) => number, ([number, text]) =>
      element("li", {}, element("button", { type: "button", class: "row", onclick: () => this.go(number) }, element("span", { class: "when" }, `${number} `), element("code", {}, text))),
    (row, [number]) => {
      row.classList.toggle("chosen", number === line);
      row.firstElementChild.setAttribute("aria-current", String(number === line));
    });
  }
}

/** What freed a request, in words and with what had held it. `go` leads to a line. */
export function freedBy(request, freed, go) {
  const what = pointText(request);
  if (freed.line === null) return [element("p", {}, `${what} is not free in any of the ${freed.known.toLocaleString("en")} lines that are known.`)];
  const line = freed.line.toLocaleString("en");
  const says = freed.asked ? `${what} was free from the beginning: it is asked for in line ${line}, and nothing held it then.` : `Line ${line} freed ${what}.`;
  const parts = [element("p", { class: "says" }, says), element("pre", { tabindex: "0", role: "group", "aria-label": `Line ${line}` }, freed.in)];
  if (freed.by.length) {
    const more = freed.all > freed.by.length ? `, and ${freed.all - freed.by.length} more` : "";
    parts.push(element("p", {}, `Until then it was held${more ? ` by these${more}` : ""}:`));
    parts.push(element("ul", { class: "rows" }, ...freed.by.map((one) => element("li", {}, `${one.kind} ${pointText(one.pointstamp)}`, way(one.proof, one.folds)))));
  }
  parts.push(element("p", {}, element("button", { type: "button", class: "do", onclick: () => go(freed.line) }, `Go to line ${line}`), " ", element("button", { type: "button", class: "more", onclick: () => go(freed.line - 1) }, "The line before")));
  return parts;
}
