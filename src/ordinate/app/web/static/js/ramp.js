// Weights as colours, from the ground to the ink: the square root of their share of the largest one.

import { h } from "./dom.js";

const STEPS = 64;

export const share = (weight) => `${(100 * weight).toFixed(1)} %`;

// Of a matrix: the colour of a weight, and a bar that tells which colour is how much.
export function ramp(rows) {
  const most = Math.max(...rows.flat().map((weight) => Math.abs(weight) || 0)) || 1;
  const [red, green, blue] = getComputedStyle(document.documentElement).getPropertyValue("--heat").trim().split(/\s+/);
  const colour = (weight) => `rgba(${red}, ${green}, ${blue}, ${Math.sqrt((Math.abs(weight) || 0) / most)})`;
  return { colour, bar: () => bar(colour, most) };
}

function bar(colour, most) {
  const canvas = h("canvas", { width: STEPS, height: 1, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  for (let step = 0; step < STEPS; step++) {
    context.fillStyle = colour(most * (step / (STEPS - 1)) ** 2);
    context.fillRect(step, 0, 1, 1);
  }
  const ticks = [0, most / 4, most].map((weight) => h("span", {}, share(weight)));
  return h("div", { class: "ramp" }, canvas, h("div", { class: "ticks small soft" }, ticks));
}
