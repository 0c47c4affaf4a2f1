// Attention as grids: every layer and head small, the chosen one large.

import { post, errorText } from "./api.js";
import { drawn, field, fill, h, select } from "./dom.js";
import { grid } from "./grid.js";
import { ramp, share } from "./ramp.js";

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
      const again = () => drawn(body, "the attention", () => draw(body, found));
      again();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal });
    } catch (error) {
      if (error.name !== "AbortError") fill(body, h("p", { class: "wrong" }, errorText(error)));
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
    const { colour } = ramp(weights);
    weights.forEach((row, query) => row.forEach((weight, key) => { context.fillStyle = colour(weight); context.fillRect(key, query, 1, 1); }));
    const button = h("button", { type: "button", class: "map", "aria-pressed": "false", title: `layer ${number + 1}, head ${head + 1}`, "aria-label": `Layer ${number + 1}, head ${head + 1}`, onclick: () => choose(number, head) }, canvas);
    buttons.push([number, head, button]);
    small.append(button);
  }));
  const shares = (rows, values, label, said) => {
    const { colour, bar } = ramp(values);
    return [bar(), grid({
      rows, columns: names, label,
      paint: (context, row, column, x, y, size) => { context.fillStyle = colour(values[row][column]); context.fillRect(x, y, size, size); },
      describe: (row, column) => said(rows[row], names[column], share(values[row][column])),
    })];
  };
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
  fill(place, h("p", { class: "soft small" }, "Rows look, columns are looked at. Layers from top to bottom, heads from left to right, each in colours up to its own largest weight."), small, large, others);
  const [clearest] = buttons.toSorted(([l, m], [n, o]) => contrast(found.attention[n][o]) - contrast(found.attention[l][m]));
  choose(clearest[0], clearest[1]);
}

// Largest where every token looks at one other only, smallest where all look at all alike.
const contrast = (rows) => rows.flat().reduce((sum, weight) => sum + weight ** 2, 0);
