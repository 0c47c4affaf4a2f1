"""The look of a report: system fonts, light and dark, phone to desk to paper."""

from ordinate.lab.report.inline import palette

_CSS = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c1e21; --soft: #5a6068; --line: #d6dae0; --panel: #f5f6f8;
  --good: #00654b; --good-back: #ddf3eb; --bad: #9a3a00; --bad-back: #fde8da;
  --open: #5f4700; --open-back: #fdf3cf; --none: #4a5058; --none-back: #e9ebee;
  LIGHT
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15181c; --ink: #e8eaed; --soft: #a3abb5; --line: #363c44; --panel: #1e2227;
    --good: #7fe0bd; --good-back: #12382c; --bad: #ffb38a; --bad-back: #46230f;
    --open: #f5d97a; --open-back: #3d3210; --none: #c3c9d1; --none-back: #30363d;
    DARK
  }
  .drawing image, .drawing img { filter: url(#night); }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  -webkit-text-size-adjust: 100%;
}
h1 { font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .7rem; }
h3 { font-size: 1rem; line-height: 1.3; margin: 0 0 .5rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .15em; }
.group { border-top: 1px solid var(--line); padding-top: 1.6rem; }
.group section { margin-top: 1.5rem; }
.name { color: var(--soft); font-size: .875rem; margin: -.5rem 0 .6rem; }
.lead { color: var(--soft); font-size: 1.05rem; margin: 0; max-width: 48rem; }
section { margin-top: 2.2rem; }
p { margin: 0 0 .8rem; max-width: 48rem; overflow-wrap: anywhere; }
.tally { font-weight: 600; }
.small, figcaption, caption, .reason { color: var(--soft); font-size: .875rem; }
.small { margin-top: .6rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; }
th, td { border-bottom: 1px solid var(--line); }
th { font-size: .875rem; color: var(--soft); white-space: nowrap; }
th.number, td.number { text-align: right; padding-right: 1.25rem; }
td.number, .whole { white-space: nowrap; }
.reason { display: block; margin-top: .15rem; }
.failed { white-space: nowrap; font-weight: 600; }
.badge {
  display: inline-block; padding: .1rem .6rem; border: 1px solid currentColor; border-radius: 1rem;
  font-size: .875rem; font-weight: 600; white-space: nowrap;
  -webkit-print-color-adjust: exact; print-color-adjust: exact;
}
.supported { color: var(--good); background: var(--good-back); }
.contradicted { color: var(--bad); background: var(--bad-back); border-width: 2px; }
.inconclusive { color: var(--open); background: var(--open-back); border-style: dashed; }
.no-verdict { color: var(--none); background: var(--none-back); border-style: dotted; }
.scroll { overflow-x: auto; }
.tall { max-height: 34rem; overflow-y: auto; border-bottom: 1px solid var(--line); }
.tall thead th { position: sticky; top: 0; background: var(--page); }
figure { margin: 0; }
.plate {
  background: var(--c-ffffff); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
}
.plate:focus-visible, .scroll:focus-visible, pre:focus-visible { outline: 2px solid #4a8fe8; outline-offset: 2px; }
.drawing { position: relative; margin: 0 auto; }
.shapes { position: absolute; width: 0; height: 0; }
.drawing svg, .drawing img { display: block; width: 100%; height: auto; }
.drawing svg { fill: var(--c-000000); }
.drawing svg * { stroke-linejoin: round; stroke-linecap: butt; }
.enlarge {
  display: none; font: inherit; font-size: .875rem; padding: .2rem .7rem; color: inherit; background: var(--panel);
  border: 1px solid var(--soft); border-radius: .4rem;
}
.hint { color: var(--soft); font-size: .8125rem; margin: .4rem 0 0; }
.guide { position: absolute; border-left: 1px dashed var(--soft); pointer-events: none; }
.guide.cell { border: 2px solid var(--c-000000); outline: 1px solid var(--c-ffffff); }
.dot {
  position: absolute; width: 11px; height: 11px; margin: -5.5px 0 0 -5.5px; border-radius: 50%;
  border: 2px solid var(--mark); background: var(--c-ffffff); pointer-events: none;
}
.reading {
  position: fixed; z-index: 2; max-width: min(22rem, calc(100vw - 1rem)); padding: .5rem .7rem; pointer-events: none;
  background: var(--page); color: var(--ink); border: 1px solid var(--soft); border-radius: .4rem;
  box-shadow: 0 2px 10px rgb(0 0 0 / .25); font-size: .8125rem; line-height: 1.4; font-variant-numeric: tabular-nums;
}
.reading .where, .reading .median { font-weight: 600; }
.reading .y, .reading .seeds { color: var(--soft); }
.reading .line { margin-top: .3rem; }
.reading .label::before {
  content: ""; display: inline-block; width: .65rem; height: .65rem; margin-right: .4rem; border-radius: 50%;
  background: var(--mark);
}
figcaption { margin-top: .5rem; max-width: 48rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.5rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
pre {
  margin: 0; padding: .8rem 1rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--line);
  border-radius: .5rem; font: .9rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
}
@media (max-width: 760px) {
  body { padding: 1.25rem 1rem 3rem; }
  .drawing.large { min-width: var(--readable); }
  .enlarge { display: inline-block; margin: 0 0 .4rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards table, .cards tbody, .cards tr, .cards td { display: block; }
  .cards tr { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
  .cards tr + tr { margin-top: .8rem; }
  .cards td { border: 0; padding: .2rem 0; text-align: left; }
  .cards td.named { display: inline-block; margin-right: 1rem; font-size: .9375rem; }
  .cards td.named::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media print {
  :root {
    color-scheme: light; font-size: 10pt;
    --page: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb; --panel: #f5f6f8;
    --good: #00654b; --good-back: #ddf3eb; --bad: #9a3a00; --bad-back: #fde8da;
    --open: #5f4700; --open-back: #fdf3cf; --none: #4a5058; --none-back: #e9ebee;
    LIGHT
  }
  body { max-width: none; padding: 0; }
  .scroll { overflow: visible; max-height: none; }
  .scroll table { font-size: 7pt; }
  .scroll th { font-size: inherit; white-space: normal; }
  .cards table { font-size: 8.5pt; }
  .scroll th, .scroll td, .cards th, .cards td { padding-left: .2rem; padding-right: .2rem; }
  .plate { border: 0; padding: 0; }
  .drawing { min-width: 0; }
  .drawing image, .drawing img { filter: none; }
  .reading, .guide, .dot, .hint, .enlarge { display: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  tr, figure, pre { break-inside: avoid; }
  h2 { break-after: avoid; }
}
"""

CSS = _CSS.replace("LIGHT", palette(dark=False)).replace("DARK", palette(dark=True))
