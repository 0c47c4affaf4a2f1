// Claims of the papers with what was measured of them: a paper folds, and a figure is a line that opens.

import { get, errorText } from "./api.js";
import { field, fill, h, select, setText } from "./dom.js";
import { number, plural } from "./format.js";

const SIGNS = { supported: "\u2713 supported", contradicted: "\u2717 contradicted", inconclusive: "? inconclusive", "no verdict": "\u2013 no verdict" };

export function verdicts(place, rest, signal) {
  const body = h("div", {});
  const tally = h("p", { class: "soft", role: "status" });
  let figures = [];
  const filter = select([["", "all verdicts"], ...Object.keys(SIGNS).map((name) => [name, name])], "", () => draw());
  fill(place, h("div", { class: "bar title" }, h("h1", {}, "Verdicts"), tally, field("Show", filter)), body);

  function draw() {
    const shown = figures.map((figure) => ({ ...figure, claims: figure.claims.filter((claim) => !filter.value || claim.verdict === filter.value) }))
      .filter((figure) => figure.claims.length || (!filter.value));
    const papers = Map.groupBy(shown, (figure) => figure.name.split("/")[0]);
    fill(body, shown.length ? [...papers].map(([paper, its]) => paperBlock(paper, its, Boolean(filter.value))) : h("div", { class: "empty" }, h("p", {}, "No claim has this verdict.")));
  }

  get("/api/verdicts", [], { signal }).then((found) => {
    figures = found.figures;
    const claims = figures.flatMap((figure) => figure.claims);
    const counts = Object.keys(SIGNS).map((name) => [name, claims.filter((claim) => claim.verdict === name).length]).filter(([, count]) => count);
    setText(tally, claims.length ? `${plural(claims.length, "claim")} of ${plural(figures.length, "figure")}: ${counts.map(([name, count]) => `${count} ${name}`).join(", ")}` : "");
    if (figures.length) return draw();
    fill(body, h("div", { class: "empty" }, h("p", {}, found.folder ? `No results in ${found.folder}.` : "No folder of results here."),
      h("p", { class: "soft" }, "Stored results come with the repository; your own are made by the first line and shown by the second:"),
      h("pre", {}, "ordinate reproduce beyond/addition-1000 --out reproductions\nordinate serve --results reproductions")));
  }).catch((error) => { if (error.name !== "AbortError") fill(body, h("p", { class: "wrong", role: "alert" }, errorText(error))); });
}

// The figures of one paper; those that were filtered for are open.
function paperBlock(paper, figures, opened) {
  const claims = figures.flatMap((figure) => figure.claims);
  return h("details", { class: "paper", open: true },
    h("summary", {}, h("h2", {}, paper), h("span", { class: "soft small" }, plural(figures.length, "figure")), tallies(claims)),
    figures.map((figure) => h("details", { class: "panel figure", open: opened },
      h("summary", {}, h("h3", {}, figure.name.slice(paper.length + 1)), figure.error ? h("span", { class: "badge broken" }, "broken") : tallies(figure.claims),
        figure.title ? h("span", { class: "soft small title" }, figure.title) : null),
      figureBlock(figure))));
}

// How many claims have each verdict, as badges.
function tallies(claims) {
  const counts = Object.keys(SIGNS).map((name) => [name, claims.filter((claim) => claim.verdict === name).length]).filter(([, count]) => count);
  return h("span", { class: "tallies" }, counts.length ? counts.map(([name, count]) =>
    h("span", { class: `badge ${name.replace(" ", "-")}`, role: "img", title: `${count} ${name}`, "aria-label": `${count} ${name}` }, `${SIGNS[name][0]} ${count}`))
    : h("span", { class: "soft small" }, "no claims"));
}

function figureBlock(figure) {
  if (figure.error) return h("p", { class: "wrong" }, `broken: ${figure.error}`);
  return h("div", { class: "body" },
    h("div", { class: "claims" },
      h("p", { class: "soft small" }, `scale ${figure.scale}`, figure.note ? ` \u00b7 ${figure.note}` : ""),
      figure.claims.length ? h("ul", {}, figure.claims.map(claimRow)) : h("p", { class: "soft" }, "No claims are judged by this figure."),
      h("p", { class: "mono small wrap soft" }, figure.command)),
    figure.picture ? h("a", { class: "picture", href: `/api/picture?figure=${encodeURIComponent(figure.name)}`, target: "_blank", rel: "noopener" },
      h("img", { src: `/api/picture?figure=${encodeURIComponent(figure.name)}`, alt: `Figure ${figure.name}`, loading: "lazy" })) : null);
}

function claimRow(claim) {
  const measured = claim.exact ? number(claim.estimate) : `${number(claim.estimate)} [${number(claim.low)}, ${number(claim.high)}]`;
  const facts = [`measured ${measured}`, `asked ${claim.asked}`, claim.published !== null && `published ${number(claim.published)}`,
    claim.exact ? "exact" : plural(claim.seeds, "seed"), claim.failed ? `${claim.failed} failed` : null].filter(Boolean);
  return h("li", {}, h("span", { class: `badge ${claim.verdict.replace(" ", "-")}` }, SIGNS[claim.verdict] ?? claim.verdict),
    h("div", {}, h("p", {}, claim.sentence), h("p", { class: "soft small" }, facts.join(" \u00b7 ")),
      claim.verdict === "supported" ? null : h("p", { class: "soft small" }, claim.reason)));
}
