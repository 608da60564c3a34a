"use strict";
// Draws what is in sight, from what the page holds of each machine.

const index = JSON.parse(document.getElementById("index").textContent);
const $ = id => document.getElementById(id);
const state = { m: index.S, tau: index.tau, shown: new Map() }; // machine → look

function make(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// The median machine of a fleet is one among the others, but a band about it.
const median = "median";
const nameOf = i => i === median ? `median of ${index.machines.length}` : index.machines[i].name;
const lookOf = (i, slot) => i === median ? { colour: "var(--c6)", dash: "", mark: marks[0] } : look(slot);

const parsed = new Map();
// read is what the page holds of a machine, parsed when it is first drawn; undefined
// where it holds nothing.
function read(what, machine) {
  const id = what + machine;
  if (!parsed.has(id) && $(id)) parsed.set(id, JSON.parse($(id).textContent));
  return parsed.get(id);
}
const table = (machine, group) => read("curves", machine).find(t => t.g === group);
// guest is what published parameters have where others were measured with local memory and
// in cache: their file does not say how they were, and they are drawn beside those.
const guest = (machine, group) => {
  const from = index.machines[machine]?.published;
  return from && index.groups[group].local ? table(machine, from - 1) : undefined;
};
const seen = (machine, group) => table(machine, group) || guest(machine, group);
const nameIn = (machine, group) => nameOf(machine) + (table(machine, group) ? "" : " (published)");

// value is a centre with its bounds, null where nothing was measured.
function value(values, i) {
  const y = values.c[i];
  if (y === null || y === undefined) return null;
  return { y, lo: values.l ? values.l[i] : null, hi: values.h ? values.h[i] : null };
}

function over(what, machine, group, along, of = state.tau) {
  const t = seen(machine, group), points = [];
  if (!t) return points;
  const n = t.t.length;
  if (along === "τ") {
    const row = t.m.indexOf(state.m);
    if (row >= 0) t.t.forEach((tau, i) => { const v = value(t[what], row * n + i); if (v) points.push({ x: tau, ...v }); });
  } else {
    const i = t.t.indexOf(of);
    if (i >= 0) t.m.forEach((m, row) => { const v = value(t[what], row * n + i); if (v) points.push({ x: m, ...v }); });
  }
  return points;
}

// few says that a group has too few τ for charts over τ.
const few = g => index.groups[g].t.length < 3;

// spread says that τ double, so that their axis is logarithmic.
const spread = taus => taus[taus.length - 1] >= 8 && taus.length <= 0.6 * taus[taus.length - 1];

const short = v => String(parseFloat(v.toPrecision(3)));
const shortTime = v => v < 1e3 ? short(v) + " ns" : v < 1e6 ? short(v / 1e3) + " µs" : short(v / 1e6) + " ms";

const intervalOf = i => ({ between: i === median ? "robust deviation" : "95 % interval", band: i === median });

function chartSpec(kind, g) {
  const along = kind === "Lm" || few(g) ? "m" : "τ", what = kind === "Lm" ? "L" : kind;
  const taus = index.groups[g].t;
  const x = along === "τ"
    ? { name: "τ, transfers at once", kind: spread(taus) ? "log2" : "linear", whole: true, tick: String, say: v => "τ = " + v }
    : { name: "m, bytes", kind: "log2", tick: bytes, say: v => "m = " + bytes(v) };
  const y = {
    A: { kind: along === "τ" && spread(taus) ? "log2" : "linear", tick: short, say: v => "A = " + digits(v), plain: digits },
    B: { kind: "linear", tick: short, say: v => digits(v) + " GB/s", plain: digits },
    L: { kind: along === "m" ? "log10" : "linear", tick: shortTime, say: v => "L = " + time(v), plain: time },
  }[what];
  const series = [];
  for (const [i, slot] of state.shown) {
    const points = over(what, i, g, along);
    if (points.length) series.push({ name: nameIn(i, g), look: lookOf(i, slot), points, ...intervalOf(i) });
  }
  const spec = { x, y, series, of: index.groups[g].label, ...caption(what, along) };
  const xs = [...new Set(series.flatMap(s => s.points.map(p => p.x)))].sort((a, b) => a - b);
  if (what === "A" && xs.length > 1) spec.bounds = xs.map(v => ({ x: v, low: 1, high: along === "τ" ? v : state.tau }));
  return spec;
}

function caption(what, along) {
  const [name, unit] = {
    A: ["A(τ)", "memory concurrency: transfers really carried at once"],
    B: ["Bandwidth", "GB/s of all transfers together"],
    L: ["L(m,τ)", "time of one transfer while τ are active"],
  }[what];
  return { name: `${name} against ${along}, ${along === "τ" ? "m = " + bytes(state.m) : "τ = " + state.tau}`, unit };
}

// verdictSpec is the chart that says most: A(τ) or, of few τ, bandwidth over m, of one
// machine with a line for each τ.
function verdictSpec(g) {
  if (!few(g)) return chartSpec("A", g);
  const spec = chartSpec("B", g), alone = [...state.shown.keys()].filter(i => seen(i, g));
  if (alone.length !== 1) return spec;
  spec.name = "Bandwidth against m";
  spec.series = index.groups[g].t.map((tau, slot) => ({ name: "τ = " + tau, look: look(slot), points: over("B", alone[0], g, "m", tau), ...intervalOf(alone[0]) }))
    .filter(s => s.points.length);
  return spec;
}

const figures = [];
// addFigure adds one that is drawn from a spec with its name, unit and what it is of,
// where it is not folded away.
function addFigure(figure, Kind, spec, folded = () => false) {
  const f = { figure, Kind, spec, folded, chart: null, stale: true, near: false };
  figures.push(f);
  nearby.observe(figure);
  return f;
}

function dropFigure(f) {
  nearby.unobserve(f.figure);
  figures.splice(figures.indexOf(f), 1);
}

// drawFigure draws one that is stale. What goes wrong in it is its own: those after it
// are drawn all the same.
function drawFigure(f) {
  if (!f.stale || f.folded()) return;
  f.stale = false;
  try {
    draw(f);
  } catch (e) {
    f.figure.querySelector(".plot").replaceChildren();
    f.figure.querySelector("figcaption").replaceChildren("This chart cannot be drawn: " + e.message);
    reportError(e);
  }
}

function draw(f) {
  f.chart ??= new f.Kind(f.figure);
  const spec = f.spec();
  f.figure.querySelector("figcaption").replaceChildren(make("span", {}, spec.name), make("span", { class: "unit" }, spec.unit));
  f.chart.plot.setAttribute("aria-label", `${spec.name}, ${spec.unit}; ${spec.of}. Arrow keys read its values.`);
  f.chart.show(spec);
  if (!performance.getEntriesByName("first chart").length) performance.mark("first chart");
}

// Figures are drawn when they come near, and before printing.
const nearby = new IntersectionObserver(entries => {
  for (const e of entries) {
    const f = figures.find(f => f.figure === e.target);
    if (f && (f.near = e.isIntersecting)) drawFigure(f);
  }
}, { rootMargin: "300px" });

for (const group of document.querySelectorAll("details.group")) {
  const g = Number(group.dataset.group);
  group.querySelector(".figures").classList.toggle("three", few(g));
  for (const figure of group.querySelectorAll("figure")) {
    const kind = figure.dataset.chart;
    if (few(g) && kind === "L") figure.remove();
    else addFigure(figure, Chart, () => chartSpec(kind, g), () => !group.open).near = g === 0;
  }
}
document.querySelectorAll(".kind[data-kind]").forEach(addKind);

{
  const figure = document.querySelector("#verdict figure"), legend = document.querySelector("#verdict .legend");
  if (figure) addFigure(figure, Chart, () => {
    const spec = verdictSpec(index.main);
    explain(legend, spec.series);
    return spec;
  }).near = true;
}
// explain lists what series look like.
function explain(legend, series) {
  legend.replaceChildren(...series.map(s => make("li", {}, swatch(s.look), s.name)));
}

function redraw() {
  arrangeMaps();
  for (const f of figures) {
    f.stale = true;
    if (f.near) drawFigure(f);
  }
  for (const d of document.querySelectorAll("details.numbers")) if (d.open) fill(d);
}

addEventListener("beforeprint", () => {
  for (const d of document.querySelectorAll("#warnings > details")) d.open = true; // they belong to the numbers
  for (const f of figures) { drawFigure(f); if (f.chart) f.chart.print(true); }
});
addEventListener("afterprint", () => { for (const f of figures) if (f.chart) f.chart.print(false); });

// The numbers behind the charts, of the machines that are switched on.
function fill(details) {
  const g = Number(details.closest(".group").dataset.group);
  const columns = ["machine", "m", "τ", "L(m,τ), ns", "95 % interval", "A(τ)", "95 % interval", "GB/s"];
  const body = make("tbody");
  const cell = (text, sort) => {
    const td = make("td", { class: "n" }, text);
    if (sort !== undefined) td.dataset.value = sort;
    return td;
  };
  const span = v => v && v.lo !== null && v.lo !== v.hi ? `${digits(v.lo)} to ${digits(v.hi)}` : "";
  for (const i of state.shown.keys()) {
    const t = seen(i, g);
    if (!t) continue;
    t.m.forEach((m, row) => t.t.forEach((tau, k) => {
      const at = row * t.t.length + k, L = value(t.L, at), A = value(t.A, at), B = value(t.B, at);
      if (!L) return;
      body.append(make("tr", {}, make("th", { scope: "row" }, nameIn(i, g)), cell(bytes(m), m), cell(String(tau)),
        cell(digits(L.y)), cell(span(L)), cell(A ? digits(A.y) : ""), cell(span(A)), cell(B ? digits(B.y) : "")));
    }));
  }
  const head = make("tr", {}, ...columns.map(c => make("th", { scope: "col", "data-sort": "" }, c)));
  const t = make("table", { class: "sortable" }, make("thead", {}, head), body);
  sortable(t);
  details.querySelector(".scroll").replaceChildren(t);
}
for (const d of document.querySelectorAll("details.numbers")) d.addEventListener("toggle", () => { if (d.open) fill(d); });

// sortable gives a table's header buttons that sort by their column.
function sortable(t) {
  const heads = [...t.tHead.rows[0].cells], unit = { K: 1 << 10, M: 1 << 20 };
  const key = cell => {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim(), number = /^-?\d[\d.]*(?=([KM]?)([ ,%]|$))/.exec(text);
    if (text === "") return null;
    return number ? parseFloat(text) * (unit[number[1]] || 1) : text;
  };
  heads.forEach((th, column) => {
    if (th.dataset.sort === undefined) return;
    const button = make("button", { type: "button" }, ...th.childNodes);
    th.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") === "ascending";
      heads.forEach(h => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = t.tBodies[0], rows = [...body.rows].map(row => ({ row, key: key(row.cells[column]) }));
      const words = new Intl.Collator("en", { numeric: true });
      rows.sort((a, b) => {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null); // what is missing comes last
        const d = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : words.compare(a.key, b.key);
        return down ? -d : d;
      });
      body.append(...rows.map(r => r.row));
    });
  });
}
for (const t of document.querySelectorAll("table.sortable")) sortable(t);

// The switches. A fleet's are made as machines are chosen.
const most = 12; // machines in a chart
function freeSlot() {
  const taken = new Set(state.shown.values());
  let slot = 1; // the median has the first look's dash and mark
  while (taken.has(slot)) slot++;
  return slot;
}
function toggle(i, on, slot = index.fleet ? freeSlot() : i) {
  if (on) state.shown.set(i, slot);
  else state.shown.delete(i);
  // In the order of machines, so that a series that comes back is where it was.
  if (!index.fleet) state.shown = new Map([...state.shown].sort((a, b) => a[0] - b[0]));
}
function addSwitch(i, slot) {
  const box = make("input", { type: "checkbox", "data-series": i });
  box.checked = true;
  box.addEventListener("change", () => {
    toggle(i, box.checked, slot);
    if (index.fleet && i !== median && !box.checked) {
      const label = box.parentElement, next = label.nextElementSibling || label.previousElementSibling;
      label.remove();
      if (next && next.querySelector("input")) next.querySelector("input").focus();
    }
    tick(i, box.checked);
    redraw();
  });
  $("series").append(make("label", { title: nameOf(i) }, box, swatch(lookOf(i, slot)), make("span", { class: "name" }, nameOf(i))));
}
function tick(i, on) {
  for (const row of document.querySelectorAll(`[data-show="${i}"]`)) row.checked = on;
}
function show(i) {
  if (state.shown.has(i)) return;
  const slot = i === median ? -1 : index.fleet ? freeSlot() : i;
  toggle(i, true, slot);
  addSwitch(i, slot);
  tick(i, true);
}
if ($("curvesmedian")) show(median);
(index.first || index.machines.map((_, i) => i)).forEach(show);
for (const box of document.querySelectorAll("[data-show]"))
  box.addEventListener("change", () => {
    const i = Number(box.dataset.show);
    if (!box.checked) {
      const s = document.querySelector(`[data-series="${i}"]`);
      toggle(i, false);
      tick(i, false);
      if (s) s.parentElement.remove();
    } else if (state.shown.size >= most) {
      box.checked = false;
      alert(`A chart shows ${most} machines: switch one off first.`);
      return;
    } else show(i);
    redraw();
  });

function choices(select, values, say, chosen, choose) {
  for (const v of values) {
    const o = make("option", { value: v }, say(v));
    o.selected = v === chosen;
    select.append(o);
  }
  select.addEventListener("change", () => { choose(Number(select.value)); redraw(); });
}
const union = of => [...new Set(index.groups.flatMap(of))].sort((a, b) => a - b);
choices($("size"), union(g => g.m), bytes, state.m, v => { state.m = v; });
choices($("tau"), union(g => g.t), String, state.tau, v => { state.tau = v; });
const allFew = index.groups.every((_, g) => few(g));
$("size-label").hidden = allFew;
$("tau-label").hidden = !index.groups.length;
$("few").hidden = !allFew || !index.groups.length;
$("toolbar").addEventListener("submit", e => e.preventDefault());

const filter = $("filter");
if (filter) {
  const rows = [...document.querySelectorAll("#machines tbody tr")].map(row => ({ row, text: row.textContent.toLowerCase() }));
  filter.addEventListener("input", () => {
    const want = filter.value.toLowerCase();
    let n = 0;
    for (const r of rows) if (!(r.row.hidden = !r.text.includes(want))) n++;
    $("matching").textContent = `${n} of ${rows.length}`;
  });
}

// Downloads: the files as they were, unpacked here.
async function download(i) {
  const packed = atob($("raw" + i).textContent.trim().replace(/-/g, "+").replace(/_/g, "/"));
  const stream = new Blob([Uint8Array.from(packed, c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"));
  const url = URL.createObjectURL(await new Response(stream).blob());
  make("a", { href: url, download: index.machines[i].file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
for (const b of document.querySelectorAll("button.download")) b.addEventListener("click", () =>
  download(Number(b.dataset.raw)).catch(e => alert(`This browser cannot unpack the file (${e.message}): open the page in one since 2024.`)));
redraw();
