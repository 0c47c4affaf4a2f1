// The playground: a typed or drawn input, one or two models, where they break, and what they look at.

import { get, post, errorText } from "./api.js";
import { attention } from "./attention.js";
import { align, chart } from "./chart.js";
import { digits } from "./digits.js";
import { drawn, field, fill, h, offer, select, setText } from "./dom.js";
import { number, plural } from "./format.js";

const STOPS = [5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000];
const SWEEP = [5, 6, 8, 10, 20, 50, 100, 200, 500, 1000];
const TRY = { addition: ["123 + 4095", "99999 + 1", "999999999 + 1"] }; // the last one: a carry further than any in training
const WAIT = 180; // milliseconds after the last move of the slider

// More samples where they cost little.
const samples = (length) => Math.max(2, Math.min(20, Math.floor(2000 / length)));

export function playground(place, rest, signal) {
  const state = { task: "addition", models: ["", ""], seed: Math.floor(Math.random() * 1e6), all: [], tasks: new Map() };
  const measured = new Map(); // model -> length -> {count, exact, seen, symbols}: samples and shares of right ones
  let asking = null;

  const tasks = select([], "", (name) => { state.task = name; sweep.stop(); forget(); text.value = ""; choices(); draw(); });
  const models = [0, 1].map((side) => select([], "", (id) => { state.models[side] = id; again(); }));
  const text = h("input", { type: "text", value: "123 + 4095", spellcheck: "false", autocomplete: "off", maxlength: 4096 });
  const slider = h("input", { type: "range", min: 0, max: STOPS.length - 1, value: 0, step: 1 });
  const length = h("input", { type: "number", min: 1, max: 1000, value: 5, class: "short" });
  const form = h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); typed(); } },
    h("div", { class: "grow" }, field("Input", text)), h("button", { type: "submit", class: "primary" }, "Answer"),
    h("button", { type: "button", onclick: () => draw() }, "Draw a sample"));
  const tries = h("p", { class: "tries small soft" });
  const message = h("p", { class: "wrong", role: "alert", hidden: true });
  const result = h("section", { class: "panel", "aria-label": "Answer", "aria-live": "polite", "aria-busy": "false" });
  const picture = h("div", { class: "chart", role: "img", "aria-label": "Share of right answers by length" });
  const trained = h("p", { class: "soft small" });
  const sweeping = h("button", { type: "button", onclick: () => (sweep.on ? sweep.stop() : sweep()) }, "Measure all lengths");
  const breaks = h("section", { class: "panel", hidden: true }, h("h2", {}, "Where it breaks"), picture, trained,
    h("div", { class: "bar" }, sweeping, h("button", { type: "button", onclick: () => { stored(); drawBreaks(); } }, "Forget the drawn ones")));
  const maps = h("section", { class: "panel" });
  const lengths = h("div", { class: "bar length" }, h("div", { class: "grow" }, field("Length", slider)), field("Digits", length));
  const noun = () => (state.tasks.get(state.task)?.family === "arithmetic" ? "digits" : "symbols");
  fill(place,
    h("h1", {}, "Playground"),
    h("p", { class: "lead" }, "Type an input, or drag the length, and see what models make of it that were trained on short ones only."),
    h("div", { class: "bar" }, field("Task", tasks), field("First model", models[0]), field("Second model", models[1])),
    form, tries, lengths, message, result, h("div", { class: "columns even" }, breaks, maps));

  // What can be chosen

  function choices() {
    const there = state.all.filter((model) => model.task === state.task);
    const options = there.map((model) => [model.id, model.title]);
    offer(models[0], options.length ? options : [["", "no model of this task yet"]], state.models[0] || packaged(there, "relation"));
    offer(models[1], [["", "none"], ...options], state.models[1] || packaged(there, "absolute"));
    state.models = models.map((control) => control.value);
    const task = state.tasks.get(state.task);
    lengths.hidden = !task.lengths;
    setText(lengths.querySelector(`label[for=${length.id}]`), noun() === "digits" ? "Digits" : "Symbols");
    const examples = TRY[state.task] ?? [];
    tries.hidden = !examples.length;
    fill(tries, "Try ", examples.map((example) => h("button", { type: "button", class: "chip", onclick: () => { text.value = example; typed(); } }, example)));
    length.max = task.longest;
    slider.max = STOPS.filter((stop) => stop <= task.longest).length - 1;
    length.value = Math.min(Math.max(5, task.trained), task.longest);
    fromLength();
    drawBreaks();
  }
  const packaged = (there, word) => there.find((model) => model.id.startsWith("package:") && model.id.endsWith(word))?.id;
  const asked = () => state.models.filter(Boolean);

  function fromLength() {
    const wanted = Number(length.value);
    slider.value = STOPS.findLastIndex((stop) => stop <= Math.max(5, wanted));
    slider.setAttribute("aria-valuetext", `${wanted} ${noun()}`);
  }

  // Asking

  // Nothing of an answer stands beside another question.
  function forget() {
    message.hidden = result.hidden = maps.hidden = true;
  }

  async function ask(question) {
    asking?.abort();
    asking = new AbortController();
    const stop = () => asking.abort();
    signal.addEventListener("abort", stop, { once: true });
    result.setAttribute("aria-busy", "true");
    try {
      const answer = await post("/api/answer", { task: state.task, models: asked(), ...question }, { signal: asking.signal });
      message.hidden = true;
      result.hidden = maps.hidden = false;
      drawn(result, "the answer", () => showAnswer(answer));
      note(answer, question.length);
      return answer;
    } catch (error) {
      if (error.name === "AbortError") return null;
      forget();
      if (question.text === undefined) text.value = "";
      setText(message, errorText(error));
      message.hidden = false;
      return null;
    } finally {
      result.setAttribute("aria-busy", "false");
    }
  }

  let last = () => typed();
  const again = () => { drawBreaks(); last(); };
  function typed() {
    last = () => typed();
    return ask({ text: text.value }).then((answer) => {
      if (!answer) return;
      if (answer.rows.length) length.value = Math.max(...answer.rows.map((row) => row.symbols.filter(Boolean).length));
      fromLength();
      look(answer);
    });
  }
  function draw() {
    state.seed = (state.seed + 1) % 2 ** 31;
    last = () => draw();
    const task = state.tasks.get(state.task);
    const wanted = task.lengths ? { length: Number(length.value), count: samples(Number(length.value)) } : {};
    return ask({ ...wanted, seed: state.seed }).then((answer) => {
      if (!answer) return;
      text.value = answer.input;
      look(answer);
    });
  }

  let timer = null;
  const later = () => { clearTimeout(timer); timer = setTimeout(draw, WAIT); };
  slider.addEventListener("input", () => {
    length.value = STOPS[slider.value];
    slider.setAttribute("aria-valuetext", `${length.value} ${noun()}`);
    later();
  });
  length.addEventListener("input", () => { fromLength(); later(); });

  async function sweep() {
    sweep.on = true;
    setText(sweeping, "Stop");
    for (const stop of SWEEP.filter((each) => each <= Number(length.max))) {
      if (!sweep.on || signal.aborted) break;
      length.value = stop;
      fromLength();
      await draw();
    }
    sweep.stop();
  }
  sweep.stop = () => { sweep.on = false; setText(sweeping, "Measure all lengths"); };

  // Showing

  function showAnswer(answer) {
    const sides = answer.models.map((model) => model.error
      ? h("p", { class: "wrong" }, `${model.title}: ${model.error}`)
      : h("p", { class: "outcome" }, sign(model), h("span", { class: `key ${side(model.id)}` }, model.title), outcome(model, answer)));
    const rows = [
      ...answer.rows.map((row) => ({ ...row, kind: "given" })),
      { name: "right", symbols: answer.exact, kind: "right" },
      ...answer.models.filter((model) => !model.error).map((model) => ({ name: short(model), symbols: model.symbols, wrong: model.wrong, kind: `model ${side(model.id)}` })),
    ];
    fill(result, answer.rows.length ? null : h("p", { class: "wrap mono" }, answer.input), sides, digits(rows),
      asked().length ? null : h("p", { class: "soft" }, "No model of this task has been trained here yet; this is the exact answer."));
  }
  const side = (id) => (state.models[0] === id ? "first" : "second");
  const short = (model) => (model.title.length > 11 ? model.title.split(/[:,]/)[0].slice(0, 11) : model.title);
  const sign = (model) => h("span", { class: `badge ${model.wrong.length ? "contradicted" : "supported"}` }, model.wrong.length ? "\u2717 wrong" : "\u2713 right");
  function outcome(model, answer) {
    const places = answer.exact.length;
    const close = answer.tolerance === null ? "" : `; right is within ${answer.tolerance} plus ${100 * answer.tolerance} % of the exact number`;
    if (!model.wrong.length) return h("span", { class: "soft" }, `all ${plural(answer.exact.filter(Boolean).length, "place")}${close}`);
    const lowest = places - Math.max(...model.wrong);
    return h("span", { class: "soft" }, `${plural(model.wrong.length, "place")} wrong, the first one, from the right, is place ${lowest}${close}`);
  }

  function note(answer, at) {
    for (const model of answer.models) {
      if (!model.measured) continue;
      add(model.id, at, model.measured.count, model.measured.exact, model.measured.symbols);
    }
    drawBreaks();
  }
  function add(id, at, count, exact, symbols) {
    if (!measured.has(id)) measured.set(id, new Map());
    const known = measured.get(id).get(at) ?? { count: 0, exact: 0, seen: 0, symbols: null };
    const seen = symbols === null ? 0 : count;
    measured.get(id).set(at, {
      count: known.count + count, exact: (known.exact * known.count + exact * count) / (known.count + count),
      seen: known.seen + seen, symbols: seen ? ((known.symbols ?? 0) * known.seen + symbols * count) / (known.seen + seen) : known.symbols,
    });
  }
  // What was measured when the models were trained is there from the start.
  function stored() {
    measured.clear();
    for (const model of state.all)
      for (const [point, value] of Object.entries(model.scores)) {
        const at = point === "validation" ? state.tasks.get(model.task)?.trained : Number(point.match(/^length=(\d+)$/)?.[1]);
        if (at && model.metric === "exact match") add(model.id, at, model.tested, Number(value), null);
      }
  }

  let curves = null;
  let titles = "";
  function drawBreaks() {
    const shown = asked().filter((id) => measured.get(id)?.size);
    const task = state.tasks.get(state.task);
    breaks.hidden = !task?.lengths || !asked().length;
    if (breaks.hidden) return;
    const curve = (id, key) => [...(measured.get(id) ?? new Map())].sort(([a], [b]) => a - b).filter(([, known]) => known[key] !== null).map(([at, known]) => [at, 100 * known[key]]);
    const names = asked().map((id) => state.all.find((model) => model.id === id)?.title.split(/[:,]/)[0] ?? id);
    if (!curves || titles !== names.join()) {
      curves?.close();
      titles = names.join();
      curves = chart(picture, {
        series: names.flatMap((name, look) => [{ label: `${name}: whole answers`, look }, { label: `${name}: single ${noun()}`, look, thin: true }]),
        x: "length", y: "% right", logX: true, range: [-4, 104], points: true, ticksX: [5, 10, 20, 50, 100, 200, 500, 1000].filter((tick) => tick <= task.longest),
      });
    }
    curves.show(align([[5, null], [task.longest, null]], ...asked().flatMap((id) => [curve(id, "exact"), curve(id, "symbols")])).filter((_, column) => column !== 1));
    const seen = shown.flatMap((id) => [...measured.get(id).values()]).reduce((sum, known) => sum + known.seen, 0);
    setText(trained, `Trained on lengths up to ${task.trained}. Dragging the length adds samples${seen ? `: ${number(seen)} drawn so far; thin lines and small dots are their single ${noun()}` : ""}. One seed of each model, no verdict.`);
  }
  signal.addEventListener("abort", () => { curves?.close(); sweep.on = false; });

  const look = (answer) => attention(maps, asked().map((id) => state.all.find((model) => model.id === id)), answer, asking.signal);

  get("/api/models", [], { signal }).then(({ models: all, tasks: known }) => {
    state.all = all;
    known.forEach((task) => state.tasks.set(task.name, task));
    const there = new Set(all.map((model) => model.task));
    const named = (played) => known.filter((task) => there.has(task.name) === played).map((task) => [task.name, task.name]);
    offer(tasks, [...named(true), { group: "exact answers only", options: named(false) }], "addition");
    state.task = tasks.value;
    stored();
    choices();
    typed();
  }).catch((error) => { if (error.name !== "AbortError") { setText(message, errorText(error)); message.hidden = false; } });
}
