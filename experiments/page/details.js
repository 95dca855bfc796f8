// One experiment, opened.

// Each sample a tick: log ratios of race, proof and confirmation over one axis, no change marked.
function stripPlot(e) {
  const rows = [["race", there(e.race) ? [e.race] : []], ["proof", e.prove || []], ["confirmation", e.confirm || []], ["dropped pairs", e.dropped || []]].filter(r => r[1].length);
  if (!rows.length) return el("p", {class: "note"}, "It was never timed.");
  const all = [0, ...rows.flatMap(r => r[1])].filter(there), low = Math.min(...all), high = Math.max(...all), room = Math.max(0.02, (high - low) * 0.06);
  const wide = innerWidth > 700 ? 640 : 350;  // drawn at its size: letters stay legible on a telephone
  const left = 92, right = wide - 16, line = 24, height = rows.length * line;
  const x = log => left + (right - left) * (log - low + room) / (high - low + 2 * room);
  const tick = (log, text) => [svg("text", {x: x(log), y: height + 16, "text-anchor": "middle"}, text)];
  const words = rows.map(([name, samples]) => `${name}: ${samples.map(s => factor(s)).join(" ")}`).join("; ");
  const ends = [low, high].filter(log => Math.abs(x(log) - x(0)) > 60);
  return svg("svg", {class: "strip", viewBox: `0 0 ${wide} ${height + 22}`, role: "img", "aria-label": `Ratios by pair of fresh processes. ${words}`},
    svg("path", {d: `M${x(0)},0V${height}`, stroke: "var(--quiet)", "stroke-dasharray": "3 3"}),
    rows.map(([name, samples], i) => [
      svg("text", {x: left - 10, y: i * line + 16, "text-anchor": "end"}, name),
      svg("path", {d: `M${left},${i * line + 12}H${right}`, stroke: "var(--line)"}),
      samples.filter(there).map(s => svg("path", {d: `M${x(s)},${i * line + 4}V${i * line + 20}`, "stroke-width": 2, "stroke-opacity": 0.7,
        stroke: name === "confirmation" ? "var(--accent)" : name === "dropped pairs" ? "var(--bad)" : "var(--muted)"})),
    ]),
    tick(0, "no change"), ends.map(log => tick(log, factor(log))));
}

function experimentDetails(data, e) {
  const stages = ["build", "validate", "race", "prove", "confirm"];
  const rows = [
    ["Outcome", `${e.outcome}: ${OUTCOMES[e.outcome].means}`],
    ["Ended at", `${e.stage || "not recorded"}${e.code ? `, code ${e.code}` : ""}`],
    ["Reason", e.reason],
    ["Origin", e.origin ? `${originOf(e)}, judged${e.outcome === "kept" ? " and proven" : ""} here` : null],
    ["Window", `${e.window}${e.places ? `, in ${count(e.places, "place")}` : ""}, ${percent(e.share)} of the model's time`],
    ["Window's time", there(e.before) && there(e.after) ? `${seconds(e.before)} \u2192 ${seconds(e.after)}` : "not measured"],
    ["Confirmed gain", e.gain ? `${factor(e.gain.log)}, ${interval(e.gain)}, ${count(e.gain.pairs, "pair")}` : "none"],
    ...(e.factors ? [["Its factors", factorsOf(e.factors)]] : []),
    ["Knobs", e.knobs ? Object.entries(e.knobs).map(([name, value]) => `${name} ${value}`).join(", ") : null],
    ["Took", `${seconds(e.cost)}: ${stages.map((s, i) => [s, e.seconds[i]]).filter(p => p[1] > 0).map(p => `${p[0]} ${seconds(p[1])}`).join(", ") || "nothing of note"}`],
    ["Seed", e.seed],
  ].filter(r => r[1]);
  return [
    el("dl", {class: "facts"}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    el("h3", {}, "Samples"), stripPlot(e),
    el("h3", {}, "Source"),
    ...(e.challenger && e.challenger.length ? sourceViews(data.sources, e)
      : [el("p", {class: "note"}, "This page carries the sources of kept experiments only; ", el("code", {}, `amdahl replay FILE ${e.id} --source`), " prints this one.")]),
  ];
}
