// Runs inside of the page, before everything else: collects errors, waits for the page, uses it as a reader would, and puts
// what it saw in its place.
const errors = [];
addEventListener("error", event => errors.push(event.message));
addEventListener("unhandledrejection", event => errors.push(String(event.reason)));
for (const level of ["error", "warn"]) console[level] = (...words) => errors.push(words.join(" "));

function useTable(seen) {
  const shown = () => document.getElementById("shown").textContent;
  const rows = () => document.querySelectorAll("#rows tr.row").length;
  const filter = (name, value) => {
    const input = document.querySelector(`#filters [name=${name}]`);
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  seen.rows = rows();
  seen.columns = [...document.querySelectorAll("#table thead th")].map(head => head.textContent);
  seen.all = shown();
  filter("outcome", "kept");
  seen.kept = shown();
  filter("text", "#100");
  seen.one = rows();
  const button = document.querySelector("#rows button.open");
  button.click();
  const more = document.querySelector("tr.more");
  const change = more && [...more.querySelectorAll("details")].find(d => d.textContent.includes("changed"));
  if (change) {
    change.open = true;
    change.dispatchEvent(new Event("toggle"));
  }
  seen.origins = [...document.querySelectorAll("#rows td:last-of-type, #ledger span.window")].map(cell => cell.textContent).filter(text => text.includes("outside"));
  seen.opened = [!!more, button.getAttribute("aria-expanded"), more ? more.querySelectorAll(".strip path[stroke-opacity]").length : 0,
                 !!(more && more.querySelector("pre .add"))];
  filter("text", "no such thing");
  seen.none = shown();
  document.querySelector("th[data-column=cost] button").click();
  seen.dearest = document.querySelector("th[data-column=cost]").getAttribute("aria-sort");
}

// The scripts of the page have run by then. The browser prints the document after "load".
document.addEventListener("DOMContentLoaded", () => {
  document.body.getBoundingClientRect();  // lays it out: what a reader waits for
  const seen = {milliseconds: performance.now(), title: document.title, text: document.querySelector("main").textContent};
  try {
    seen.facts = document.querySelector("dl.facts").textContent;
    seen.bars = [...document.querySelectorAll("#time .stack")].map(bar => [bar.getAttribute("aria-label").replace(/\u00a0/g, " "),
      [...bar.children].filter(part => part.className !== "rest").reduce((width, part) => width + part.getBoundingClientRect().width, 0) / bar.getBoundingClientRect().width]);
    seen.claims = [...document.querySelectorAll("#summary p.claim")].map(p => p.textContent).join(" ");
    seen.peers = document.getElementById("peers") ? document.getElementById("peers").textContent : "";
    seen.claim = document.querySelector("#summary h1").textContent;
    seen.plots = document.querySelectorAll(".plot svg").length;
    seen.points = document.querySelectorAll("#progress .mark-symbol path").length - document.querySelectorAll("#progress .mark-symbol path[stroke='var(--ink)']").length;
    if (document.getElementById("rows")) {
      useTable(seen);
      seen.text = "";
    }
  } catch (error) {
    errors.push(String(error));
  }
  seen.errors = errors;
  document.documentElement.textContent = ["PROBE", JSON.stringify(seen), "PROBE"].join("");
});
