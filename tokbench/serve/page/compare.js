// Two tokenizers' cuts in one text: the pieces between all boundaries, and which of the two has each boundary.

import { hexOf, make, Places, TokenBox } from "./tokens.js";

const $ = (id) => document.getElementById(id);

/** The pieces of a text between the boundaries of two tokenizers, for a box of tokens. */
class TwoCuts {
  constructor(bytes, columns) {
    this.bytes = bytes;
    this.columns = columns;
    this.cuts = columns.map((column) => new Set(column.segmentation.places.ends));
    const ends = [...new Set(this.cuts.flatMap((cut) => [...cut]))].sort((a, b) => a - b).filter((end) => end);
    this.ids = ends;
    this.special = new Set();
    this.places = new Places(ends.map((end, k) => end - (ends[k - 1] ?? 0)));
  }

  data(k) {
    return this.places.data(this.bytes, k);
  }

  /** Return the classes of a piece: whether both have it as a token, and whose boundary is before it. */
  marks(k) {
    const [start, end] = [this.places.start(k), this.places.ends[k]];
    const same = this.columns.every((column) => column.segmentation.places.has(start, end));
    const [first, second] = this.cuts.map((cut) => start === 0 || cut.has(start));
    return ["token", same ? "same" : "other", first && second ? "both" : first ? "first" : "second"];
  }

  /** Return the token of each tokenizer around a piece. */
  lines(k) {
    return this.columns.map(({ name, segmentation }) => {
      const at = segmentation.places.ends.findIndex((end) => end >= this.places.ends[k]);
      return [name, ...segmentation.lines(at)].join(": ").replace(": bytes", ", bytes");
    });
  }

  /** Return how many boundaries inside the text both have, and each alone. */
  counts() {
    const [one, other] = this.cuts;
    const inside = [...this.ids].slice(0, -1);
    const both = inside.filter((end) => one.has(end) && other.has(end)).length;
    return [both, ...this.cuts.map((cut) => inside.filter((end) => cut.has(end)).length - both)];
  }
}

let box = null;
const wanted = ["", ""]; // what the reader has chosen

/** Draw the comparison of the two chosen columns; the first two at first. */
export function drawComparison(columns, bytes, point) {
  const able = columns.filter((column) => column.segmentation?.places);
  $("versus").hidden = able.length < 2;
  if (able.length < 2) return;
  const selects = [$("one"), $("other")];
  const chosen = wanted.map((name, k) => able.find((column) => column.name === name) ?? able[k]);
  if (chosen[0] === chosen[1]) chosen[1] = able.find((column) => column !== chosen[0]);
  selects.forEach((select, k) => {
    select.replaceChildren(...able.map((column) => make("option", { text: column.name })));
    select.value = chosen[k].name;
    select.onchange = () => {
      wanted[k] = select.value;
      drawComparison(columns, bytes, point);
    };
  });
  box ??= new TokenBox("both", { onPoint: (k, element) => point(box.segmentation, k, element), onLeave: () => ($("tip").hidden = true), onChoose: () => {} });
  box.list.dataset.number = "both";
  if (!box.element.isConnected) $("versus").append(box.element);
  const cuts = new TwoCuts(bytes, chosen);
  const [both, ...alone] = cuts.counts().map((count) => count.toLocaleString("en"));
  $("cuts").replaceChildren(
    `Boundaries of both: ${both}. `, make("span", { cls: "key first" }), ` only of ${chosen[0].name}: ${alone[0]}. `,
    make("span", { cls: "key second" }), ` only of ${chosen[1].name}: ${alone[1]}.`);
  box.show(cuts, [], false);
}
