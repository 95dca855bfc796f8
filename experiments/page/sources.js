// Texts of kernels and what changed in them. A text is a list of numbers of lines, so that equal lines are equal numbers.

// [[" " | "-" | "+", line], ...] by longest common subsequence. What differs in more than `most` pairs of lines is shown as replaced.
function lineDiff(before, after, most = 4e6) {
  let head = 0, tail = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) ++head;
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) ++tail;
  const a = before.slice(head, before.length - tail), b = after.slice(head, after.length - tail);
  const rows = before.slice(0, head).map(line => [" ", line]);
  if (a.length * b.length > most) {
    rows.push(...a.map(line => ["-", line]), ...b.map(line => ["+", line]));
  } else {
    const width = b.length + 1, longest = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; --i)
      for (let j = b.length - 1; j >= 0; --j)
        longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) rows.push([" ", a[i]]), ++i, ++j;
      else if (j === b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) rows.push(["-", a[i++]]);
      else rows.push(["+", b[j++]]);
    }
  }
  rows.push(...before.slice(before.length - tail).map(line => [" ", line]));
  return rows;
}

// Changed lines with three lines around them.
function diffView(sources, before, after) {
  const rows = lineDiff(sources.texts[before], sources.texts[after]);
  const near = new Array(rows.length).fill(false);
  rows.forEach(([mark], i) => { if (mark !== " ") near.fill(true, Math.max(0, i - 3), i + 4); });
  const shown = [];
  rows.forEach(([mark, line], i) => {
    if (near[i]) shown.push(el("span", {class: mark === "+" ? "add" : mark === "-" ? "remove" : null}, `${mark} ${sources.lines[line]}`));
    else if (i === 0 || near[i - 1]) shown.push(el("span", {class: "gap"}, "\u22ef"));
  });
  return el("pre", {tabindex: 0}, shown);
}

// Each kernel beside the one of its kind that it replaced; texts are built when they are opened.
function sourceViews(sources, experiment) {
  const lazily = (title, build) => {
    const box = el("details", {}, el("summary", {}, title));
    box.addEventListener("toggle", () => box.open && box.children.length === 1 && box.append(build()));
    return box;
  };
  const old = experiment.incumbent.slice(), views = [];
  for (const kernel of experiment.challenger) {
    const match = old.findIndex(k => k.kind === kernel.kind);
    const replaced = match < 0 ? null : old.splice(match, 1)[0];
    if (replaced && replaced.text === kernel.text) continue;
    if (replaced) views.push(lazily(`${kernel.kind}: what changed against the incumbent`, () => diffView(sources, replaced.text, kernel.text)));
    views.push(lazily(`${kernel.kind}: whole source, ${sources.texts[kernel.text].length} lines`,
      () => el("pre", {tabindex: 0}, sources.texts[kernel.text].map(n => sources.lines[n]).join("\n"))));
  }
  if (old.length) views.push(el("p", {class: "note"}, `Gone with it: ${old.map(k => k.kind).join(", ")}.`));
  return views;
}
