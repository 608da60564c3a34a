"use strict";
// A chart is an SVG: its text stays text, its colours follow the page's theme and
// the printer's, and its points can be reached by pointer and by keyboard.

const svgNS = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const e = document.createElementNS(svgNS, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// Series differ in colour, dash and mark, each of another period, so that no two
// of the first 140 look the same and none is known by its colour alone.
const dashes = ["", "7 4", "2 3", "9 3 2 3"];
const marks = [
  r => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
  r => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  r => `M0,${-1.3 * r}L${1.2 * r},${0.9 * r}H${-1.2 * r}z`,
  r => `M0,${-1.4 * r}L${1.4 * r},0L0,${1.4 * r}L${-1.4 * r},0z`,
  r => `M0,${1.3 * r}L${1.2 * r},${-0.9 * r}H${-1.2 * r}z`,
];
const colours = 7;

function look(i) {
  return { colour: `var(--c${i % colours})`, dash: dashes[i % dashes.length], mark: marks[i % marks.length] };
}

function swatch(l) {
  const s = svg("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true", class: "swatch" });
  s.append(svg("path", { d: "M0,7H34", class: "line", stroke: l.colour, "stroke-dasharray": l.dash }));
  s.append(svg("path", { d: l.mark(4), class: "mark", fill: l.colour, transform: "translate(17,7)" }));
  return s;
}

// Numbers as the tables have them: four digits.
function digits(v, n = 4) {
  if (v === null || !isFinite(v)) return "";
  if (v === 0) return "0";
  const decimals = Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(v)) + 1e-12));
  return v.toFixed(Math.min(decimals, 6));
}
function time(ns, n = 4) {
  if (ns < 1e3) return digits(ns, n) + " ns";
  if (ns < 1e6) return digits(ns / 1e3, n) + " µs";
  return digits(ns / 1e6, n) + " ms";
}
function bytes(n) {
  if (n >= 1 << 20 && n % (1 << 20) === 0) return (n >> 20) + "M";
  if (n >= 1 << 10 && n % (1 << 10) === 0) return (n >> 10) + "K";
  return String(n);
}

// A scale maps values to pixels.
function scale(kind, low, high, from, to) {
  const f = kind === "linear" ? v => v : Math.log2;
  const a = f(low), b = f(high), span = b - a || 1;
  return v => from + (f(v) - a) / span * (to - from);
}

// ticks are at most n round values.
function ticks(kind, low, high, n, whole) {
  const list = [];
  if (kind === "log2") {
    const a = Math.ceil(Math.log2(low) - 1e-9), b = Math.floor(Math.log2(high) + 1e-9);
    const step = Math.max(1, Math.ceil((b - a) / n));
    for (let e = Math.ceil(a / step) * step; e <= b; e += step) list.push(2 ** e);
    return list;
  }
  if (kind === "log10") {
    const decades = Math.log10(high / low);
    const of = decades > n ? [1] : decades > n / 2 ? [1, 3] : [1, 2, 5];
    const step = Math.max(1, Math.ceil(decades / n));
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e += step)
      for (const d of of) {
        const v = d * 10 ** e;
        if (v >= low * 0.999 && v <= high * 1.001) list.push(v);
      }
    if (list.length >= 2) return list;
    list.length = 0;
  }
  const raw = (high - low) / n, ten = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map(d => d * ten).find(d => d >= raw * 0.999);
  if (whole) step = Math.max(1, Math.round(step));
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    if (kind === "linear" || i > 0) list.push(i * step);
  return list;
}

// A Plot is what charts and maps have in common: a figure that is drawn as wide as
// it is, and tells the value that the pointer or the keyboard is at. What extends it
// draws, finds the value at a point, and walks by keys.
class Plot {
  constructor(figure) {
    this.plot = figure.querySelector(".plot");
    this.tip = figure.querySelector(".tip");
    this.width = 0;
    this.at = null;
    const p = this.plot;
    p.addEventListener("pointermove", e => this.point(e));
    p.addEventListener("pointerdown", e => this.point(e));
    p.addEventListener("pointerleave", () => this.leave());
    p.addEventListener("blur", () => this.leave());
    p.addEventListener("keydown", e => this.key(e));
    new ResizeObserver(() => {
      if (this.spec && Math.abs(p.clientWidth - this.width) > 1 && !this.printing) this.draw(p.clientWidth);
    }).observe(p);
  }

  show(spec) {
    this.spec = spec;
    this.leave();
    this.draw(this.plot.clientWidth);
  }

  // print draws for paper, where two charts stand side by side.
  print(on) {
    if (!this.spec) return;
    this.printing = on;
    this.draw(on ? 340 : this.plot.clientWidth);
  }

  // empty says that there is nothing to draw, or nothing yet.
  empty(width) {
    const p = document.createElement("p");
    p.className = "empty";
    p.textContent = width < 80 ? "" : "Nothing to draw: no machine that is switched on was measured for this.";
    this.plot.append(p);
  }

  // say shows lines of text, [text, class] each, beside a point of the drawing.
  say(at, lines) {
    this.at = at;
    this.tip.replaceChildren(...lines.map(([text, name]) => {
      const d = document.createElement("div");
      d.className = name;
      d.textContent = text;
      return d;
    }));
    this.tip.classList.add("on");
    const w = this.tip.offsetWidth, h = this.tip.offsetHeight;
    this.tip.style.left = Math.max(0, Math.min(this.plot.clientWidth - w, at.X + (at.X > this.width / 2 ? -w - 14 : 14))) + "px";
    this.tip.style.top = Math.max(0, at.Y - h - 12 > 0 ? at.Y - h - 12 : at.Y + 14) + "px";
    this.ring.setAttribute("visibility", "visible");
  }

  leave() {
    this.at = null;
    this.tip.classList.remove("on");
    this.tip.replaceChildren();
    if (this.ring) this.ring.setAttribute("visibility", "hidden");
  }
}

// A Chart shows a spec:
//   x, y     {name, kind: linear|log2|log10, tick(v), say(v), plain(v), whole}
//   series   [{name, look, points: [{x, y, lo, hi}], between, band}], x rising;
//            between says what lo and hi are, and band shades what lies there
//   bounds   what lies between serial and ideal: [{x, low, high}]
class Chart extends Plot {
  draw(width) {
    this.width = width;
    const { x, y, series, bounds } = this.spec;
    this.plot.replaceChildren();
    this.flat = [];
    this.beyond = false;
    const height = Math.round(Math.min(300, Math.max(220, width * 0.6)));
    const xs = series.flatMap(s => s.points.map(p => p.x));
    if (!xs.length || width < 80) {
      this.empty(width);
      return;
    }
    let ys = [];
    for (const s of series)
      for (const p of s.points) {
        ys.push(p.y);
        if (p.lo !== null) ys.push(Math.max(p.lo, p.y / 2), Math.min(p.hi, p.y * 2));
      }
    for (const b of bounds || []) ys.push(b.low, b.high);
    let low = Math.min(...ys), high = Math.max(...ys);
    if (y.kind === "linear") [low, high] = [0, high * 1.06];
    else [low, high] = [low / 1.15, high * 1.15];

    const yTicks = ticks(y.kind, low, high, Math.round(height / 45), y.whole);
    const longest = Math.max(...yTicks.map(v => y.tick(v).length));
    const left = 14 + 7 * longest, right = bounds && bounds.length ? 52 : 14, top = 10, bottom = 40;
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    if (x0 === x1) [x0, x1] = x.kind === "linear" ? [x0 - 1, x1 + 1] : [x0 / 2, x1 * 2];
    const X = scale(x.kind, x0, x1, left + 6, width - right - 6), Y = scale(y.kind, low, high, height - bottom, top);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", "aria-hidden": "true" });

    for (const v of yTicks) {
      root.append(svg("path", { d: `M${left},${Y(v)}H${width - right}`, class: "grid" }));
      root.append(svg("text", { x: left - 6, y: Y(v) + 4, "text-anchor": "end" }, y.tick(v)));
    }
    const xTicks = ticks(x.kind, x0, x1, Math.floor((width - left) / 52), x.whole).filter(v => x.kind === "linear" || v >= 1);
    if (x.whole && xTicks.length && X(xTicks[0]) - X(x0) > 20) xTicks.unshift(x0);
    for (const v of xTicks) {
      root.append(svg("path", { d: `M${X(v)},${height - bottom}v4`, class: "axis" }));
      root.append(svg("text", { x: X(v), y: height - bottom + 17, "text-anchor": "middle" }, x.tick(v)));
    }
    root.append(svg("path", { d: `M${left},${height - bottom}H${width - right}`, class: "axis" }));
    root.append(svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle", class: "name" }, x.name));

    const area = list => "M" + list.map(b => `${X(b.x)},${Y(b.high)}`).join("L") + "L" + [...list].reverse().map(b => `${X(b.x)},${Y(b.low)}`).join("L") + "z";
    if (bounds && bounds.length) {
      root.append(svg("path", { d: area(bounds), class: "bounds" }));
      for (const [side, name] of [["high", "ideal"], ["low", "serial"]]) {
        root.append(svg("path", { d: "M" + bounds.map(b => `${X(b.x)},${Y(b[side])}`).join("L"), class: "bound" }));
        const last = bounds[bounds.length - 1];
        root.append(svg("text", { x: X(last.x) + 5, y: Y(last[side]) + 4, class: "note" }, name));
      }
    }
    const id = "clip" + Chart.count++;
    const clip = svg("clipPath", { id });
    clip.append(svg("rect", { x: left, y: 0, width: width - left, height: height - bottom + 6 }));
    root.append(clip);
    const inside = svg("g", { "clip-path": `url(#${id})` });
    root.append(inside);
    series.forEach((s, row) => {
      const g = svg("g", { class: "series", "data-name": s.name });
      const at = s.points.map(p => ({ ...p, row, X: X(p.x), Y: Y(p.y) }));
      g.append(svg("path", { d: at.length ? "M" + at.map(p => `${p.X},${p.Y}`).join("L") : "", class: "line", stroke: s.look.colour, "stroke-dasharray": s.look.dash }));
      const sure = s.points.filter(p => p.lo !== null && p.lo > 0);
      if (s.band && sure.length) g.append(svg("path", { d: area(sure.map(p => ({ x: p.x, low: p.lo, high: p.hi }))), class: "band" }));
      for (const p of at) {
        if (!s.band && p.lo !== null && p.hi !== null && (p.lo > 0 || y.kind === "linear")) {
          const [under, over] = [Math.min(Y(p.lo), height - bottom), Math.max(Y(p.hi), top)];
          g.append(svg("path", { d: `M${p.X},${under}V${over}`, class: "interval", stroke: s.look.colour }));
          // What goes on beyond the axis has an arrow there.
          for (const [at, end, back] of [[under, Y(p.lo), -5], [over, Y(p.hi), 5]])
            if (Math.abs(end - at) > 0.5) {
              g.append(svg("path", { d: `M${p.X - 4},${at + back}L${p.X},${at}L${p.X + 4},${at + back}`, class: "interval beyond", stroke: s.look.colour }));
              this.beyond = true;
            }
        }
        g.append(svg("path", { d: s.look.mark(at.length > 40 ? 2.5 : 4), class: "mark", fill: s.look.colour, transform: `translate(${p.X},${p.Y})` }));
        this.flat.push(p);
      }
      inside.append(g);
    });
    if (this.beyond) { // below the name of the axis, beside which there may be no room
      root.setAttribute("viewBox", `0 0 ${width} ${height + 16}`);
      root.append(svg("text", { x: width - right, y: height + 11, "text-anchor": "end", class: "note" }, "↑ the interval goes on"));
    }
    this.ring = svg("circle", { r: 8, class: "ring", visibility: "hidden" });
    root.append(this.ring);
    this.plot.append(root);
  }

  point(e) {
    const box = this.plot.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    let best = null, least = Infinity;
    for (const p of this.flat || []) {
      const d = Math.hypot(p.X - px, p.Y - py);
      if (d < least) [least, best] = [d, p];
    }
    if (best) this.tell(best);
  }

  // key walks along a series with left and right, between series with up and down.
  key(e) {
    if (e.key === "Escape") return this.leave();
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (!this.flat || !this.flat.length || !(step || e.key === "Home" || e.key === "End")) return;
    e.preventDefault();
    const at = this.at || this.flat[0];
    let row = this.flat.filter(p => p.row === at.row), i = row.indexOf(at);
    if (!this.at) i = 0;
    else if (e.key === "Home") i = 0;
    else if (e.key === "End") i = row.length - 1;
    else if (step[0]) i = Math.max(0, Math.min(row.length - 1, i + step[0]));
    else {
      const rows = [...new Set(this.flat.map(p => p.row))];
      const next = rows[(rows.indexOf(at.row) + step[1] + rows.length) % rows.length];
      row = this.flat.filter(p => p.row === next);
      i = row.reduce((b, p, j) => Math.abs(p.X - at.X) < Math.abs(row[b].X - at.X) ? j : b, 0);
    }
    this.tell(row[i]);
  }

  tell(p) {
    const { x, y, series } = this.spec;
    const lines = [[series[p.row].name, "who"], [`${x.say(p.x)}: ${y.say(p.y)}`, "value"]];
    if (p.lo !== null && p.hi !== null && p.lo !== p.hi) lines.push([`${series[p.row].between} ${y.plain(p.lo)} to ${y.plain(p.hi)}`, "interval"]);
    this.ring.setAttribute("cx", p.X);
    this.ring.setAttribute("cy", p.Y);
    this.say(p, lines);
  }
}
Chart.count = 0;
