// The relation editor: controls on one side, the classes they make on the other.

import { get, post, errorText } from "./api.js";
import { field, fill, h, select, setText, table } from "./dom.js";
import { number, plural, toml } from "./format.js";
import { grid } from "./grid.js";

const WAIT = 120;
const START = { task: "addition", length: 5, fields: ["first", "second"], back: 4, ahead: 0, uniform: [], rest: "nothing" };

export function relations(place, rest, signal) {
  const design = { ...START };
  const known = new Map();
  let asking = null;
  let timer = null;

  const controls = h("form", { class: "panel controls", onsubmit: (event) => event.preventDefault() });
  const result = h("section", { class: "panel", "aria-label": "Classes", "aria-live": "polite" });
  const message = h("p", { class: "wrong", role: "alert", hidden: true });
  fill(place, h("h1", {}, "Relations"),
    h("p", { class: "lead" }, "A relation says which pairs of tokens attend, and which of them share parameters. Pairs of one colour are one class."),
    h("div", { class: "columns editor" }, controls, h("div", {}, message, result)));

  const later = () => { clearTimeout(timer); timer = setTimeout(ask, WAIT); };

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    signal.addEventListener("abort", () => asking.abort(), { once: true });
    try {
      show(await post("/api/relation", design, { signal: asking.signal }));
      message.hidden = true;
      result.hidden = false;
    } catch (error) {
      if (error.name === "AbortError") return;
      setText(message, errorText(error));
      message.hidden = false;
      result.hidden = true;
    }
  }

  function boxes(legend, hint, key) {
    const fields = known.get(design.task).fields;
    return h("fieldset", {}, h("legend", {}, legend), h("p", { class: "soft small" }, hint), fields.map((name) => {
      const box = h("input", { type: "checkbox", name: key, value: name });
      box.checked = design[key].includes(name);
      box.addEventListener("change", () => {
        design[key] = fields.filter((each) => (each === name ? box.checked : design[key].includes(each)));
        later();
      });
      return h("label", { class: "choice" }, box, ` ${name}`);
    }));
  }

  function amount(key, label, low, high) {
    const out = h("output", {}, String(design[key] ?? ""));
    const slider = h("input", { type: "range", min: low, max: high, value: design[key] ?? low, "data-key": key });
    slider.addEventListener("input", () => { design[key] = Number(slider.value); setText(out, slider.value); later(); });
    slider.disabled = design[key] === null;
    return { slider, element: h("div", { class: "amount" }, field(label, slider), out) };
  }

  function drawControls() {
    const task = known.get(design.task);
    const back = amount("back", "Places back", 0, 12);
    const ahead = amount("ahead", "Places ahead", 0, 12);
    const windowed = h("input", { type: "checkbox", name: "windowed" });
    windowed.checked = design.back !== null;
    ahead.slider.disabled = design.back === null;
    windowed.addEventListener("change", () => {
      design.back = windowed.checked ? Number(back.slider.value) : null;
      back.slider.disabled = ahead.slider.disabled = !windowed.checked;
      later();
    });
    fill(controls,
      field("Task", select([...known.keys()].map((name) => [name, name]), design.task, (name) => {
        const { fields, trained } = known.get(name);
        Object.assign(design, START, { task: name, fields: [...fields], length: Math.min(trained, 8), uniform: [], rest: "itself" });
        drawControls();
        later();
      })),
      amount("length", "Length", 1, Math.max(1, Math.min(20, task.longest))).element,
      boxes("Related by place", "Class: both fields and the difference of ordinates.", "fields"),
      h("fieldset", {}, h("legend", {}, "Window"), h("label", { class: "choice" }, windowed, " only so many places away"), back.element, ahead.element),
      boxes("Uniform", "Class: the key's own place, whatever looks at it.", "uniform"),
      field("All other pairs", select([["nothing", "do not attend"], ["itself", "only a token itself"], ["everywhere", "attend, without a class"], ["relative", "by distance in the line"]], design.rest, (value) => { design.rest = value; later(); })));
  }

  function show(found) {
    const tokens = found.tokens;
    const plain = found.classes.length;
    const hue = (index) => `hsl(${(index * 137.508) % 360} 62% ${[46, 58, 38][index % 3]}%)`;
    const counts = Array(plain + 1).fill(0);
    found.matrix.forEach((row) => row.forEach((label) => { if (label >= 0) counts[label]++; }));
    const swatch = (index) => { const mark = h("span", { class: "swatch" }); mark.style.backgroundColor = hue(index); return mark; };
    fill(result,
      h("p", { class: "mono wrap", id: "relation-text" }, found.text),
      h("dl", { class: "numbers" },
        [["classes", number(plain), "class-count"], ["pairs that attend", `${number(found.attended)} of ${number(tokens.length ** 2)}`, "pair-count"],
          ["parameters of the classes", number(found.table), "class-parameters"], [`parameters of the model (${found.model})`, number(found.parameters), "model-parameters"],
          ["further on", found.beyond, "beyond"]]
          .flatMap(([name, value, id]) => [h("dt", {}, name), h("dd", { id }, value)])),
      grid({
        rows: tokens, columns: tokens, label: "Class matrix",
        paint: (context, query, key, x, y, size) => {
          const label = found.matrix[query][key];
          if (label < 0) return;
          context.fillStyle = label === plain ? getComputedStyle(document.documentElement).getPropertyValue("--soft") : hue(label);
          const inset = label === plain ? size / 3 : 0;
          context.fillRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
        },
        describe: (query, key) => {
          const label = found.matrix[query][key];
          const what = label < 0 ? "does not attend" : label === plain ? "attends, without a class" : found.classes[label];
          return `${tokens[query]} to ${tokens[key]}: ${what}`;
        },
      }),
      h("details", {}, h("summary", {}, plural(plain, "class").replace("classs", "classes")),
        table(["class", "pairs"], found.classes.map((name, index) => [h("span", {}, swatch(index), ` ${name}`), number(counts[index])]), "plain")),
      h("details", {}, h("summary", {}, "In a recipe"), h("pre", {}, `[model]\nattention = "content-class"\nencoding = ${toml({ kind: "pairwise", relation: found.recipe })}`)));
  }

  get("/api/models", [], { signal }).then(({ tasks }) => {
    tasks.filter((task) => task.lengths).forEach((task) => known.set(task.name, task));
    drawControls();
    return ask();
  }).catch((error) => { if (error.name !== "AbortError") { setText(message, errorText(error)); message.hidden = false; } });
}
