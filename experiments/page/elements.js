// Making elements, and numbers as people read them. Text goes in as text nodes: nothing from a session is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fillElement(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== ""));
  return node;
}
const el = (tag, attributes, ...children) => fillElement(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fillElement(document.createElementNS(SVG, tag), attributes, children);

const there = value => value !== null && value !== undefined;

function seconds(value) {
  if (!there(value)) return "not measured";
  return shortSeconds(value).replace(" ", "\u00a0");
}
// As base/time_text.h: three digits in the unit that fits.
function shortSeconds(value) {
  if (value === 0) return "0 s";
  if (value >= 90) return `${(value / 60).toFixed(1)} min`;
  const [unit, name] = value >= 0.9995 ? [1, "s"] : value >= 0.9995e-3 ? [1e-3, "ms"] : value >= 0.9995e-6 ? [1e-6, "\u00b5s"] : [1e-9, "ns"];
  const x = value / unit;
  return `${x.toFixed(x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2)} ${name}`;
}
// Gains are kept as logs: of time before over time after.
function factor(log) {
  if (!there(log)) return "not measured";
  const f = Math.exp(log);
  return `${f >= 100 ? f.toFixed(0) : f >= 10 ? f.toFixed(1) : f >= 2 ? f.toFixed(2) : f.toFixed(3)}\u00d7`;
}
// What of a win is its algorithm and what its blocks: both factors, or that one of them was never measured.
const factorsOf = f => f.by ? `algorithm ${factor(f.algorithm)}, blocking ${factor(f.blocking)} (#${f.by})` : "of which blocking: not measured";
// Where a kernel came from, when this session's own search did not write it.
const originOf = e => e.origin ? `from outside (${e.origin})` : "here";
const interval = gain => `${factor(gain.lo)} to ${factor(gain.hi)}`;
const percent = (share, digits = 1) => there(share) ? `${(share * 100).toFixed(digits)}%` : "";
const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const sum = (rows, value) => rows.reduce((total, row) => total + (value(row) || 0), 0);

// columns: [{title, cell(row), number, wide}]; the first column heads its row.
function table(caption, columns, rows) {
  const kind = c => [c.number && "number", c.wide && "wide", c.text && "text"].filter(Boolean).join(" ") || null;
  return el("div", {class: "scroll"}, el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, columns.map(c => el("th", {scope: "col", class: kind(c)}, c.title)))),
    el("tbody", {}, rows.map(row => el("tr", {}, columns.map((c, i) =>
      i === 0 ? el("th", {scope: "row", class: kind(c)}, c.cell(row)) : el("td", {class: kind(c)}, c.cell(row))))))));
}
const folded = (title, ...children) => el("details", {}, el("summary", {}, title), ...children);
const empty = text => el("p", {class: "empty"}, text);

// What became of a trial, by shape and by colour. `path` lies in a square from -1 to 1, as Vega's shapes do.
const CROSS = "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8", CIRCLE = "M0.8,0A0.8,0.8,0,1,1,-0.8,0A0.8,0.8,0,1,1,0.8,0Z";
const DIAMOND = "M0,-1L1,0L0,1L-1,0Z", DOT = "M0.45,0A0.45,0.45,0,1,1,-0.45,0A0.45,0.45,0,1,1,0.45,0Z";
const failure = {path: CROSS, fill: "none", stroke: "var(--bad)", failed: true};
const OUTCOMES = {
  "kept": {path: CIRCLE, fill: "var(--accent)", stroke: "var(--accent)", means: "proven faster, applied"},
  "reverted": {path: DOT, fill: "var(--quiet)", stroke: "var(--quiet)", means: "works, is not faster"},
  "inconclusive": {path: CIRCLE, fill: "var(--paper)", stroke: "var(--muted)", means: "looked faster, was not proven"},
  "wrong": {...failure, means: "an output is outside its bound"},
  "mistrusted": {...failure, means: "its conduct proves nothing"},
  "crashed": {...failure, means: "died"},
  "timed-out": {...failure, means: "killed by the watchdog"},
  "build-failed": {...failure, means: "did not compile"},
};
const glyph = o => svg("svg", {width: 12, height: 12, viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true"},
  svg("path", {d: o.path, fill: o.fill, stroke: o.stroke, "stroke-width": 0.28}));
