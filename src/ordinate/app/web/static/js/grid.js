// A grid of cells with labelled rows and columns, readable with the mouse and with the arrow keys.

import { drawn, h, setText } from "./dom.js";

const LABELS = 12; // pixels that a label needs

export function grid({ rows, columns, paint, describe, label, largest = 22 }) {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": `${label}. Arrow keys move, the line below tells the cell.` });
  const readout = h("p", { class: "readout", "aria-live": "polite" }, "Point at a cell, or move with the arrow keys.");
  const place = h("div", { class: "grid" }, canvas, readout);
  let at = null;
  let size = 0;
  let left = 0;
  let top = 0;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const every = () => Math.max(1, Math.ceil(LABELS / size));

  function draw() {
    const wide = place.clientWidth;
    if (!wide) return;
    const context = canvas.getContext("2d");
    context.font = "11px system-ui";
    const widest = (labels) => Math.ceil(Math.max(...labels.map((text) => context.measureText(text).width))) + 8;
    left = Math.min(widest(rows), 90);
    top = Math.min(widest(columns), 90);
    size = Math.max(3, Math.min(largest, Math.floor((wide - left - 4) / columns.length)));
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [left + size * columns.length + 2, top + size * rows.length + 2];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    context.font = "11px system-ui";
    context.fillStyle = style("--soft");
    context.textBaseline = "middle";
    context.textAlign = "right";
    rows.forEach((text, row) => row % every() || context.fillText(text, left - 5, top + (row + 0.5) * size, left - 6));
    context.textAlign = "left";
    columns.forEach((text, column) => {
      if (column % every()) return;
      context.save();
      context.translate(left + (column + 0.5) * size, top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(text, 0, 0, top - 6);
      context.restore();
    });
    const gap = size >= 9 ? 1 : 0;
    for (let row = 0; row < rows.length; row++)
      for (let column = 0; column < columns.length; column++) {
        context.fillStyle = style("--cell");
        context.fillRect(left + column * size, top + row * size, size - gap, size - gap);
        paint(context, row, column, left + column * size, top + row * size, size - gap);
      }
    if (at) {
      context.strokeStyle = style("--ink");
      context.lineWidth = 2;
      context.strokeRect(left + at[1] * size, top + at[0] * size, size - gap, size - gap);
    }
  }

  function move(row, column) {
    at = [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(columns.length - 1, column))];
    setText(readout, describe(...at));
    draw();
  }

  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / size);
    const row = Math.floor((event.clientY - box.top - top) / size);
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    if (!at || at[0] !== row || at[1] !== column) move(row, column);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    move((at?.[0] ?? 0) + (at ? step[0] : 0), (at?.[1] ?? 0) + (at ? step[1] : 0));
  });
  new ResizeObserver(() => drawn(place, label, draw)).observe(place);
  return place;
}
