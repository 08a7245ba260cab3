// The playground: state in the address, one question for each change, and a column for each tokenizer.

import { drawComparison } from "./compare.js";
import { ask, closePanel, linesOf, showSearch, showToken } from "./panels.js";
import { bytesOf, make, readable, Segmentation, TokenBox } from "./tokens.js";

const $ = (id) => document.getElementById(id);
const DEBOUNCE = 90;
const LONGEST_LINK = 12000;
const PRICES = "tokbench prices";
const KINDS = { command: "of the command", file: "dropped file", model: "model", installed: "installed" };
const SAMPLE = `127 + 677 = 804
1275 + 6773 = 8041
Egg.
I have an Egg.
egg.
EGG.
만나서 반가워요.

for i in range(1, 101):
    if i % 3 == 0 and i % 5 == 0:
        print("FizzBuzz")
    elif i % 3 == 0:
        print("Fizz")
    elif i % 5 == 0:
        print("Buzz")
    else:
        print(i)
`;

let known = null;
let columns = [];
let prices = loadPrices();
let running = null;
let timer = 0;
let written = "";
let number = 0;

const state = () => ({
  text: $("text").value,
  template: $("template").value,
  system: $("template").value ? $("system").value : "",
  special: $("special").value === "1",
  ids: $("show").value === "ids",
});

function loadPrices() {
  try {
    return new Map(Object.entries(JSON.parse(localStorage.getItem(PRICES) ?? "{}")));
  } catch {
    return new Map();
  }
}

function complain(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
}

const count = (value) => value.toLocaleString("en");
const fixed = (value) => (Number.isFinite(value) ? value.toFixed(2) : "–");

class Column {
  constructor(name) {
    this.name = name;
    this.answer = null;
    this.segmentation = null;
    this.count = make("p", { cls: "count" });
    this.share = make("span");
    this.facts = make("dl");
    this.remarks = make("div");
    this.box = new TokenBox(name, {
      onPoint: (k, element) => pointAt(this.segmentation, k, element),
      onLeave: () => ($("tip").hidden = true),
      onChoose: (id, data) => showToken(name, id, data),
    });
    this.box.list.dataset.number = ++number;
    const search = make("button", { type: "button", cls: "quiet", text: "Search", "aria-label": `Search the vocabulary of ${name}` });
    const remove = make("button", { type: "button", cls: "quiet", text: "×", "aria-label": `Remove ${name}` });
    search.addEventListener("click", () => showSearch(name));
    remove.addEventListener("click", () => {
      columns = columns.filter((each) => each !== this);
      this.element.remove();
      changed(0);
    });
    this.element = make("article", { "aria-label": name },
      make("div", { cls: "row" }, make("h3", { text: name, title: name }), search, remove),
      this.count, this.share, this.facts, this.remarks, this.box.element);
    this.wait();
  }

  wait() {
    this.element.classList.add("waiting");
    if (!this.answer) this.count.textContent = "…";
  }

  take(answer, bytes) {
    this.answer = answer;
    this.segmentation = answer.reason === undefined ? new Segmentation(bytes, answer) : null;
    this.element.classList.remove("waiting");
  }

  /** Return a button that opens a name that is like this one, in its place. */
  closeName(name) {
    const button = make("button", { type: "button", text: `Open ${name}` });
    button.addEventListener("click", () => {
      columns = columns.filter((each) => each !== this);
      this.element.remove();
      add(name);
    });
    return button;
  }

  draw(sizes, most, fewest, ids) {
    const { answer } = this;
    if (!answer) return;
    const failed = answer.reason !== undefined;
    const total = failed ? 0 : answer.ids.length;
    this.count.replaceChildren(failed ? "–" : count(total), make("small", { text: total === 1 ? "token" : "tokens" }));
    this.share.replaceChildren(...(most ? [bar(total / most)] : []));
    const rows = failed ? [] : [["bytes per token", fixed(sizes.bytes / total)], ["characters per token", fixed(sizes.chars / total)]];
    if (!failed && fewest && total > fewest) rows.push(["more than the fewest", `+${(100 * (total / fewest - 1)).toFixed(0)} %`]);
    if (!failed && answer.alone !== null && answer.alone !== undefined) rows.push(["the template takes", count(total - answer.alone)]);
    const price = prices.get(this.name);
    if (!failed && price) rows.push(["price", costOf(total, price)]);
    this.facts.replaceChildren(...rows.map(([name, value]) => make("div", {}, make("dt", { text: name }), make("dd", { text: value }))));
    this.remarks.replaceChildren(...remarksOf(answer).map((text) => make("p", { cls: `remark${failed ? " bad" : ""}`, text })));
    if (answer.close) this.remarks.append(this.closeName(answer.close));
    const others = columns.filter((each) => each !== this && each.segmentation).map((each) => each.segmentation);
    this.box.show(this.segmentation, others, ids);
  }
}

function bar(share) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "bar");
  svg.setAttribute("aria-hidden", "true");
  for (const [cls, width] of [["", 100], ["share", 100 * share]]) {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", cls);
    rect.setAttribute("width", `${width}%`);
    rect.setAttribute("height", "100%");
    rect.setAttribute("rx", "2");
    svg.append(rect);
  }
  return svg;
}

function remarksOf(answer) {
  if (answer.reason !== undefined) return [answer.reason];
  const found = [];
  if (answer.round_trip !== "exact") found.push(`${answer.round_trip}: the text decodes to ${answer.back || "nothing"}`);
  if (answer.ids.length && !answer.lengths.length) found.push("Its tokens cannot be aligned with the text: they are shown as they decode.");
  if (answer.missing.length) found.push(`It has no special token ${answer.missing.join(", ")}: spelled as ordinary text here.`);
  return found;
}

const costOf = (tokens, price) => ((tokens * price) / 1e6).toLocaleString("en", { maximumSignificantDigits: 4 });

function pointAt(segmentation, k, element) {
  const tip = $("tip");
  tip.replaceChildren(make("code", { text: readable(segmentation.data(k)).text }), ...segmentation.lines(k).map((text) => make("div", { text })));
  tip.hidden = false;
  const place = element.getBoundingClientRect();
  const below = place.bottom + 6 + tip.offsetHeight < innerHeight;
  tip.style.top = `${below ? place.bottom + 6 : Math.max(4, place.top - tip.offsetHeight - 6)}px`;
  tip.style.left = `${Math.max(4, Math.min(place.left, innerWidth - tip.offsetWidth - 8))}px`;
}

function redraw(bytes) {
  let chars = 0;
  for (const byte of bytes) chars += (byte & 0xc0) !== 0x80;
  const sizes = { bytes: bytes.length, chars };
  const good = columns.filter((each) => each.segmentation);
  const most = Math.max(0, ...good.map((each) => each.answer.ids.length));
  const fewest = Math.min(...good.filter((each) => each.answer.ranked).map((each) => each.answer.ids.length));
  const { ids } = state();
  columns.forEach((each) => each.draw(sizes, most, Number.isFinite(fewest) && columns.length > 1 ? fewest : 0, ids));
  $("facts").textContent = `${count(sizes.bytes)} bytes, ${count(sizes.chars)} characters`;
  drawComparison(columns, bytes, pointAt);
  drawPrices();
}

function drawPrices() {
  if (!$("prices").open) return;
  const focused = document.activeElement?.dataset?.price;
  const rows = columns.map((column) => {
    const input = make("input", { type: "number", min: "0", step: "any", "aria-label": `Price of ${column.name}`, "data-price": column.name });
    input.value = prices.get(column.name) ?? "";
    const cost = make("td", { cls: "number" });
    const fill = () => (cost.textContent = prices.get(column.name) && column.segmentation ? costOf(column.answer.ids.length, prices.get(column.name)) : "");
    input.addEventListener("input", () => {
      const value = Number(input.value);
      if (input.value && value > 0) prices.set(column.name, value);
      else prices.delete(column.name);
      try {
        localStorage.setItem(PRICES, JSON.stringify(Object.fromEntries(prices)));
      } catch {
        complain("The browser keeps no prices: its storage is closed.");
      }
      fill();
      redrawSoon();
    });
    fill();
    return make("tr", {}, make("td", { text: column.name }), make("td", {}, input), cost);
  });
  if (focused === undefined) $("prices").querySelector("tbody").replaceChildren(...rows);
}

let last = bytesOf("");
let redrawing = 0;
const redrawSoon = () => {
  redrawing ||= requestAnimationFrame(() => {
    redrawing = 0;
    redraw(last);
  });
};

/** Ask for all columns; an earlier question is given up, since the latest text wins. */
async function refresh() {
  running?.abort();
  const mine = (running = new AbortController());
  const { text, template, system, special } = state();
  writeAddress();
  const names = columns.map((each) => each.name);
  complain("");
  if (!names.length) return redraw(bytesOf(text));
  const waiting = new Set(columns);
  const late = setTimeout(() => waiting.forEach((each) => each.wait()), 250);
  try {
    const response = await ask("api/segment", { text, tokenizers: names, special, template, system }, { signal: mine.signal });
    let bytes = null;
    for await (const line of linesOf(response)) {
      const answer = JSON.parse(line);
      if (mine !== running) return;
      if (bytes === null) {
        bytes = last = bytesOf(answer.text ?? text);
        continue;
      }
      for (const column of columns.filter((each) => each.name === answer.tokenizer)) {
        column.take(answer, bytes);
        waiting.delete(column);
      }
      redrawSoon();
    }
    $("said").textContent = columns.map((each) => `${each.name}: ${each.segmentation ? `${each.answer.ids.length} tokens` : "failed"}`).join(", ");
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message === "Failed to fetch" ? "The server does not answer; is tokbench serve still running?" : error.message);
  } finally {
    clearTimeout(late);
  }
}

function changed(wait = DEBOUNCE) {
  clearTimeout(timer);
  $("system-field").hidden = !$("template").value;
  timer = setTimeout(refresh, wait);
}

function writeAddress() {
  const { text, template, system, special, ids } = state();
  const found = new URLSearchParams();
  columns.forEach((each) => found.append("t", each.name));
  if (template) found.set("template", template);
  if (system) found.set("system", system);
  if (special) found.set("special", "1");
  if (ids) found.set("show", "ids");
  const short = text.length <= LONGEST_LINK;
  if (short) found.set("text", text);
  $("copy").disabled = !short;
  $("copy").title = short ? "" : "The text is too long for a link.";
  written = `#${found}`;
  history.replaceState(null, "", written);
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const empty = ![...given].length;
  if (empty && written) {
    history.replaceState(null, "", written);
    return;
  }
  $("text").value = empty ? SAMPLE : given.get("text") ?? "";
  $("template").value = known.templates.includes(given.get("template")) ? given.get("template") : "";
  $("system").value = given.get("system") ?? "";
  $("special").value = given.get("special") ? "1" : "";
  $("show").value = given.get("show") === "ids" ? "ids" : "";
  const names = [...new Set(empty ? known.first : given.getAll("t"))].slice(0, known.most);
  columns = names.map((name) => new Column(name));
  $("columns").replaceChildren(...columns.map((each) => each.element));
  changed(0);
}

function add(name) {
  if (!name || columns.some((each) => each.name === name)) return;
  if (columns.length >= known.most) {
    complain(`At most ${known.most} tokenizers can be open; remove one first.`);
    return;
  }
  const column = new Column(name);
  columns.push(column);
  $("columns").append(column.element);
  changed(0);
}

async function upload(files) {
  for (const file of files) {
    if (file.size > known.largest_file) {
      complain(`${file.name} is larger than ${Math.round(known.largest_file / 1e6)} MB, the most that the server takes.`);
      continue;
    }
    try {
      complain(`Loading ${file.name} …`);
      const told = await (await ask(`api/files?name=${encodeURIComponent(file.name)}`, file)).json();
      complain("");
      add(told.tokenizer);
    } catch (error) {
      complain(error.message);
    }
  }
}

function listen() {
  $("text").addEventListener("input", () => changed());
  $("system").addEventListener("input", () => changed());
  for (const id of ["template", "special", "show"]) $(id).addEventListener("change", () => changed(0));
  $("add").addEventListener("submit", (event) => {
    event.preventDefault();
    add($("name").value.trim());
    $("name").value = "";
  });
  $("models").addEventListener("change", () => {
    add($("models").value);
    $("models").value = "";
  });
  $("file").addEventListener("change", () => upload($("file").files).then(() => ($("file").value = "")));
  $("prices").addEventListener("toggle", drawPrices);
  $("copy").addEventListener("click", async () => {
    writeAddress();
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("said").textContent = "The link is in the clipboard and in the address bar.";
    $("copy").textContent = "Copied";
    setTimeout(() => ($("copy").textContent = "Copy link"), 1500);
  });
  $("close").addEventListener("click", closePanel);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      $("tip").hidden = true;
      closePanel();
    }
  });
  addEventListener("hashchange", readAddress);
  addEventListener("scroll", () => ($("tip").hidden = true), { passive: true, capture: true });
  for (const [name, on] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    addEventListener(name, (event) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      document.body.classList.toggle("dropping", on);
      if (name === "drop") upload(event.dataTransfer.files);
    });
  }
}

async function start() {
  try {
    known = await (await ask("api/state")).json();
  } catch (error) {
    complain(error.message);
    return;
  }
  offer(known.offers);
  $("template").append(...known.templates.map((name) => make("option", { value: name, text: name })));
  listen();
  readAddress();
}

function offer(offers) {
  $("offers").replaceChildren(...offers.map(([name, kind]) => make("option", { value: name, label: KINDS[kind] ?? kind })));
  const groups = Object.entries(KINDS).map(([kind, label]) => make("optgroup", { label }, ...offers.filter((offer) => offer[1] === kind).map(([text]) => make("option", { text }))));
  $("models").replaceChildren($("models").options[0], ...groups.filter((group) => group.children.length));
}

start();
