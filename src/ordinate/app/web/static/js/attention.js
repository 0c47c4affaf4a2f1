// Attention as grids: every layer and head small, the chosen one large.

import { post, told } from "./api.js";
import { drawn, field, fill, h, select } from "./dom.js";
import { grid } from "./grid.js";

const MOST = 64;

export async function attention(place, models, answer, signal) {
  const heading = h("h2", {}, "Attention");
  const usable = models.filter(Boolean);
  if (!usable.length) return void fill(place, heading, h("p", { class: "soft" }, "Choose a model to see what it looks at."));
  if (answer.tokens > MOST)
    return void fill(place, heading, h("p", { class: "soft" }, `Drawn for at most ${MOST} tokens; this input has ${answer.tokens}. Type a shorter one, or drag the length back.`));
  const body = h("div", {}, h("p", { class: "soft" }, "Computing\u2026"));
  let chosen = usable.find((model) => model.id === place.dataset.model) ?? usable[0];
  const which = select(usable.map((model) => [model.id, model.title]), chosen.id, (id) => {
    place.dataset.model = id;
    chosen = usable.find((model) => model.id === id);
    show();
  });
  fill(place, heading, field("Model", which), body);
  async function show() {
    try {
      const found = await post("/api/attention", { model: chosen.id, text: answer.input }, { signal });
      drawn(body, "the attention", () => draw(body, found));
    } catch (error) {
      if (error.name !== "AbortError") fill(body, h("p", { class: "wrong" }, told(error)));
    }
  }
  await show();
}

function draw(place, found) {
  const names = found.tokens.map((token) => token.label);
  const small = h("div", { class: "small-maps" });
  const large = h("div", {});
  const buttons = [];
  small.style.setProperty("--heads", String(found.attention[0].length));
  found.attention.forEach((layer, number) => layer.forEach((weights, head) => {
    const canvas = h("canvas", { width: names.length, height: names.length });
    const context = canvas.getContext("2d");
    weights.forEach((row, query) => row.forEach((weight, key) => { context.fillStyle = shade(weight); context.fillRect(key, query, 1, 1); }));
    const button = h("button", { type: "button", class: "map", "aria-pressed": "false", title: `layer ${number + 1}, head ${head + 1}`, "aria-label": `Layer ${number + 1}, head ${head + 1}`, onclick: () => choose(number, head) }, canvas);
    buttons.push([number, head, button]);
    small.append(button);
  }));
  const shares = (rows, values, label, said) => grid({
    rows, columns: names, label,
    paint: (context, row, column, x, y, size) => { context.fillStyle = shade(values[row][column]); context.fillRect(x, y, size, size); },
    describe: (row, column) => said(rows[row], names[column], `${(100 * values[row][column]).toFixed(1)} %`),
  });
  const outputs = found.outputs.map((output) => `${output.answer} ${found.tokens[output.token].field} ${found.tokens[output.token].ordinate}`);
  const others = h("details", {}, h("summary", {}, "Which input symbols each output used"),
    h("h3", {}, "Effect: changing a symbol changes the output"),
    shares(outputs, found.effect, "Effect of every input symbol", (output, token, share) => `${output} changes with ${token}: ${share}`),
    h("h3", {}, "Rollout: what attention alone suggests"),
    shares(outputs, found.rollout, "Rollout of attention", (output, token, share) => `${output} reaches ${token}: ${share}`));
  function choose(layer, head) {
    buttons.forEach(([l, m, button]) => button.setAttribute("aria-pressed", String(l === layer && m === head)));
    fill(large, h("h3", {}, `Layer ${layer + 1}, head ${head + 1}`),
      shares(names, found.attention[layer][head], `Attention of layer ${layer + 1}, head ${head + 1}`, (query, key, share) => `${query} looks at ${key}: ${share}`));
  }
  fill(place, h("p", { class: "soft small" }, "Rows look, columns are looked at. Layers from top to bottom, heads from left to right."), small, large, others);
  choose(0, 0);
}

function shade(weight) {
  const [red, green, blue] = getComputedStyle(document.documentElement).getPropertyValue("--heat").trim().split(/\s+/);
  return `rgba(${red}, ${green}, ${blue}, ${Math.min(1, Math.max(0, Number(weight)))})`;
}
