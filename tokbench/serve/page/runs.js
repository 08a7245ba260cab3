// Finished runs: the list, and the comparison of two.

import { ask, linesOf } from "./panels.js";
import { make } from "./tokens.js";

const $ = (id) => document.getElementById(id);

let asked = null;
const chosen = { baseline: null, other: null };

function complain(message) {
  $("run-problem").textContent = message;
  $("run-problem").hidden = !message;
}

/** List the runs as they are read, once. */
export function showRuns() {
  asked ??= readRuns();
  return asked;
}

async function readRuns() {
  $("reading").textContent = "Reading the results …";
  try {
    for await (const line of linesOf(await ask("api/runs"))) $("run-table").tBodies[0].append(row(JSON.parse(line)));
  } catch (error) {
    complain(error.message);
    asked = null;
  }
  $("reading").textContent = "";
}

function radio(name, run) {
  const input = make("input", { type: "radio", name, value: String(run.run), "aria-label": `${name}: ${run.name}` });
  input.addEventListener("change", () => {
    chosen[name] = run.run;
    const ready = chosen.baseline !== null && chosen.other !== null && chosen.baseline !== chosen.other;
    $("compare").setAttribute("aria-disabled", String(!ready));
    if (ready) $("compare").setAttribute("href", `runs/${chosen.other}/against/${chosen.baseline}`);
    else $("compare").removeAttribute("href");
  });
  return input;
}

function row(run) {
  if (run.reason) return make("tr", {}, make("td", { colspan: "7", cls: "remark bad", text: `${run.folder}: ${run.reason}` }));
  const name = make("a", { href: `runs/${run.run}`, text: run.name, title: run.folder });
  const many = (list, one, more) => make("td", { text: `${list.length} ${list.length === 1 ? one : more}`, title: list.join(", ") });
  return make("tr", {},
    make("td", { "data-head": "baseline" }, radio("baseline", run)), make("td", { "data-head": "run" }, radio("other", run)),
    make("td", {}, name), make("td", { text: run.created.slice(0, 16).replace("T", " ") }),
    many(run.tokenizers, "tokenizer", "tokenizers"), many(run.corpora, "corpus", "corpora"),
    make("td", { text: `${run.cells.toLocaleString("en")} numbers${run.failed ? ", some failed" : ""}` }));
}
