// The top of the page: what is claimed, on what grounds, and what it is compared with.

const shortName = model => model.startsWith("builtin:") ? model.slice(8) : model.split("/").pop();

function claim(data) {
  const name = shortName(data.identity.model);
  const h = data.headline;
  const total = data.ledger.filter(e => e.kept).map(e => e.total).pop();
  if (h) return [
    h.standing === "level" ? el("h1", {}, `${name}: `, el("em", {}, "level"), " with its starter plan")
      : el("h1", {}, `${name} runs `, el("em", {}, factor(h.gain.log)), h.standing === "faster" ? " as fast" : " as fast: slower"),
    el("p", {class: "claim"}, `${interval(h.gain)}${h.standing === "level" ? ", which holds 1: no difference is shown" : ""}, by ${count(h.gain.pairs, "pair")} of fresh processes: the starter plan takes `,
      el("strong", {}, seconds(h.starter)), " a run, the final plan ", el("strong", {}, seconds(h.kept)), "."),
  ];
  if (total) return [
    el("h1", {}, `${name}: `, el("em", {}, factor(total.log)), " by its gates"),
    el("p", {class: "claim"}, `${interval(total)}, summed over the kept rows of the ledger. The final plan was not yet measured against the `,
      "starter plan as a whole: a finished run, or ", el("code", {}, "amdahl verify FILE"), ", does that."),
  ];
  return [
    el("h1", {}, name),
    el("p", {class: "claim"}, "No gain is confirmed on the whole model yet."),
  ];
}

// Algorithms that round otherwise than a plain sum, and what that came to in the model's outputs.
function declaredRow(data) {
  const names = Object.entries(data.declared).map(([name, steps]) => `${name} in ${count(steps, "step")}`);
  if (!names.length) return [];
  const gated = data.ledger.filter(e => e.kept && e.error > 0).pop();
  return [["By bounds of their own", names.join(", ") + (gated ? `; outputs ${gated.error.toExponential(1)} from float64` : "")]];
}

function facts(data) {
  const {identity, options, experiments} = data;
  const o = options || {};
  const load = identity.load || {};
  const sizes = load.buckets ? [`shapes ${load.buckets.map(b => b.name).join(", ")}`] : Object.entries(load).flatMap(([key, value]) =>
    key === "shape" ? Object.entries(value).map(([n, s]) => `${n} = ${s.join(" \u00d7 ")}`) : value ? [`${key} ${value}`] : []);
  const rows = [
    ["Model", [identity.model, ...sizes].join(", ")],
    ["Machine", [identity.machine, there(o.threads) && `${count(o.threads, "thread")} a kernel`].filter(Boolean).join(", ")],
    ["Compilers", identity.toolchain],
    ["Started", identity.created_at ? new Date(identity.created_at * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "not known"],
    ["Precision", o.allow_bf16 ? `products may round to bfloat16; outputs stay within ${percent(o.max_error)} of float64` : "float32 throughout"],
    ...declaredRow(data),
    ["Options", [o.seconds && `${seconds(o.seconds)} of tuning`, o.experiments && `at most ${count(o.experiments, "experiment")}`,
                 there(o.seed) && `seed ${o.seed}`].filter(Boolean).join(", ") || "not recorded"],
    ["Experiments", `${experiments.length.toLocaleString("en")}, in ${seconds(sum(experiments, e => e.cost))} of building, checking and timing`],
  ];
  return el("div", {}, el("h3", {}, "What was tuned"), el("dl", {class: "facts"}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    o.rule ? folded("All options, as recorded", el("pre", {}, JSON.stringify(options, null, 1))) : null);
}

// One yardstick for all rows: they were not measured at the same time, and each says by what.
function baselines(data) {
  const h = data.headline, starter = data.starter, newest = data.newest;
  const rows = [
    ["Starter plan", h ? h.starter : starter && starter.seconds, h ? "headline pairs" : starter ? "first profile" : ""],
    ["Final plan", h ? h.kept : newest && newest.plan !== starter.plan ? newest.seconds : null, h ? "headline pairs" : "newest profile"],
    ["Sum of roofline floors", newest && newest.floor, newest ? "of the plan profiled last: a bound, not a run" : ""],
    data.baseline ? [`Best baseline: ${data.baseline.title}`, data.baseline.seconds, ["in turns with ours, below", data.baseline.age].filter(Boolean).join("; ")]
      : ["ONNX Runtime, OpenVINO, PyTorch", null, data.compared.length ? "none could be measured: see below" : "amdahl compare FILE measures them beside ours"],
  ];
  return el("div", {}, el("h3", {}, "What it is held against"), table("Time of one run of the whole model", [
    {title: "", cell: r => r[0]},
    {title: "Time", number: true, cell: r => there(r[1]) ? seconds(r[1]) : el("span", {class: "note"}, "not measured")},
    {title: "By", cell: r => el("span", {class: "note"}, r[2])},
  ], rows));
}

// Who took turns in the newest comparison, fastest first, also those that could not.
function peers(data) {
  if (!data.compared.length) return null;
  return el("div", {id: "peers"}, el("h3", {}, "Beside other runtimes"), data.baseline ? el("p", {class: "note"}, `${data.baseline.by}.`) : null,
    table("Time of one run of the whole model, in turns", [
      {title: "", cell: r => r.ours ? el("strong", {}, r.title) : r.title},
      {title: "Time", number: true, cell: r => there(r.seconds) ? seconds(r.seconds) : el("span", {class: "note"}, "not in the running")},
      {title: "Times ours", number: true, cell: r => r.over_ours ? `${factor(r.over_ours.log)} (${interval(r.over_ours)})` : ""},
      {title: "Threads", number: true, cell: r => r.threads},
      {title: "Precision", cell: r => r.precision},
      {title: "Outputs differ by", cell: r => there(r.difference) ? `${r.difference ? r.difference.toExponential(1) : "nothing"}${r.compared_with === "ours" ? "" : ` from ${r.compared_with}`}` : ""},
      {title: "", cell: r => r.reason ? el("span", {class: "note"}, r.advice ? [`${r.reason}: `, el("code", {}, r.advice)] : r.reason) : ""},
    ], data.compared));
}

function drawSummary(data) {
  const name = shortName(data.identity.model);
  document.title = `Amdahl: ${name}${data.headline ? ` ${data.headline.standing === "level" ? "level" : factor(data.headline.gain.log)}` : ""}`;
  document.getElementById("summary").append(
    el("p", {class: "kicker"}, `Amdahl \u00b7 ${data.identity.machine || "unknown machine"}`), ...claim(data),
    ...(data.baseline ? [el("p", {class: "claim"}, `Beside other runtimes: ${data.baseline.says}.${data.baseline.age ? ` (${data.baseline.age})` : ""}`)] : []),
    el("div", {class: "columns"}, facts(data), baselines(data)), ...[peers(data)].filter(Boolean));
}
