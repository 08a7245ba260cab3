// Draws the tokens of a text: the first ones at once, the others when somebody scrolls to them.

import { hexOf, make, Places, readable as textOf } from "./token_text.js";

export { hexOf, make, Places };

const CHUNK = 1500;
const LONGEST_BYTES = 48;
const encoder = new TextEncoder();
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/gu;
const SIGNS = { " ": "␣", "\n": "⏎", "\t": "⇥" };

export const bytesOf = (text) => encoder.encode(text);

export const visible = (text) => text.replace(HIDDEN, (char) => SIGNS[char] ?? `\\u{${char.codePointAt(0).toString(16)}}`);

export const bytesOfHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Return bytes as text, those that are not UTF-8 as \x and two digits; and whether there are any such bytes. */
export const readable = (bytes) => textOf(bytes, visible);

/** The tokens of one tokenizer over the bytes of the text. */
export class Segmentation {
  constructor(bytes, answer) {
    this.bytes = bytes;
    this.ids = answer.ids ?? [];
    this.special = new Set(answer.special ?? []);
    this.pieces = answer.pieces ?? null;
    this.places = answer.lengths?.length === this.ids.length ? new Places(answer.lengths) : null;
  }

  data(k) {
    return this.places ? this.places.data(this.bytes, k) : bytesOfHex(this.pieces?.[this.ids[k]] ?? "");
  }

  marks(k) {
    return ["token", `c${k % 5}`];
  }

  /** Return the id and the bytes of a token, as readers see them. */
  lines(k) {
    const data = this.data(k);
    const more = data.length > LONGEST_BYTES ? " …" : "";
    return [`id ${this.ids[k]}${this.special.has(k) ? ", special" : ""}`, `bytes ${hexOf(data.subarray(0, LONGEST_BYTES))}${more}`];
  }
}

/** A box of tokens that draws what is scrolled to, and tells which token is pointed at or chosen. */
export class TokenBox {
  constructor(name, { onPoint, onLeave, onChoose }) {
    this.list = make("div", { cls: "tokens", role: "listbox", tabindex: "0", "aria-label": `Tokens of ${name}` });
    this.end = make("div");
    this.element = make("div", { cls: "box" }, this.list, this.end);
    this.onPoint = onPoint;
    this.onLeave = onLeave;
    this.onChoose = onChoose;
    this.spans = [];
    this.current = -1;
    new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && this.more(), {
      root: this.element, rootMargin: "400px",
    }).observe(this.end);
    const index = (event) => this.spans.indexOf(event.target.closest(".token"));
    this.list.addEventListener("pointerover", (event) => index(event) >= 0 && this.onPoint(index(event), event.target));
    this.list.addEventListener("pointerleave", () => this.onLeave());
    this.list.addEventListener("click", (event) => index(event) >= 0 && this.choose(index(event)));
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("blur", () => this.onLeave());
  }

  show(segmentation, others, ids) {
    this.segmentation = segmentation;
    this.others = others.map((other) => other.places).filter((places) => places);
    this.ids = ids;
    this.spans = [];
    this.current = -1;
    this.list.classList.toggle("ids", ids);
    this.list.removeAttribute("aria-activedescendant");
    this.list.replaceChildren();
    this.element.scrollTop = 0;
    this.element.hidden = !segmentation?.ids.length;
    this.more();
  }

  more() {
    const found = this.segmentation;
    const from = this.spans.length;
    if (!found || from >= found.ids.length) return;
    const parts = [];
    for (let k = from; k < Math.min(from + CHUNK, found.ids.length); k++) {
      const data = found.data(k);
      const { text, part } = readable(data);
      const marks = found.marks(k);
      if (found.places?.differs(k, this.others)) marks.push("differs");
      if (found.special.has(k)) marks.push("control");
      else if (part) marks.push("part");
      const span = make("span", { cls: marks.join(" "), role: "option", "aria-selected": "false", text: this.ids ? String(found.ids[k]) : text });
      this.spans.push(span);
      parts.push(span);
      if (!this.ids && data.includes(10)) parts.push(document.createElement("br"));
      else parts.push(document.createElement("wbr"));
    }
    this.list.append(...parts);
  }

  key(event) {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 };
    const total = this.segmentation?.ids.length ?? 0;
    let next = this.current;
    if (event.key in steps) next = Math.max(0, Math.min(total - 1, this.current + steps[event.key]));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = total - 1;
    else if ((event.key === "Enter" || event.key === " ") && this.current >= 0) {
      event.preventDefault();
      this.choose(this.current);
      return;
    } else return;
    event.preventDefault();
    while (next >= this.spans.length && this.spans.length < total) this.more();
    this.mark(next);
  }

  mark(k) {
    this.spans[this.current]?.classList.remove("current");
    this.spans[this.current]?.removeAttribute("id");
    this.spans[this.current]?.setAttribute("aria-selected", "false");
    this.current = k;
    const span = this.spans[k];
    if (!span) return;
    span.classList.add("current");
    span.setAttribute("aria-selected", "true");
    span.id = `current-${this.list.dataset.number}`;
    span.setAttribute("aria-label", [readable(this.segmentation.data(k)).text, ...this.segmentation.lines(k)].join(", "));
    this.list.setAttribute("aria-activedescendant", span.id);
    span.scrollIntoView({ block: "nearest" });
    this.onPoint(k, span);
  }

  choose(k) {
    this.mark(k);
    this.onChoose(this.segmentation.ids[k], this.segmentation.data(k));
  }
}
