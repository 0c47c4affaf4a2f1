// The metrics of one or two runs as curves that grow while the files do.

import { get, repeat } from "./api.js";
import { align, chart } from "./chart.js";
import { fill, field, h, offer, select } from "./dom.js";

const EVERY = 1500;
const HIDDEN = new Set(["step", "seconds"]);

// runs: [{id, label, look}]
export function follow(place, runs, signal) {
  const known = runs.map(() => ({ rows: [], mark: null, unreadable: 0 }));
  const picture = h("div", { class: "chart", role: "img", "aria-label": "Curves of training" });
  const empty = h("p", { class: "soft" }, "No rows of metrics yet.");
  const warning = h("p", { class: "wrong small", hidden: true });
  let column = "loss";
  let drawn = null;
  let steep = false; // a loss that falls by more than a power of ten is drawn on a logarithmic axis
  const which = select([["loss", "loss"]], "loss", (name) => { column = name; redraw(); });
  fill(place, h("div", { class: "bar" }, field("Curve", which)), empty, picture, warning);

  function redraw() {
    drawn?.close();
    drawn = chart(picture, {
      series: runs.map(({ label, look }) => ({ label: runs.length > 1 ? label : column, look })),
      x: "step", y: column, logY: steep,
    });
    update();
  }

  function update() {
    const curves = known.map(({ rows }) => rows.filter((row) => row[column] !== undefined && row.step !== undefined)
      .map((row) => [Number(row.step), finite(row[column])]));
    const values = curves.flat().map(([, value]) => value).filter((value) => value !== null);
    const [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    if (steep !== (column === "loss" && low > 0 && high > 10 * low)) {
      steep = !steep;
      return void redraw();
    }
    empty.hidden = curves.some((curve) => curve.length);
    picture.hidden = !empty.hidden;
    if (empty.hidden) drawn.show(align(...curves));
    const names = [...new Set(known.flatMap(({ rows }) => rows.flatMap(Object.keys)))].filter((name) => !HIDDEN.has(name));
    if (names.length && names.join() !== [...which.options].map((option) => option.value).join())
      offer(which, names.map((name) => [name, name]), column);
    const bad = known.reduce((sum, { unreadable }) => sum + unreadable, 0);
    warning.hidden = !bad;
    warning.textContent = `${bad} lines of the metrics cannot be read and are left out.`;
  }

  signal.addEventListener("abort", () => drawn?.close());
  redraw();
  repeat(async () => {
    const pieces = await Promise.all(runs.map(({ id }, number) =>
      get("/api/metrics", [["run", id], ...(known[number].mark ? [["mark", known[number].mark]] : [])], { signal })));
    let changed = false;
    pieces.forEach((piece, number) => {
      const run = known[number];
      if (piece.from_start) { run.rows = []; run.unreadable = 0; }
      run.rows.push(...piece.rows);
      run.unreadable += piece.unreadable;
      run.mark = piece.mark || null;
      changed ||= piece.from_start || piece.rows.length > 0;
    });
    if (changed) update();
  }, EVERY, signal);
}

const finite = (value) => (Number.isFinite(Number(value)) ? Number(value) : null);
