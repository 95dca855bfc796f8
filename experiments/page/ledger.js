// Predicted against measured, for the whole model.

function ledgerPlot(parent, ledger) {
  const band = 28;
  const logs = ledger.flatMap(e => [0, e.predicted, e.measured.lo, e.measured.hi, e.measured.log]).filter(there);
  const rows = ledger.map(e => ({row: `${e.id}`, timed: e.measured.pairs > 0, predicted: Math.exp(e.predicted), measured: Math.exp(e.measured.log), lo: Math.exp(e.measured.lo), hi: Math.exp(e.measured.hi),
    colour: e.kept ? "var(--accent)" : "var(--bad)", tip: `ledger ${e.id}: predicted ${factor(e.predicted)}, ${e.measured.pairs ? `measured ${factor(e.measured.log)} (${interval(e.measured)})` : "not measured"}, ${e.kept ? "kept" : "rolled back"}`}));
  parent.append(key([[glyph(GATE), "predicted"], [glyph(OUTCOMES.kept), "measured and kept, 95% interval"],
    ...(ledger.some(e => !e.kept) ? [[glyph({path: CIRCLE, fill: "var(--bad)", stroke: "var(--bad)"}), "rolled back"]] : [])]));
  plot(parent, `Predicted and measured gain of ${count(ledger.length, "ledger row")}; the table below has the numbers.`, width => ({
    height: rows.length * band + 46,
    data: [{name: "rows", values: rows}, {name: "timed", values: rows.filter(r => r.timed)}],
    scales: [{name: "x", type: "linear", zero: false, domain: [Math.exp(Math.min(...logs) - 0.01), Math.exp(Math.max(...logs) + 0.01)], range: "width"},
             {name: "y", type: "band", domain: rows.map(r => r.row), range: "height"}],
    axes: [{scale: "x", orient: "bottom", grid: true, domain: false, ticks: false, labelPadding: 6, tickCount: Math.max(3, Math.floor(width / 110)), format: ".3~r", title: "times as fast as before the row", labelOverlap: true},
           {scale: "y", orient: "left", domain: false, ticks: false, labelPadding: 8, title: "row"}],
    marks: [
      {type: "rule", from: {data: "timed"}, encode: {enter: {y: {scale: "y", field: "row", band: 0.5}, x: {scale: "x", field: "lo"}, x2: {scale: "x", field: "hi"}, stroke: {field: "colour"}, strokeWidth: {value: 3}}}},
      {type: "symbol", from: {data: "timed"}, encode: {enter: {y: {scale: "y", field: "row", band: 0.5}, x: {scale: "x", field: "measured"}, size: {value: 80}, fill: {field: "colour"}, tooltip: say("datum.tip")}}},
      {type: "symbol", from: {data: "rows"}, encode: {enter: {y: {scale: "y", field: "row", band: 0.5}, x: {scale: "x", field: "predicted"}, shape: {value: DIAMOND}, size: {value: 110}, fill: {value: "transparent"},
        stroke: {value: "var(--ink)"}, strokeWidth: {value: 1.5}, tooltip: say("datum.tip")}}},
    ],
  }));
}

function experimentLinks(ids) {
  return ids.flatMap((id, i) => [i ? " " : "", el("button", {class: "open", onclick: () => showExperiment(id), "aria-label": `show experiment ${id}`}, `#${id}`)]);
}

// What of each win with an algorithm of its own is the algorithm, and what the blocks.
const winFactors = (data, ids) => data.experiments.filter(e => e.factors && ids.includes(e.id)).map(e => el("span", {class: "window"}, `#${e.id}: ${factorsOf(e.factors)}`));
const winOrigins = (data, ids) => data.experiments.filter(e => e.origin && ids.includes(e.id)).map(e => el("span", {class: "window"}, `#${e.id}: ${originOf(e)}`));

function drawLedger(data) {
  const parent = document.getElementById("ledger");
  if (!data.ledger.length) return parent.append(empty("Nothing was gated yet."));
  ledgerPlot(parent, data.ledger);
  parent.append(table("Gain of the whole model, row by row", [
    {title: "Row", cell: e => e.id}, {title: "Experiments", cell: e => [experimentLinks(e.experiments), winFactors(data, e.experiments), winOrigins(data, e.experiments)]},
    {title: "Predicted", number: true, cell: e => factor(e.predicted)},
    {title: "Measured", number: true, cell: e => e.measured.pairs ? [factor(e.measured.log), el("span", {class: "window"}, interval(e.measured))] : null},
    {title: "Pairs", number: true, wide: true, cell: e => e.measured.pairs},
    {title: "A run", number: true, wide: true, cell: e => e.measured.pairs ? `${seconds(e.before)} \u2192 ${seconds(e.after)}` : null},
    {title: "Error against float64", number: true, wide: true, cell: e => [there(e.error) ? e.error.toExponential(1) : there(e.error_ratio) ? null : "not measured",
      there(e.error_ratio) ? el("span", {class: "window"}, `${Number(e.error_ratio.toPrecision(3)).toLocaleString("en")}\u00d7 the starter\u2019s`) : null]},
    {title: "Verdict", text: true, cell: e => [el("span", {class: e.kept ? "good" : "bad"}, e.kept ? "kept" : "rolled back"), e.reason ? el("span", {class: e.kept ? "window wide" : "window"}, e.reason) : null]},
  ], data.ledger));
}
