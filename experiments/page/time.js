// Where the time of the model goes: before, after, and what Amdahl's law leaves.

const icon = kind => el("span", {class: `swatch ${kind}`, "aria-hidden": "true"});

// A bar a plan, each with its own time: the plan profiled last may have met a slower hour than the starter plan did.
function modelBar(starter, newest) {
  const same = newest.plan === starter.plan;
  const whole = Math.max(starter.seconds, newest.seconds), floor = Math.min(newest.floor, newest.seconds), left = newest.seconds - floor;
  const bar = (label, parts) => el("div", {class: "stack", role: "img", "aria-label": label},
    [...parts, ["rest", whole - sum(parts, p => p[1])]].filter(p => p[1] > 0).map(([name, time]) => el("span", {class: name, style: `flex: ${time / whole} 0 0`})));
  const name = same ? "starter plan" : "plan profiled last", change = starter.seconds - newest.seconds;
  return [
    el("h3", {}, "The whole model, by profile"),
    same ? null : bar(`Starter plan: ${seconds(starter.seconds)}.`, [["before", starter.seconds]]),
    bar(`${name[0].toUpperCase()}${name.slice(1)}: ${seconds(newest.seconds)}, of which floor ${seconds(floor)}, above the floor ${seconds(left)}.`, [["floor", floor], ["left", left]]),
    key([...(same ? [] : [[icon("before"), `starter plan ${seconds(starter.seconds)}`]]),
      [icon("floor"), `${name} ${seconds(newest.seconds)}: floor ${seconds(floor)}`], [icon("left"), `above the floor ${seconds(left)}`]]),
    el("p", {class: "note"}, `With every step at its roofline the model would run ${factor(Math.log(newest.seconds / newest.floor))} as fast as in the plan profiled last. `
      + (same || change >= 0 ? "" : `The plan profiled last took ${seconds(-change)} longer than the starter plan did in a profile of its own. `)
      + "Profiles are single passes of one process, taken at different times, and may differ from the headline's pairs."),
  ].filter(Boolean);
}

function byKind(starter, newest) {
  const kinds = new Map();
  const row = kind => kinds.get(kind) || kinds.set(kind, {kind, before: 0, after: 0, floor: 0}).get(kind);
  for (const g of starter.groups) row(g.kind).before += g.seconds;
  for (const g of newest.groups) { row(g.kind).after += g.seconds; row(g.kind).floor += g.floor; }
  return [...kinds.values()].sort((a, b) => Math.max(b.before, b.after) - Math.max(a.before, a.after));
}

function drawKinds(parent, starter, newest) {
  const rows = byKind(starter, newest);
  const bar = 11, band = 38;
  const bars = rows.flatMap(r => [
    {kind: r.kind, offset: 6, from: 0, to: r.before * 1e3, fill: "var(--quiet)", tip: `${r.kind} in the starter plan: ${seconds(r.before)}`},
    {kind: r.kind, offset: 6 + bar + 2, from: 0, to: Math.min(r.floor, r.after) * 1e3, fill: "var(--accent)", tip: `${r.kind} in the plan profiled last, floor: ${seconds(r.floor)}`},
    {kind: r.kind, offset: 6 + bar + 2, from: Math.min(r.floor, r.after) * 1e3, to: r.after * 1e3, fill: "var(--accent-soft)", tip: `${r.kind} in the plan profiled last: ${seconds(r.after)}, ${seconds(Math.max(0, r.after - r.floor))} above the floor`},
  ]);
  parent.append(el("h3", {}, "By kind of kernel"), key([
    [el("span", {class: "swatch", style: "background: var(--quiet)", "aria-hidden": "true"}), "starter plan"],
    [icon("floor"), "plan profiled last: floor"], [icon("left"), "above the floor"]]));
  plot(parent, `Bars of the time by kind of kernel, starter plan and plan profiled last: ${rows.slice(0, 6).map(r => `${r.kind} ${seconds(r.before)} to ${seconds(r.after)}`).join(", ")}.`, width => ({
    height: rows.length * band + 46,
    data: [{name: "bars", values: bars}],
    scales: [{name: "x", type: "linear", domain: [0, Math.max(...bars.map(b => b.to))], range: "width", nice: true},
             {name: "y", type: "band", domain: rows.map(r => r.kind), range: "height"}],
    axes: [{scale: "x", orient: "bottom", grid: true, domain: false, ticks: false, labelPadding: 6, tickCount: Math.max(3, Math.floor(width / 120)), title: "milliseconds a run"},
           {scale: "y", orient: "left", domain: false, ticks: false, labelPadding: 8, labelFontSize: 12, labelColor: "var(--ink)"}],
    marks: [{type: "rect", from: {data: "bars"}, encode: {enter: {y: {scale: "y", field: "kind", offset: {field: "offset"}}, height: {value: bar},
      x: {scale: "x", field: "from"}, x2: {scale: "x", field: "to"}, fill: {field: "fill"}, tooltip: say("datum.tip")}}}],
  }));
  parent.append(el("p", {class: "note"}, "Fusion moves time between kinds: a pointwise step that became an epilogue is counted with its product."),
    folded("By kind, as numbers", table("Time a run by kind of kernel", [
      {title: "Kind", cell: r => r.kind}, {title: "Starter plan", number: true, cell: r => r.before ? seconds(r.before) : "\u2013"},
      {title: "Profiled last", number: true, cell: r => r.after ? seconds(r.after) : "\u2013"}, {title: "Floor", number: true, cell: r => r.after ? seconds(r.floor) : "\u2013"}], rows)));
}

// Amdahl's law a row: what the model would gain if this group alone reached its floor.
function leftToWin(newest) {
  const model = sum(newest.groups, g => g.seconds);
  const rows = newest.groups.map(g => ({...g, above: Math.max(0, g.seconds - g.floor)})).sort((a, b) => b.above - a.above).slice(0, 10);
  const longest = Math.max(...rows.map(r => r.seconds));
  const meter = r => el("span", {class: "meter", "aria-hidden": "true"}, el("span", {class: "floor", style: `width: ${Math.min(r.floor, r.seconds) / longest * 100}%`}),
    el("span", {class: "left", style: `width: ${r.above / longest * 100}%`}));
  return [el("h3", {}, "What is left to win"), table("The ten groups of equal steps with most time above their floor, in the plan profiled last", [
    {title: "Group", text: true, cell: r => [r.kind, el("span", {class: "window"}, r.shapes)]}, {title: "Steps", number: true, wide: true, cell: r => r.count},
    {title: "Time, floor first", wide: true, cell: meter}, {title: "Time", number: true, cell: r => seconds(r.seconds)},
    {title: "Above floor", number: true, cell: r => seconds(r.above)}, {title: "Model at most", number: true, cell: r => factor(-Math.log1p(-r.above / model))}], rows)];
}

// A model tuned for several shapes: a run of each.
function shapes(rows) {
  return [el("h3", {}, "Shapes"), table("A run of each shape: sums of its steps in place", [
    {title: "Shape", text: true, cell: r => r.name}, {title: "Starter plan", number: true, cell: r => seconds(r.starter)},
    {title: "Profiled last", number: true, cell: r => seconds(r.kept)}, {title: "Faster", number: true, cell: r => factor(Math.log(r.starter / r.kept))},
    {title: "Floor", number: true, wide: true, cell: r => seconds(r.floor)},
    {title: "Padded to the next", number: true, wide: true, cell: r => r.padded ? `${r.padded.toFixed(2)} \u00d7 its time` : "\u2013"}], rows)];
}

function drawTime(data) {
  const parent = document.getElementById("time");
  if (!data.newest || !data.newest.groups.length) return parent.append(empty("No profile was taken yet."));
  parent.append(...modelBar(data.starter, data.newest));
  drawKinds(parent, data.starter, data.newest);
  if (data.shapes) parent.append(...shapes(data.shapes));
  parent.append(...leftToWin(data.newest));
}
