// The parts of the page by the word after #; one is shown at a time and stops when another begins.

import { fill, h } from "./dom.js";
import { compare } from "./compare.js";
import { playground } from "./playground.js";
import { relations } from "./relations.js";
import { runs } from "./runs.js";
import { verdicts } from "./verdicts.js";

const PARTS = { playground, runs, compare, relations, verdicts };
const main = document.getElementById("main");
let shown = null;
let ending = new AbortController();

function address() {
  try {
    return decodeURIComponent(location.hash.slice(1)).split("/");
  } catch {
    return [""];
  }
}

function show() {
  const [part, ...rest] = address();
  const name = Object.hasOwn(PARTS, part) ? part : "playground";
  document.querySelectorAll("nav a").forEach((link) => {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  if (shown?.name === name && shown.change) {
    shown.change(rest);
    return;
  }
  ending.abort();
  ending = new AbortController();
  document.title = `${name[0].toUpperCase()}${name.slice(1)} \u2013 Ordinate`;
  const place = h("div", { class: `part ${name}` });
  fill(main, place);
  window.scrollTo(0, 0);
  shown = { name, change: PARTS[name](place, rest, ending.signal) };
}

window.addEventListener("hashchange", show);
document.getElementById("skip").addEventListener("click", () => main.focus());
show();
