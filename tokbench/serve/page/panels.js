// The panel at the side: one token with its merges, step by step; and the search in a vocabulary.

import { bytesOfHex, hexOf, make, readable } from "./tokens.js";

const $ = (id) => document.getElementById(id);
let before = null;
let asked = 0;

/** Send a question, and return the answer; an error has the advice of the server. */
export async function ask(path, body, options = {}) {
  const json = body !== undefined && !(body instanceof Blob);
  const response = await fetch(path, {
    ...options,
    ...(body === undefined ? {} : { method: "POST", body: json ? JSON.stringify(body) : body }),
    headers: body === undefined ? {} : { "Content-Type": json ? "application/json" : "application/octet-stream" },
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({ error: response.statusText, advice: "" }));
  throw new Error([told.error, told.advice].filter(Boolean).join("; "));
}

/** Yield the lines of an answer as they come. */
export async function* linesOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    yield* lines;
  }
  if (rest) yield rest;
}

function open(title) {
  if ($("panel").hidden) before = document.activeElement;
  $("panel").hidden = false;
  $("panel-title").textContent = title;
  $("panel-body").replaceChildren();
  $("panel-title").focus({ preventScroll: true });
  return ++asked;
}

export function closePanel() {
  if ($("panel").hidden) return;
  asked++;
  $("panel").hidden = true;
  before?.focus?.({ preventScroll: true });
}

const fact = (name, value) => make("tr", {}, make("th", { scope: "row", text: name }), make("td", {}, make("code", { text: value })));

/** Show one token: what is known at once, and then what its tokenizer tells of it. */
export async function showToken(tokenizer, id, data) {
  const turn = open(`Token ${id}`);
  const table = make("table", {}, fact("tokenizer", tokenizer), fact("text here", readable(data).text), fact("bytes here", hexOf(data)));
  const steps = make("div", {}, make("p", { cls: "soft", text: "Looking for its merges: the first time in a vocabulary takes some seconds." }));
  $("panel-body").append(table, make("h3", { text: "Merges that build it" }), steps);
  for (const merges of [false, true]) {
    let told;
    try {
      told = await (await ask("api/token", { tokenizer, id, merges })).json();
    } catch (error) {
      told = { reason: error.message };
    }
    if (turn !== asked) return;
    if (told.bytes !== undefined && !merges) {
      const own = bytesOfHex(told.bytes);
      table.append(fact("kind", told.kind), fact("text", told.name || readable(own).text), fact("its bytes", hexOf(own)));
    }
    if (merges || told.reason || told.name) {
      steps.replaceChildren(...mergeSteps(told));
      return;
    }
  }
}

function mergeSteps(told) {
  if (told.reason || told.unmerged) return [make("p", { cls: "remark", text: told.reason || told.unmerged })];
  if (!told.steps?.length) return [make("p", { cls: "soft", text: told.name ? "It is a special token: no merge makes it." : "No merge makes it." })];
  const last = told.steps.length - 1;
  const slider = make("input", { type: "range", min: "0", max: String(last), value: String(last), id: "step" });
  const label = make("label", { for: "step", cls: "soft" });
  const list = make("ol", { cls: "steps", start: "0" });
  const draw = () => {
    const shown = Number(slider.value);
    label.textContent = shown ? `Merge ${shown} of ${last}` : `Before the first of ${last} merges`;
    list.replaceChildren(...told.steps.slice(0, shown + 1).map((parts, k) => step(parts, told.steps[k - 1])));
  };
  slider.addEventListener("input", draw);
  draw();
  return [make("div", { cls: "row" }, slider, label), list];
}

function step(parts, earlier) {
  const made = earlier ? parts.findIndex((part, k) => part !== earlier[k]) : -1;
  return make("li", {}, ...parts.map((part, k) =>
    make("span", { cls: `token mono c${k % 5}${k === made ? " made" : ""}`, text: readable(bytesOfHex(part)).text })));
}

/** Show the search in the vocabulary of a tokenizer. */
export function showSearch(tokenizer) {
  const turn = open(`Vocabulary of ${tokenizer}`);
  const by = make("select", { "aria-label": "Search by" }, ...["text", "bytes", "id"].map((each) => make("option", { text: each })));
  const query = make("input", { type: "search", "aria-label": "Search for", placeholder: "text, bytes such as e2 82, or an id" });
  const told = make("p", { cls: "soft", role: "status" });
  const rows = make("tbody");
  const table = make("table", { hidden: "" }, make("thead", {}, make("tr", {}, ...["id", "token", "kind"].map((text) => make("th", { scope: "col", text })))), rows);
  let timer = 0;
  let number = 0;
  const search = async () => {
    const mine = ++number;
    told.textContent = query.value ? "Searching: the first time in a vocabulary takes some seconds." : "";
    table.hidden = true;
    if (!query.value) return;
    let answer;
    try {
      answer = await (await ask("api/vocabulary", { tokenizer, query: query.value, by: by.value })).json();
    } catch (error) {
      answer = { reason: error.message };
    }
    if (mine !== number || turn !== asked) return;
    told.textContent = answer.reason ?? summary(answer);
    rows.replaceChildren(...(answer.found ?? []).map((row) => hit(tokenizer, row)));
    table.hidden = !answer.found?.length;
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(search, 200);
  };
  query.addEventListener("input", soon);
  by.addEventListener("change", soon);
  $("panel-body").append(make("div", { cls: "row" }, by, query), told, table);
  query.focus();
}

const summary = (answer) =>
  `${answer.total.toLocaleString("en")} of ${answer.vocab_size.toLocaleString("en")} tokens` +
  (answer.total > answer.found.length ? `; the first ${answer.found.length} are shown` : "");

function hit(tokenizer, [id, digits, kind, name]) {
  const data = bytesOfHex(digits);
  const button = make("button", { cls: "link mono", type: "button", text: name || readable(data).text || "nothing", title: hexOf(data) });
  button.addEventListener("click", () => showToken(tokenizer, id, data));
  return make("tr", {}, make("td", { cls: "number", text: String(id) }), make("td", {}, button), make("td", { text: kind }));
}
