// Curves: uPlot with this page's colours, as wide as the place it is in.

import { drawn, fill } from "./dom.js";
import { number } from "./format.js";

const uPlot = window.uPlot;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const LOOKS = [
  { colour: "--first", dash: [], size: 6 },
  { colour: "--second", dash: [8, 5], size: 6 },
];

const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat(); // there is no half step
const FURTHEST = 20; // the power of ten up to which uPlot can count

// Whole powers of ten around the values of a logarithmic axis: from elsewhere uPlot may never arrive at its last tick.
export function decades(low, high) {
  if (low === null) return [0.1, 1];
  const near = (power) => Math.max(-FURTHEST, Math.min(FURTHEST, power));
  const first = Math.min(near(Math.floor(Math.log10(low))), FURTHEST - 1);
  const last = Math.max(near(Math.ceil(Math.log10(high))), first + 1);
  return [first, last].map((power) => Number(`1e${power}`));
}

// series: [{label, look: 0 | 1, thin: bool}]; axes: {x, y, logX, logY, range}
export function chart(place, { series, x, y, logX = false, logY = false, range = null, points = false, height = 260, ticksX = null }) {
  const controller = new AbortController();
  let plot = null;
  let data = [[], ...series.map(() => [])];

  const axis = (label, log, size, splits = null) => ({
    label, size, labelSize: 22, labelGap: 2, labelFont: "13px system-ui", font: "12px system-ui", stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1, ...filter(log) }, ticks: { stroke: colour("--line"), width: 1, ...filter(log) },
    ...(label === "step" ? { incrs: WHOLE } : {}),
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : number(tick))),
    ...(splits ? { splits: () => splits } : {}), ...filter(log),
  });
  const filter = (log) => (log ? { filter: (_, ticks) => readable(ticks) } : {});
  const bounds = range ?? (logY ? (_, low, high) => decades(low, high) : undefined);

  const options = () => ({
    width: Math.max(240, place.clientWidth), height,
    scales: { x: { time: false, distr: logX ? 3 : 1 }, y: { distr: logY ? 3 : 1, ...(bounds ? { range: bounds } : {}) } },
    axes: [axis(x, logX, 34, ticksX), axis(y, logY, 56)],
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    legend: { live: true, markers: { dash: (_, number) => (series[number - 1].thin ? "dotted" : series[number - 1].look ? "dashed" : "solid") } },
    series: [
      { label: x, value: (_, value) => (value === null ? "\u2013" : number(value)) },
      ...series.map(({ label, look, thin }) => ({
        label, stroke: colour(LOOKS[look].colour), width: thin ? 1.2 : 2.2, dash: thin ? [2, 4] : LOOKS[look].dash, spanGaps: true,
        points: { ...(points ? { show: true } : {}), size: thin ? 4 : LOOKS[look].size },
        value: (_, value) => (value === null || value === undefined ? "\u2013" : number(value)),
      })),
    ],
  });

  const tried = (change) => { if (!drawn(place, `the curve of ${y}`, change)) plot = null; };
  const change = (how) => tried(() => plot.batch(how)); // in a batch uPlot draws at once, and an error is met here
  const draw = () => tried(() => {
    plot?.destroy();
    fill(place);
    plot = new uPlot(options(), data.map(() => []), place);
    plot.batch(() => plot.setData(data));
  });
  let width = 0;
  const watch = new ResizeObserver(() => {
    if (place.clientWidth === width || !plot) return;
    width = place.clientWidth;
    change(() => plot.setSize({ width: Math.max(240, width), height }));
  });
  watch.observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal: controller.signal });

  return {
    show(columns) {
      data = columns.map((column, place) => (place && logY ? column.map((v) => (v > 0 ? v : null)) : column));
      place.dataset.points = String(data.slice(1).flat().filter((value) => value !== null).length);
      if (plot) change(() => plot.setData(data));
      else draw();
    },
    close() {
      watch.disconnect();
      controller.abort();
      plot?.destroy();
    },
  };
}

// Of the ticks of a logarithmic axis those that have room: powers of ten, between few of them also 2 and 5.
function readable(ticks) {
  const decades = Math.log10(ticks.at(-1) / ticks[0]);
  const kept = decades > 3 ? [1] : [1, 2, 5];
  return ticks.map((tick) => (kept.some((digit) => Math.abs(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9) - digit) < 1e-6) ? tick : null));
}

// Put several curves [[x, y], ...] on one x axis, as uPlot wants them.
export function align(...curves) {
  const places = [...new Set(curves.flatMap((curve) => curve.map(([x]) => x)))].sort((a, b) => a - b);
  const column = (curve) => {
    const at = new Map(curve);
    return places.map((x) => at.get(x) ?? null);
  };
  return [places, ...curves.map(column)];
}
