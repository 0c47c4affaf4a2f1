// An answer place by place under the exact one, in lines as long as the page is wide.

import { drawn, fill, h } from "./dom.js";

const GROUP = 10;
const CHARACTER = 9.7; // pixels of a digit in the font of .digits
const LABEL = 86;

// rows: [{name, symbols, wrong: [places] | undefined, kind}]; symbols most significant first
export function digits(rows) {
  const width = Math.max(...rows.map((row) => row.symbols.length));
  const padded = rows.map((row) => {
    const missing = width - row.symbols.length;
    return { ...row, symbols: [...Array(missing).fill(""), ...row.symbols], wrong: new Set((row.wrong ?? []).map((place) => place + missing)) };
  });
  const first = firstUsed(padded, width);
  const place = h("div", { class: "digits" });
  const words = padded.some((row) => row.symbols.some((symbol) => symbol.length > 1));
  let fits = 0;

  function draw() {
    const room = Math.floor((place.clientWidth - LABEL) / CHARACTER);
    const now = words ? Math.max(1, Math.floor(room / 8)) : Math.max(1, Math.floor((room + 1) / (GROUP + 1))) * GROUP;
    if (!place.clientWidth || now === fits) return;
    fits = now;
    const lines = [];
    for (let start = first; start < width; ) {
      // Lines end where a power of the group ends, so that groups count from the right as people count digits.
      const end = words ? Math.min(width, start + fits) : Math.min(width, start + fits - ((width - start) % GROUP ? GROUP - ((width - start) % GROUP) : 0));
      lines.push(line(padded, start, Math.max(end, start + 1), width, words));
      start = Math.max(end, start + 1);
    }
    fill(place, lines);
  }
  new ResizeObserver(() => drawn(place, "the places", draw)).observe(place);
  return place;
}

function firstUsed(rows, width) {
  let first = 0;
  while (first < width - 1 && rows.every((row) => row.symbols[first] === "")) first++;
  return first;
}

function line(rows, start, end, width, words) {
  const long = width - start > 40;
  return h("div", { class: "line" },
    long ? h("div", { class: "place soft small" }, `from place ${width - start}`) : null,
    rows.map((row) => h("div", { class: `digit-row ${row.kind}` },
      h("span", { class: "name" }, row.name),
      h("span", { class: "symbols" }, written(row, start, end, width, words)))));
}

// Text with marks around what is wrong; neighbouring symbols of one kind are one node.
function written(row, start, end, width, words) {
  const parts = [];
  let text = "";
  let bad = false;
  const close = () => {
    if (text) parts.push(bad ? h("mark", {}, text) : text);
    text = "";
  };
  for (let place = start; place < end; place++) {
    const wrong = row.wrong.has(place);
    if (wrong !== bad) { close(); bad = wrong; }
    text += words ? row.symbols[place].padStart(7) : row.symbols[place] || (wrong ? "\u00b7" : " ");
    const gap = words || ((width - place - 1) % GROUP === 0 && place + 1 < end);
    if (gap) { close(); parts.push(" "); }
  }
  close();
  return parts;
}
