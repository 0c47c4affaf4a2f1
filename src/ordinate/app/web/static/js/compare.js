// Two runs side by side: curves, settings that differ, scores.

import { get, errorText } from "./api.js";
import { field, fill, h, select, table } from "./dom.js";
import { follow } from "./follow.js";
import { number, score } from "./format.js";

export function compare(place, rest, signal) {
  const bar = h("div", { class: "bar" });
  const result = h("div", {});
  fill(place, h("h1", {}, "Compare two runs"), bar, result);
  let chosen = pair(rest);
  let closing = null;

  function go(number, id) {
    chosen[number] = id;
    location.hash = `compare/${chosen.map(encodeURIComponent).join("/")}`;
  }

  async function show() {
    closing?.abort();
    closing = new AbortController();
    signal.addEventListener("abort", () => closing.abort(), { once: true });
    const { studies, store } = await get("/api/runs", [], { signal });
    const ids = studies.flatMap((study) => study.runs).filter((run) => run.status !== "broken").map((run) => run.id);
    if (ids.length < 2) {
      fill(bar);
      fill(result, h("div", { class: "empty" }, h("p", {}, `Comparing takes two runs, and ${store} has ${ids.length}.`)));
      return;
    }
    chosen = [chosen[0] ?? ids[0], chosen[1] ?? ids.find((id) => id !== (chosen[0] ?? ids[0]))];
    const options = ids.map((id) => [id, id]);
    fill(bar, ["First run", "Second run"].map((label, number) => field(label, select(options, chosen[number], (id) => go(number, id)))));
    const curve = h("section", { class: "panel" });
    const tables = h("div", {});
    fill(result, curve, tables);
    try {
      const found = await get("/api/compare", chosen.map((id) => ["run", id]), { signal: closing.signal });
      follow(curve, chosen.map((id, look) => ({ id, label: id, look })), closing.signal);
      const heading = (text) => [text, ...found.runs.map((id, number) => h("span", { class: `key ${["first", "second"][number]}` }, broken(id)))];
      const shown = (value) => (typeof value === "number" ? number(value) : value === null ? "" : String(value));
      const rows = (part, show = shown) => Object.entries(part).filter(([, pair]) => pair.some((value) => value !== null))
        .map(([key, pair]) => [key.replaceAll("_", " "), ...pair.map((value, side) => show(value, found.metrics[side]))]);
      fill(tables,
        h("h2", {}, "Scores"), rows(found.scores).length ? table(heading([...new Set(found.metrics)].join(" / ")), rows(found.scores, score)) : h("p", { class: "soft" }, "No scores yet."),
        h("h2", {}, "Settings that differ"), rows(found.settings).length ? table(heading("setting"), rows(found.settings)) : h("p", { class: "soft" }, "The recipes are the same."),
        h("h2", {}, "Facts"), table(heading("fact"), rows(found.facts)));
    } catch (error) {
      if (error.name !== "AbortError") fill(result, h("p", { class: "wrong", role: "alert" }, errorText(error)));
    }
  }

  show().catch((error) => { if (error.name !== "AbortError") fill(result, h("p", { class: "wrong", role: "alert" }, errorText(error))); });
  return (now) => { chosen = pair(now); show(); };
}

// An id that may go on in the next line behind the study.
const broken = (id) => id.split("/").flatMap((part, number) => (number ? ["/", h("wbr"), part] : [part]));

// Two ids of two parts each, as they stand in the address.
const pair = (parts) => [parts.length > 1 ? parts.slice(0, 2).join("/") : undefined, parts.length > 3 ? parts.slice(2, 4).join("/") : undefined];
