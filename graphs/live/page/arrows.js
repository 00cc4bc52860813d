// The parts in a picture by the keyboard: one of them is reached by Tab, the others from there.

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Arrows {
  /** `picture` has parts that open. */
  constructor(picture) {
    this.picture = picture;
    picture.place.addEventListener("keydown", (event) => this.key(event));
    picture.place.addEventListener("focusin", (event) => event.target.dataset.part && this.stand(event.target));
    this.stand(this.all()[0]);
  }

  all() {
    return [...this.picture.svg.querySelectorAll("[data-part]")];
  }

  /** Draws another picture. The part is in sight then, and has the focus if one in the picture had it. */
  around(key, draw) {
    const hadFocus = this.picture.svg.contains(document.activeElement);
    draw();
    const button = this.picture.button(key) ?? this.all()[0];
    this.stand(button);
    if (hadFocus) button?.focus({ preventScroll: true });
    button?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  stand(button) {
    for (const each of this.all()) each.setAttribute("tabindex", each === button ? "0" : "-1");
  }

  key(event) {
    const key = event.target.dataset?.part;
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const outer = key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : null;
    if (event.key === "Enter" || event.key === " ") this.picture.toggled(key);
    else if (event.key === "Escape" && event.target.getAttribute("aria-expanded") === "true") this.picture.toggled(key);
    else if (event.key === "Escape" && outer !== null) this.picture.toggled(outer);
    else if (WAYS[event.key]) nearest(event.target, this.all(), WAYS[event.key])?.focus();
    else return;
    event.preventDefault();
  }
}

/** The nearest of some elements that begin where this one ends, in a direction; what lies aside counts double. */
function nearest(from, others, [right, down]) {
  const here = from.getBoundingClientRect();
  let found = null, least = Infinity;
  for (const other of others) {
    const there = other.getBoundingClientRect();
    const ahead = right > 0 ? there.left - here.right : right < 0 ? here.left - there.right : down > 0 ? there.top - here.bottom : here.top - there.bottom;
    const [gap, shift] = down
      ? [Math.max(there.left - here.right, here.left - there.right, 0), Math.abs(there.left - here.left)]
      : [Math.max(there.top - here.bottom, here.top - there.bottom, 0), Math.abs(there.top - here.top)];
    const far = ahead + 2 * gap + shift / 100; // of those that it is as wide as, the first
    if (other === from || ahead < -0.5 || far >= least) continue;
    least = far;
    found = other;
  }
  return found;
}
