"use strict";
// What surveys measured: a chart of each kind, and maps.

// addKind adds the chart of a kind. Of one machine it has the lines of a panel, of
// several the same line of each.
function addKind(box) {
  const k = Number(box.dataset.kind), kind = index.kinds[k], form = box.querySelector("form");
  const chosen = {}, cached = kind.lines.some(l => l.off); // else the kind knows no cache
  const f = addFigure(box.querySelector("figure"), Chart, () => {
    const only = (what, values, say) => { chosen[what] = choice(form.elements[what], values, say, chosen[what]); return chosen[what]; };
    const first = kind.own ? 0 : longest(k);
    chosen.panel ??= kind.lines[first].panel;
    chosen.cache ??= !!kind.lines[first].off;
    const panel = only("panel", [...new Set(kind.lines.map(l => l.panel))], String);
    const off = only("cache", [...new Set(kind.lines.filter(l => l.panel === panel).map(l => !!l.off))], off => off ? "off" : "in");
    const lines = [...kind.lines.keys()].filter(n => kind.lines[n].panel === panel && !!kind.lines[n].off === off);
    const machines = [...state.shown.keys()].filter(i => lines.some(n => profile(i, k, n)));
    const alone = machines.length === 1 && lines.length > 1, own = lines.filter(n => kind.own?.includes(n));
    const few = alone && own.length > 1 && own.length < lines.length;
    chosen.line ??= few ? some : alone ? all : first;
    const line = only("line", [...few ? [some] : [], ...alone ? [all] : [], ...lines], n => n === all ? "all" : n === some ? "each to itself" : kind.lines[n].line);
    const series = line < 0 ? linesOf(machines[0], k, line === some ? own : lines) : machinesOf(machines, k, line);
    explain(box.querySelector(".legend"), line < 0 ? series : []);
    return {
      x: axes[kind.over] || { name: kind.over, kind: "linear", tick: short, say: v => digits(v) + kind.over.replace(/^.*,/, "") }, series,
      y: kind.rate ? { kind: "log10", tick: short, say: v => digits(v) + " GB/s", plain: digits } : { kind: "log10", tick: shortTime, say: time, plain: time },
      name: [kind.quantity, panel, ...line < 0 ? [] : [kind.lines[line].line], ...cached ? [off ? "off cache" : "in cache"] : []].join(", "),
      unit: kind.about, of: kind.label,
    };
  });
  form.addEventListener("change", e => {
    const select = e.target;
    chosen[select.name] = select.values[select.selectedIndex];
    f.stale = true;
    drawFigure(f);
  });
  form.addEventListener("submit", e => e.preventDefault());
}
const all = -1, some = -2; // the lines of a panel, and those that it begins with

// axes are what charts run over, as view.Quantity has it; others begin with 0.
const axes = {
  "m, bytes": { name: "m, bytes", kind: "log2", tick: bytes, say: v => "m = " + bytes(v) },
  "stride d, bytes": { name: "stride d, bytes", kind: "log2", tick: bytes, say: v => "d = " + bytes(v) },
  "stride, elements": { name: "stride, elements", kind: "log2", tick: bytes, say: v => "stride " + v },
};

// choice fills a select, and returns what was chosen if it is still there, else the
// first. One value is no choice.
function choice(select, values, say, chosen) {
  const i = Math.max(0, values.indexOf(chosen));
  select.values = values;
  select.replaceChildren(...values.map(v => make("option", {}, say(v))));
  select.selectedIndex = i;
  select.parentElement.hidden = values.length < 2;
  return values[i];
}

// longest is the line that has most points on any machine that is switched on: charts
// begin with it, or with its panel.
function longest(k) {
  let best = { n: 0, x: [] };
  for (const i of state.shown.keys())
    for (const l of read("measured", i)?.lines || [])
      if (l.k === k && l.x.length > best.x.length) best = l;
  return best.n;
}

const profile = (machine, k, n) => read("measured", machine)?.lines.find(l => l.k === k && l.n === n);

function pointsOf(p) {
  return p.x.map((x, i) => ({ x, ...value(p.y, i) }));
}

function linesOf(machine, k, lines) {
  return lines.map((n, slot) => ({ n, slot, p: profile(machine, k, n) })).filter(l => l.p)
    .map(l => ({ name: index.kinds[k].lines[l.n].line, look: look(l.slot), points: pointsOf(l.p), ...intervalOf(machine) }));
}

function machinesOf(machines, k, n) {
  return machines.filter(i => profile(i, k, n))
    .map(i => ({ name: nameOf(i), look: lookOf(i, state.shown.get(i)), points: pointsOf(profile(i, k, n)), ...intervalOf(i) }));
}

// Maps of the machines that are switched on, in their order.
const maps = new Map();
const mapsOf = i => i === median ? index.medianMaps : index.machines[i].maps || 0;

function arrangeMaps() {
  const place = $("maps");
  if (!place) return;
  for (const [i, m] of maps)
    if (!state.shown.has(i)) {
      m.box.remove();
      m.figures.forEach(dropFigure);
      maps.delete(i);
    }
  for (const i of state.shown.keys()) {
    if (!mapsOf(i)) continue;
    if (!maps.has(i)) maps.set(i, newMaps(i));
    place.append(maps.get(i).box);
  }
}

function newMaps(i) {
  const groups = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "levels of " + nameOf(i) });
  const box = make("div", { class: "figures" }), figures = [];
  for (let n = 0; n < mapsOf(i); n++) {
    const figure = $("figure").content.firstElementChild.cloneNode(true);
    figures.push(addFigure(figure, Heat, () => {
      const { maps } = read("measured", i);
      if (!groups.firstChild) groups.append(groupTable(maps));
      return mapSpec(i, maps[n]);
    }));
    box.append(figure);
  }
  return { figures, box: make("div", { class: "map" }, ...index.machines.length > 1 ? [make("h4", {}, nameOf(i))] : [], box, groups) };
}

// mapSpec has one scale for all machines that are switched on.
function mapSpec(i, map) {
  const times = [...state.shown.keys()].flatMap(i =>
    (read("measured", i)?.maps || []).filter(m => m.name === map.name).flatMap(m => m.t.c.filter(v => v > 0)));
  const cells = [], { names, groups, axis } = map;
  let c = 0;
  for (let row = 0; row < names.length; row++)
    for (let column = row + 1; column < names.length; column++, c++) {
      if (map.of[c] < 0) continue;
      const group = groups[map.of[c]], { y, lo, hi } = value(map.t, c) || { y: null, lo: null, hi: null };
      const lines = () => [
        [`${axis}s ${names[row]} and ${names[column]}`, "who"], [y === null ? "not measured" : time(y), "value"],
        ...lo !== null && lo !== hi ? [[`${intervalOf(i).between} ${time(lo)} to ${time(hi)}`, "interval"]] : [],
        [`${group.name}: median ${time(group.median_ns)}`, "level"],
      ];
      cells.push({ i: row, j: column, y, group: map.of[c], lines });
    }
  const least = (v, w) => Math.min(v, w), most = (v, w) => Math.max(v, w); // thousands are too many arguments
  const low = times.reduce(least, Infinity), [ns, unit] = low < 1e3 ? [1, "ns"] : low < 1e6 ? [1e3, "µs"] : [1e6, "ms"];
  return {
    labels: names, cells, low, high: times.reduce(most, 0), tick: shortTime, short: v => short(v / ns), cellUnit: unit, axis,
    name: map.name[0].toUpperCase() + map.name.slice(1), unit: `time of one, ${map.how}; darker is slower`, of: `between ${axis}s of ${nameOf(i)}`,
  };
}

// groupTable is what pairs of a group have in common; names are short.
function groupTable(maps) {
  const head = make("tr", {}, ...["level", "pairs", ...maps.map(m => m.name.split(",")[0] + ", median")].map(c => make("th", { scope: "col" }, c)));
  const rows = maps[0].groups.map((g, n) => make("tr", {}, make("th", { scope: "row" }, g.name),
    ...[String(g.pairs), ...maps.map(m => m.groups[n].median_ns).map(v => v > 0 ? time(v) : "")].map(v => make("td", { class: "n" }, v))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}
