// The table of all experiments. Only one page of rows exists at a time, however long the session was.

const PAGE_ROWS = 50;
const TABLE = {all: [], rows: [], page: 0, sort: "id", descending: false, open: new Set(), filters: {}};

const COLUMNS = [
  {name: "id", title: "#", cell: e => el("button", {class: "open", "aria-expanded": String(TABLE.open.has(e.id)), "aria-label": `experiment ${e.id}, details`, onclick: () => toggleExperiment(e.id)}, `#${e.id}`)},
  {name: "outcome", title: "Outcome", cell: e => el("span", {class: `outcome${OUTCOMES[e.outcome].failed ? " bad" : e.outcome === "kept" ? " good" : ""}`}, glyph(OUTCOMES[e.outcome]), e.outcome)},
  {name: "tier", title: "Tier", wide: true, number: true, cell: e => e.tier},
  {name: "rewrite", title: "Rewrite, window", text: true, cell: e => [e.rewrite.replaceAll("_", "_\u200b"), el("span", {class: "window"}, e.window)]},
  {name: "log", title: "Window\u2019s ratio", number: true, cell: e => there(e.log) ? [factor(e.log), el("span", {class: "window"}, e.from)] : "\u2013"},
  {name: "share", title: "Of model", number: true, wide: true, cell: e => percent(e.share)},
  {name: "cost", title: "Cost", number: true, wide: true, cell: e => seconds(e.cost)},
  {name: "stage", title: "Ended at", wide: true, cell: e => [e.stage, e.code ? el("span", {class: "window"}, e.code) : null]},
];
// Of a session that took kernels from elsewhere.
const ORIGIN = {name: "origin", title: "Origin", text: true, cell: originOf};
const cellClass = c => [c.number && "number", c.wide && "wide", c.text && "text"].filter(Boolean).join(" ") || null;

function matches(e, {text, outcome, tier, rewrite}) {
  return (!outcome || e.outcome === outcome) && (!tier || e.tier === Number(tier)) && (!rewrite || e.rewrite === rewrite) &&
    (!text || (/^#\d+$/.test(text) ? text === `#${e.id}` : e.searched.includes(text)));
}

// Numbers that are not there come last, whichever way the column is sorted.
function compare(a, b) {
  const x = a[TABLE.sort], y = b[TABLE.sort];
  if (there(x) !== there(y)) return there(x) ? -1 : 1;
  const order = !there(x) || x === y ? 0 : x < y ? -1 : 1;
  return (TABLE.descending ? -order : order) || a.id - b.id;
}

function refilter() {
  TABLE.rows = TABLE.all.filter(e => matches(e, TABLE.filters)).sort(compare);
  TABLE.page = 0;
  showRows();
}

function sortBy(name) {
  TABLE.descending = TABLE.sort === name ? !TABLE.descending : name === "log" || name === "share" || name === "cost";
  TABLE.sort = name;
  for (const head of document.querySelectorAll("#table th[data-column]"))
    head.setAttribute("aria-sort", head.dataset.column !== name ? "none" : TABLE.descending ? "descending" : "ascending");
  refilter();
}

function showRows() {
  const first = TABLE.page * PAGE_ROWS, shown = TABLE.rows.slice(first, first + PAGE_ROWS);
  const body = document.getElementById("rows");
  body.textContent = "";
  for (const e of shown) {
    body.append(el("tr", {id: `e${e.id}`, class: "row"}, COLUMNS.map((c, i) => el(i ? "td" : "th", {class: cellClass(c), scope: i ? null : "row"}, c.cell(e)))));
    if (TABLE.open.has(e.id)) body.append(moreRow(e));
  }
  const total = TABLE.rows.length;
  document.getElementById("shown").textContent = total === 0 ? "No experiment matches: clear a filter." :
    `${(first + 1).toLocaleString("en")}\u2013${(first + shown.length).toLocaleString("en")} of ${count(total, "experiment")}`;
  document.getElementById("previous").disabled = first === 0;
  document.getElementById("next").disabled = first + PAGE_ROWS >= total;
}

const moreRow = e => el("tr", {class: "more", id: `more${e.id}`}, el("td", {colspan: COLUMNS.length}, el("div", {class: "held"}, experimentDetails(REPORT, e))));

function toggleExperiment(id) {
  const row = document.getElementById(`e${id}`), open = !TABLE.open.has(id);
  if (open) {
    TABLE.open.add(id);
    row.after(moreRow(TABLE.all.find(e => e.id === id)));
  } else {
    TABLE.open.delete(id);
    document.getElementById(`more${id}`).remove();
  }
  row.querySelector("button.open").setAttribute("aria-expanded", String(open));
}

// From anywhere on the page: its row, opened and in view, whatever was filtered.
function showExperiment(id) {
  if (!TABLE.rows.some(e => e.id === id)) {
    document.getElementById("filters").reset();
    TABLE.filters = {};
    refilter();
  }
  TABLE.open.add(id);
  TABLE.page = Math.floor(TABLE.rows.findIndex(e => e.id === id) / PAGE_ROWS);
  showRows();
  const row = document.getElementById(`e${id}`);
  row.scrollIntoView({block: "center"});
  row.querySelector("button.open").focus({preventScroll: true});
}

function choice(name, title, values) {
  return el("label", {}, title, el("select", {name}, el("option", {value: ""}, "all"), values.map(v => el("option", {value: v}, v))));
}

function drawExperiments(data) {
  const parent = document.getElementById("table");
  TABLE.all = data.experiments;
  if (!TABLE.all.length) return parent.append(empty("No experiment was run yet."));
  if (TABLE.all.some(e => e.origin)) COLUMNS.push(ORIGIN);
  for (const e of TABLE.all) e.searched = `${e.rewrite} ${e.window} ${e.stage} ${e.code || ""} ${e.reason || ""} ${e.origin || ""}`.toLowerCase();
  const distinct = name => [...new Set(TABLE.all.map(e => e[name]))];
  const filters = el("form", {id: "filters", class: "tools", role: "search", "aria-label": "Filter experiments", onsubmit: event => event.preventDefault()},
    el("label", {}, "Text", el("input", {type: "search", name: "text", placeholder: "window, reason, code, #number", autocomplete: "off"})),
    choice("outcome", "Outcome", Object.keys(OUTCOMES).filter(o => distinct("outcome").includes(o))),
    choice("tier", "Tier", distinct("tier").sort((a, b) => a - b)), choice("rewrite", "Rewrite", distinct("rewrite").sort()));
  filters.addEventListener("input", () => {
    TABLE.filters = Object.fromEntries(new FormData(filters));
    TABLE.filters.text = TABLE.filters.text.trim().toLowerCase();
    refilter();
  });
  const turn = by => () => { TABLE.page += by; showRows(); document.getElementById("table").scrollIntoView(); };
  parent.append(filters, el("table", {},
      el("caption", {}, "What was tried and what became of it. The ratio is the window\u2019s time before over after, by the last stage that timed it. A number opens its row."),
      el("thead", {}, el("tr", {}, COLUMNS.map(c => el("th", {scope: "col", class: cellClass(c), "data-column": c.name, "aria-sort": c.name === "id" ? "ascending" : "none"},
        el("button", {onclick: () => sortBy(c.name)}, c.title))))),
      el("tbody", {id: "rows"})),
    el("div", {class: "pager"}, el("button", {id: "previous", onclick: turn(-1)}, "Previous"), el("button", {id: "next", onclick: turn(1)}, "Next"),
      el("span", {id: "shown", class: "note", role: "status"})));
  refilter();
}
