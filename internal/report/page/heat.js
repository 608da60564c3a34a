"use strict";
// A Heat is a map of times between every two of some things: darker is slower. Its
// lightness falls evenly, so that it is read without colours too.

const stops = [[220, 238, 251], [86, 180, 233], [0, 114, 178], [0, 35, 63]];
const shades = 24; // as many paths, whatever the number of cells

function shade(i) {
  const at = i / (shades - 1) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
  return `rgb(${stops[k].map((v, c) => Math.round(v + (at - k) * (stops[k + 1][c] - v))).join()})`;
}

// A Heat shows a spec:
//   labels    of rows and columns
//   cells     [{i, j, y, lo, hi, group, lines}], i < j; lines are what is said of one
//   low, high of the scale, whose ticks tick(v) says
//   short(v), cellUnit  what stands in cells that have room
//   axis      what rows and columns are
class Heat extends Plot {
  draw(width) {
    this.width = width;
    this.plot.replaceChildren();
    const { labels, cells, low, high, tick, cellUnit, axis } = this.spec, n = labels.length;
    this.cells = new Map(cells.map(c => [c.i * n + c.j, c]));
    if (!cells.length || width < 80) {
      this.empty(width);
      return;
    }
    const left = 24 + 7.5 * Math.max(...labels.map(l => l.length)), top = 24, room = Math.min(width - left - 2, 600);
    // Whole pixels, where there are as many, leave no seams.
    const size = n > room ? room / n : Math.min(64, Math.floor(room / n)), side = size * n;
    Object.assign(this, { left, top, size });
    const root = svg("svg", { viewBox: `0 0 ${width} ${top + side + 74}`, width: "100%", "aria-hidden": "true" });
    root.append(svg("rect", { x: left, y: top, width: side, height: side, class: "nothing" }));
    const step = Math.log(Math.max(high, 1.5 * low) / low) / (shades - 1); // noise is not to look like structure
    const numbers = this.fill(root, v => Math.max(0, Math.min(shades - 1, Math.round(Math.log(v / low) / step))));
    if (size >= 6) root.append(svg("path", { d: this.borders(n), class: "border" }));
    root.append(...numbers);
    this.axes(root, labels, axis, side);
    const across = Math.max(150, Math.min(side, 260));
    if (high > low) this.scale(root, top + side + 22, across, k => low * Math.exp(k * step), tick);
    else root.append(svg("text", { x: left, y: top + side + 32, class: "tick" }, `all: ${tick(low)}`)); // one value needs no scale
    if (high > low && numbers.length) root.append(svg("text", { x: left + across + 12, y: top + side + 32, class: "note" }, "in cells: " + cellUnit));
    this.ring = svg("rect", { width: Math.max(size, 6), height: Math.max(size, 6), class: "ring", visibility: "hidden" });
    root.append(this.ring);
    this.plot.append(root);
  }

  // fill draws cells, a path for each shade, and returns their numbers where these
  // have room.
  fill(root, shadeOf) {
    const { left, top, size } = this, { cells, short } = this.spec;
    const paths = Array.from({ length: shades }, () => []), numbers = [], times = cells.filter(c => c.y > 0);
    const longest = size < 16 ? Infinity : Math.max(...times.map(c => short(c.y).length));
    const around = v => +v.toFixed(2), square = `h${around(size)}v${around(size)}h${-around(size)}z`;
    for (const c of times) {
      const k = shadeOf(c.y);
      for (const [row, column] of [[c.i, c.j], [c.j, c.i]]) {
        const x = left + column * size, y = top + row * size;
        paths[k].push(`M${around(x)},${around(y)}${square}`);
        if (size >= 7 * longest + 3)
          numbers.push(svg("text", { x: x + size / 2, y: y + size / 2 + 4, "text-anchor": "middle", class: k > 0.58 * shades ? "on-dark" : "on-light" }, short(c.y)));
      }
    }
    paths.forEach((d, k) => { if (d.length) root.append(svg("path", { d: d.join(""), fill: shade(k), "shape-rendering": "crispEdges" })); });
    return numbers;
  }

  // borders lie between cells of different groups.
  borders(n) {
    const { left, top, size } = this, group = (i, j) => this.cell(i, j)?.group, lines = [];
    for (const c of this.spec.cells) {
      for (const [i, j] of [[c.i, c.j], [c.j, c.i]]) {
        const right = group(i, j + 1), below = group(i + 1, j);
        if (j + 1 < n && right !== undefined && right !== c.group) lines.push(`M${left + (j + 1) * size},${top + i * size}v${size}`);
        if (i + 1 < n && below !== undefined && below !== c.group) lines.push(`M${left + j * size},${top + (i + 1) * size}h${size}`);
      }
    }
    return lines.join("");
  }

  axes(root, labels, axis, side) {
    const { left, top, size } = this, n = labels.length;
    const step = room => { let s = 1; while (s * size < room) s *= 2; return s; };
    const across = step(12 + 7 * Math.max(...labels.map(l => l.length))), down = step(15);
    for (let i = 0; i < n; i += across) root.append(svg("text", { x: left + (i + 0.5) * size, y: top - 5, "text-anchor": "middle" }, labels[i]));
    for (let i = 0; i < n; i += down) root.append(svg("text", { x: left - 5, y: top + (i + 0.5) * size + 4, "text-anchor": "end" }, labels[i]));
    root.append(svg("text", { x: 0, y: top - 5, class: "name" }, axis));
  }

  scale(root, y, width, value, tick) {
    const { left } = this, w = width / shades, X = scale("log10", value(0), value(shades - 1), left, left + width);
    for (let k = 0; k < shades; k++) root.append(svg("rect", { x: left + k * w, y, width: w + 0.5, height: 12, fill: shade(k) }));
    root.append(svg("rect", { x: left, y, width, height: 12, class: "frame" }));
    const values = ticks("log10", value(0), value(shades - 1), Math.floor(width / 50));
    for (const v of values) {
      root.append(svg("path", { d: `M${X(v)},${y + 12}v4`, class: "axis" }));
      root.append(svg("text", { x: X(v), y: y + 29, "text-anchor": "middle", class: "tick" }, tick(v)));
    }
  }

  cell(i, j) { return this.cells.get(Math.min(i, j) * this.spec.labels.length + Math.max(i, j)); }

  point(e) {
    if (!this.cells || !this.cells.size) return;
    const box = this.plot.getBoundingClientRect();
    const i = Math.floor((e.clientY - box.top - this.top) / this.size), j = Math.floor((e.clientX - box.left - this.left) / this.size);
    const n = this.spec.labels.length;
    if (i >= 0 && j >= 0 && i < n && j < n && this.cell(i, j)) this.tell(i, j);
    else this.leave();
  }

  // key walks in rows and columns, over what is not there.
  key(e) {
    if (e.key === "Escape") return this.leave();
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, 1], End: [0, -1] }[e.key];
    if (!step || !this.cells || !this.cells.size) return;
    e.preventDefault();
    const n = this.spec.labels.length, inside = v => v >= 0 && v < n;
    if (!this.at) return this.tell(this.spec.cells[0].i, this.spec.cells[0].j);
    let { i, j } = this.at;
    if (e.key === "Home") j = -1;
    if (e.key === "End") j = n;
    do [i, j] = [i + step[0], j + step[1]]; while (inside(i) && inside(j) && !this.cell(i, j));
    if (inside(i) && inside(j)) this.tell(i, j);
  }

  tell(i, j) {
    this.ring.setAttribute("x", this.left + (j + 0.5) * this.size - this.ring.getAttribute("width") / 2);
    this.ring.setAttribute("y", this.top + (i + 0.5) * this.size - this.ring.getAttribute("height") / 2);
    this.say({ i, j, X: this.left + (j + 0.5) * this.size, Y: this.top + (i + 0.5) * this.size }, this.cell(i, j).lines());
  }
}
