// Vega plots. Colours are the page's own variables, so that dark mode and print need no second drawing; widths follow the
// window. A plot is one image to a screen reader: its label says what it shows, the table beside it has the numbers.

const PLOTS = [];
const AXIS = {domainColor: "var(--line)", tickColor: "var(--line)", gridColor: "var(--line)", labelColor: "var(--muted)", titleColor: "var(--muted)",
              labelFont: "system-ui, sans-serif", titleFont: "system-ui, sans-serif", labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal",
              titlePadding: 8, gridOpacity: 0.7};

// spec(width) makes the Vega specification. clicked(datum) is optional.
function plot(parent, label, spec, clicked) {
  const box = el("div", {class: "plot", role: "img", "aria-label": label});
  parent.append(box);
  const drawing = {width: 0, draw() {
    const width = box.clientWidth;
    if (width === this.width || width === 0) return;
    this.width = width;
    if (this.view) this.view.finalize();
    box.textContent = "";
    const common = {$schema: "https://vega.github.io/schema/vega/v5.json", width, padding: 2, autosize: {type: "fit", contains: "padding"}, config: {axis: AXIS, aria: false}};
    this.view = new vega.View(vega.parse({...common, ...spec(width)}), {renderer: "svg", container: box, hover: false});
    this.view.run();
    if (clicked) this.view.addEventListener("click", (event, item) => item && item.datum && clicked(item.datum));
  }};
  PLOTS.push(drawing);
  drawing.draw();
}
addEventListener("resize", () => PLOTS.forEach(p => p.draw()));

const key = entries => el("ul", {class: "key"}, entries.map(([icon, text]) => el("li", {}, icon, text)));
const lineIcon = () => svg("svg", {width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true"},
  svg("path", {d: "M0,6H18", stroke: "var(--accent)", "stroke-width": 2}));
const GATE = {path: DIAMOND, fill: "var(--paper)", stroke: "var(--ink)"};
const say = text => ({signal: text});

// From just below the slowest trial that matters to just above the best: one hopeless candidate must not flatten the rest.
function speedDomain(points, frontier, gates) {
  const proven = [0, ...frontier.flatMap(p => [p.lo, p.hi]), ...gates.flatMap(g => [g.lo, g.hi])];
  const top = Math.max(...proven), logs = points.map(p => p.model_log).sort((a, b) => a - b);
  const low = logs.length ? logs[Math.floor(logs.length * 0.02)] : 0, high = logs.length ? logs[logs.length - 1] : 0;
  return [Math.min(...proven, Math.max(low, -0.25)) - 0.02, Math.max(top + 0.03, Math.min(high, top + 0.2) + 0.02)].map(Math.exp);
}

function drawProgress(data) {
  const parent = document.getElementById("progress");
  const all = data.experiments;
  if (!all.length) return parent.append(empty("No experiment was run yet."));
  // Below the axis: failures by outcome, and what was dropped before it was timed (the same code as another, say).
  const lane = e => OUTCOMES[e.outcome].failed ? e.outcome : there(e.model_log) ? "" : "not timed";
  const timed = all.filter(e => !lane(e)), below = all.filter(lane), failed = all.filter(e => OUTCOMES[e.outcome].failed);
  const last = all[all.length - 1].id;
  const lanes = [...Object.keys(OUTCOMES), "not timed"].filter(name => below.some(e => lane(e) === name));
  const steps = [{id: 0, log: 0, lo: 0, hi: 0}, ...data.frontier];
  const gates = data.ledger.filter(e => e.kept).map(e => ({id: Math.max(...e.experiments), gate: e.id, ...e.total}));
  const domain = speedDomain(timed, data.frontier, gates);
  const clamp = log => Math.min(domain[1], Math.max(domain[0], Math.exp(log)));
  const point = e => ({id: e.id, lane: lane(e), y: there(e.model_log) ? clamp(e.model_log) : 0, outcome: e.outcome, ...OUTCOMES[e.outcome],
                       tip: `#${e.id} ${e.rewrite}, ${e.outcome}${there(e.log) ? `: window ${factor(e.log)} (${e.from})` : ""}\n${e.window}${e.reason ? `\n${e.reason}` : ""}`});
  const order = e => Object.keys(OUTCOMES).indexOf(e.outcome);
  const end = steps[steps.length - 1];

  const shown = name => all.some(e => e.outcome === name);
  parent.append(key([
    [lineIcon(), "confirmed frontier, 95% band"],
    ...(gates.length ? [[glyph(GATE), "whole model, measured at a gate"]] : []),
    ...Object.keys(OUTCOMES).filter(n => shown(n) && !OUTCOMES[n].failed).map(n => [glyph(OUTCOMES[n]), `${n}: ${OUTCOMES[n].means}`]),
    ...(failed.length ? [[glyph(failure), `failed: ${failed.length.toLocaleString("en")}`]] : []),
  ]));
  const plain = 300, laneHeight = 18, height = plain + (lanes.length ? 12 + laneHeight * lanes.length : 0);
  const label = `Scatter plot of ${count(all.length, "experiment")} by number and by the speed of the whole model. The confirmed frontier rises from 1 to ${factor(end.log)}; ${count(failed.length, "experiment")} failed.`;
  plot(parent, label, width => ({
    height: height + 50,
    data: [
      {name: "trials", values: timed.slice().sort((a, b) => order(b) - order(a)).map(point)},
      {name: "below", values: below.map(point)},
      {name: "frontier", values: [...steps, {...end, id: last}].map(p => ({id: p.id, y: clamp(p.log), lo: clamp(p.lo), hi: clamp(p.hi)}))},
      {name: "gates", values: gates.map(g => ({id: g.id, y: clamp(g.log), lo: clamp(g.lo), hi: clamp(g.hi), tip: `ledger ${g.gate}: ${factor(g.log)} so far, ${interval(g)}`}))},
    ],
    scales: [
      {name: "x", type: "linear", domain: [0, last], range: "width", nice: false},
      {name: "y", type: "linear", zero: false, domain, range: [{signal: `height - ${height - plain}`}, 0], nice: false},
      {name: "lane", type: "band", domain: lanes, range: [{signal: `height - ${laneHeight * lanes.length}`}, {signal: "height"}]},
    ],
    axes: [
      {scale: "y", orient: "left", grid: true, domain: false, ticks: false, tickCount: 6, title: "times the starter plan's speed", format: ".3~r", labelPadding: 6},
      {scale: "x", orient: "bottom", ticks: false, tickCount: Math.max(3, Math.floor(width / 90)), title: "experiment", labelPadding: 6, format: "~d"},
      ...(lanes.length ? [{scale: "lane", orient: "left", domain: false, ticks: false, labelPadding: 6}] : []),
    ],
    marks: [
      {type: "area", from: {data: "frontier"}, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "y", field: "lo"}, y2: {scale: "y", field: "hi"},
        interpolate: {value: "step-after"}, fill: {value: "var(--accent-soft)"}, fillOpacity: {value: 0.45}}}},
      {type: "symbol", from: {data: "trials"}, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "y", field: "y"}, shape: {field: "path"}, size: {value: 46},
        fill: {field: "fill"}, stroke: {field: "stroke"}, strokeWidth: {value: 1}, cursor: {value: "pointer"}, tooltip: say("datum.tip")}}},
      {type: "line", from: {data: "frontier"}, interactive: false, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "y", field: "y"},
        interpolate: {value: "step-after"}, stroke: {value: "var(--accent)"}, strokeWidth: {value: 2}}}},
      {type: "rule", from: {data: "gates"}, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "y", field: "lo"}, y2: {scale: "y", field: "hi"},
        stroke: {value: "var(--ink)"}, strokeWidth: {value: 1.5}}}},
      {type: "symbol", from: {data: "gates"}, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "y", field: "y"}, shape: {value: DIAMOND}, size: {value: 90},
        fill: {value: "var(--paper)"}, stroke: {value: "var(--ink)"}, strokeWidth: {value: 1.5}, tooltip: say("datum.tip")}}},
      {type: "symbol", from: {data: "below"}, encode: {enter: {x: {scale: "x", field: "id"}, y: {scale: "lane", field: "lane", band: 0.5}, shape: {field: "path"}, size: {value: 40},
        stroke: {field: "stroke"}, fill: {field: "fill"}, strokeWidth: {value: 1.2}, cursor: {value: "pointer"}, tooltip: say("datum.tip")}}},
    ],
  }), datum => OUTCOMES[datum.outcome] && showExperiment(datum.id));
  parent.append(el("p", {class: "note"}, "Points beyond the frame lie on its edge. A click on a point opens its row below."));
  if (data.frontier.length) parent.append(folded("The frontier as numbers", table("Speed of the whole model after each kept experiment, by its confirmation", [
    {title: "Experiment", cell: p => `#${p.id}`}, {title: "Speed", number: true, cell: p => factor(p.log)},
    {title: "95% interval", number: true, cell: interval}], data.frontier)));
}

function drawRoofline(data) {
  const parent = document.getElementById("roofline");
  const usable = profile => (profile ? profile.groups : []).filter(g => g.seconds > 0 && g.floor > 0);
  const same = !data.newest || data.newest.plan === data.starter.plan;
  const starter = same ? [] : usable(data.starter), newest = usable(data.newest);
  if (!newest.length) return parent.append(empty("No profile was taken yet."));
  const before = {path: CIRCLE, fill: "none", stroke: "var(--quiet)"}, after = {path: CIRCLE, fill: "var(--accent)", stroke: "var(--accent)"};
  const point = style => g => ({x: g.seconds * 1e3, y: Math.min(1.2, g.floor / g.seconds), ...style,
    tip: `${g.kind} ${g.shapes}, ${count(g.count, "step")}: ${seconds(g.seconds)}, floor ${seconds(g.floor)} (${percent(g.floor / g.seconds, 0)}), ${seconds(Math.max(0, g.seconds - g.floor))} above it`});
  const points = [...starter.map(point(before)), ...newest.map(point(after))];
  const xs = points.map(p => p.x), xDomain = [Math.min(...xs) / 1.4, Math.max(...xs) * 1.4];
  parent.append(key([...(same ? [] : [[glyph(before), "starter plan"]]), [glyph(after), same ? "starter plan, the only one profiled" : "plan profiled last"]]));
  plot(parent, `Scatter plot of ${count(newest.length, "group")} of steps: milliseconds a run against the share of the roofline floor in that time. The whole plan is at ${percent(data.newest.floor / data.newest.seconds, 0)}.`, width => ({
    height: 330,
    data: [{name: "points", values: points}],
    scales: [{name: "x", type: "log", domain: xDomain, range: "width"},
             {name: "y", type: "linear", domain: [0, Math.max(1, ...points.map(p => p.y))], range: "height"}],
    axes: [{scale: "x", orient: "bottom", title: "milliseconds a run, all steps of the group", tickCount: Math.max(3, Math.floor(width / 120)), format: "~g", ticks: false, labelPadding: 6, labelOverlap: true},
           {scale: "y", orient: "left", grid: true, domain: false, ticks: false, tickCount: 5, format: ".0%", title: "roofline floor / time taken", labelPadding: 6}],
    marks: [
      {type: "rule", encode: {enter: {x: {value: 0}, x2: {signal: "width"}, y: {scale: "y", value: 1}, stroke: {value: "var(--ink)"}, strokeDash: {value: [3, 3]}}}},
      {type: "text", encode: {enter: {x: {signal: "width"}, y: {scale: "y", value: 1}, dy: {value: 12}, align: {value: "right"}, text: {value: "roofline"}, fill: {value: "var(--muted)"}, fontSize: {value: 11}, font: {value: "system-ui, sans-serif"}}}},
      {type: "symbol", from: {data: "points"}, encode: {enter: {x: {scale: "x", field: "x"}, y: {scale: "y", field: "y"}, shape: {field: "path"}, size: {value: 70},
        fill: {field: "fill"}, stroke: {field: "stroke"}, fillOpacity: {value: 0.75}, strokeWidth: {value: 1.3}, tooltip: say("datum.tip")}}},
    ],
  }));
  const columns = [
    {title: "Group", cell: g => [g.kind, el("span", {class: "window"}, g.shapes)], text: true}, {title: "Steps", number: true, cell: g => g.count},
    {title: "Time", number: true, cell: g => seconds(g.seconds)}, {title: "Floor", number: true, cell: g => seconds(g.floor)},
    {title: "Of floor", number: true, cell: g => percent(g.floor / g.seconds, 0)},
    {title: "GFLOP/s", number: true, wide: true, cell: g => (g.flops / g.seconds / 1e9).toFixed(1)}, {title: "GB/s", number: true, wide: true, cell: g => (g.bytes / g.seconds / 1e9).toFixed(1)},
  ];
  parent.append(el("p", {class: "note"}, "A floor is made of ceilings measured apart; a group may beat it where caches hold what the floor fetches. More than 120% lies on the edge."),
    folded("All groups of the plan profiled last", table("Least work of the problem over the time taken in place", columns, newest.slice().sort((a, b) => b.seconds - a.seconds))));
}
