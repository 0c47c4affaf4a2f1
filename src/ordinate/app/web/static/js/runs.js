// Runs by study, as they are now, and one of them with its curve.

import { get, repeat, errorText } from "./api.js";
import { fill, h, setText, table } from "./dom.js";
import { ago, number, plural, score } from "./format.js";
import { follow } from "./follow.js";

const EVERY = 1500;

export function runs(place, rest, signal) {
  const list = h("div", { class: "studies" });
  const empty = h("div", { class: "empty", hidden: true });
  const detail = h("section", { class: "panel detail", "aria-label": "Chosen run" });
  const compare = h("a", { class: "button", href: "#compare", "aria-disabled": "true" }, "Compare two runs");
  const tally = h("p", { class: "soft", role: "status" });
  fill(place,
    h("div", { class: "bar title" }, h("h1", {}, "Runs"), tally, compare),
    empty,
    h("div", { class: "columns" }, list, detail));
  const chosen = [];
  const studies = new Map();
  let open; // nothing was shown yet: an address without a run shows what to do
  let closing = null;

  function choose(id, box) {
    const at = chosen.indexOf(id);
    if (at >= 0) chosen.splice(at, 1);
    else chosen.push(id);
    if (chosen.length > 2) {
      const dropped = chosen.shift();
      for (const study of studies.values()) study.rows.get(dropped)?.uncheck();
    }
    box.checked = chosen.includes(id);
    const ready = chosen.length === 2;
    compare.setAttribute("aria-disabled", String(!ready));
    compare.href = ready ? `#compare/${chosen.map(encodeURIComponent).join("/")}` : "#compare";
    setText(compare, ready ? "Compare the two" : chosen.length ? "Choose one more" : "Compare two runs");
  }

  function show(study, seed) {
    const id = study && seed ? `${study}/${seed}` : null;
    if (id === open) return;
    open = id;
    closing?.abort();
    closing = new AbortController();
    signal.addEventListener("abort", () => closing.abort(), { once: true });
    for (const known of studies.values()) for (const [run, row] of known.rows) row.mark(run === id);
    detail.classList.toggle("unchosen", !id);
    if (id) {
      showRun(detail, id, closing.signal);
      if (matchMedia("(max-width: 1000px)").matches) detail.scrollIntoView({ block: "start" });
    } else fill(detail, h("p", { class: "soft" }, "Choose a run to see its curve."));
  }

  const update = async () => {
    const { studies: found, store } = await get("/api/runs", [], { signal });
    const all = found.flatMap((study) => study.runs);
    const running = all.filter((run) => run.status === "running").length;
    setText(tally, all.length ? `${plural(all.length, "run")} in ${store}${running ? `, ${running} running` : ""}` : "");
    empty.hidden = all.length > 0;
    list.parentElement.hidden = all.length === 0;
    if (!all.length)
      fill(empty, h("p", {}, `No runs in ${store} yet.`), h("p", { class: "soft" }, "Train a recipe, and it shows up here while it learns:"),
        h("pre", {}, `ordinate train addition-1000 --out ${store}`));
    const ids = new Set(found.map((study) => study.id));
    for (const [id, study] of studies) if (!ids.has(id)) { study.element.remove(); studies.delete(id); }
    found.forEach((study, number) => {
      if (!studies.has(study.id)) {
        const made = studyBlock(study, choose);
        studies.set(study.id, made);
        list.insertBefore(made.element, list.children[number] ?? null);
      }
      studies.get(study.id).update(study, open);
    });
  };
  show(...rest);
  repeat(update, EVERY, signal);
  return (now) => show(...now);
}

function studyBlock(study, choose) {
  const title = h("h2", {}, study.name);
  const about = h("p", { class: "soft small" });
  const rowsPlace = h("ul", { class: "rows" });
  const element = h("section", { class: "study" }, title, about, rowsPlace);
  const rows = new Map();
  return {
    element,
    rows,
    update(now, open) {
      const last = Object.keys(now.median).at(-1);
      setText(about, [
        now.task, now.model, now.parameters && `${number(now.parameters)} parameters`,
        now.done > 1 && last && `median of ${plural(now.done, "seed")} at ${last}: ${score(now.median[last], now.metric)}`,
        now.failed ? `${now.failed} failed` : null,
      ].filter(Boolean).join(" \u00b7 "));
      const ids = new Set(now.runs.map((run) => run.id));
      for (const [id, row] of rows) if (!ids.has(id)) { row.element.remove(); rows.delete(id); }
      for (const run of now.runs) {
        if (!rows.has(run.id)) {
          const made = runRow(run, choose);
          rows.set(run.id, made);
          rowsPlace.append(made.element);
        }
        rows.get(run.id).update(run);
        rows.get(run.id).mark(run.id === open);
      }
    },
  };
}

function runRow(run, choose) {
  const box = h("input", { type: "checkbox", "aria-label": `Compare ${run.id}`, onchange: () => choose(run.id, box) });
  const link = h("a", { href: `#runs/${run.id}` }, `seed ${run.seed}`);
  const badge = h("span", {});
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Steps done" });
  const steps = h("span", { class: "steps small" });
  const result = h("span", { class: "result small" });
  const heard = h("span", { class: "heard soft small" });
  const error = h("span", { class: "wrong small error", hidden: true });
  const element = h("li", { "data-run": run.id }, box, link, badge, bar, steps, result, heard, error);
  return {
    element,
    uncheck() { box.checked = false; },
    mark(open) {
      element.classList.toggle("open", open);
      if (open) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    },
    update(now) {
      badge.className = `badge ${now.status}`;
      setText(badge, now.status);
      element.classList.toggle("unreadable", now.status === "broken");
      box.disabled = now.status === "broken";
      bar.hidden = now.status !== "running";
      bar.value = now.steps ? (now.step ?? 0) / now.steps : 0;
      setText(steps, now.status === "broken" ? "" : `${number(now.step ?? 0)} of ${number(now.steps) || "?"}`);
      const last = Object.keys(now.scores).at(-1);
      setText(result, now.status === "running" && now.loss !== null ? `loss ${number(now.loss)}` : last ? `${last}: ${score(now.scores[last], now.metric)}` : "");
      setText(heard, ago(now.heard));
      error.hidden = !now.error;
      setText(error, now.error ?? "");
    },
  };
}

function showRun(place, id, signal) {
  const facts = h("div", {});
  const curve = h("div", {});
  const scores = h("div", {});
  fill(place, h("h2", { class: "wrap" }, id), facts, curve, scores);
  follow(curve, [{ id, label: "loss", look: 0 }], signal);
  const update = async () => {
    const run = await get("/api/run", [["run", id]], { signal });
    const known = [
      ["status", run.status], ["step", `${number(run.step ?? 0)} of ${number(run.steps) || "?"}`],
      ["parameters", number(run.parameters)], ["samples seen", number(run.samples_seen)],
      ["seconds", number(run.seconds)], ["weights", run.averaged ? "averaged" : null], ["error", run.error],
    ].filter(([, value]) => value);
    fill(facts, h("dl", {}, known.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
    const points = Object.entries(run.scores);
    const settings = h("details", { open: scores.querySelector("details")?.open }, h("summary", {}, "Settings"),
      table(["setting", "value"], Object.entries(run.settings).map(([key, value]) => [key, String(value)]), "plain"));
    fill(scores, points.length ? [
      h("h3", {}, "Scores"),
      table(["point", run.metric], points.map(([point, value]) => [point, score(value, run.metric)])),
      h("p", { class: "soft small" }, "One seed, no verdict."),
    ] : null, settings);
    return ["new", "running", "stopped"].includes(run.status);
  };
  repeat(() => update().catch((error) => {
    if (error.name === "AbortError") throw error;
    fill(facts, h("p", { class: "wrong", role: "alert" }, errorText(error)));
  }), 3000, signal);
}
