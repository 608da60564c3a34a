"use strict";
// Interaction: values under the pointer, choice of charts, sorted tables, downloads.

const $ = id => document.getElementById(id), all = (what, of = document) => [...of.querySelectorAll(what)];
document.documentElement.classList.add("js");

function make(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// unpack decompresses an element of the page that holds gzip in base64.
function unpack(id) {
  const packed = atob($(id).textContent.trim().replace(/-/g, "+").replace(/_/g, "/"));
  return new Response(new Blob([Uint8Array.from(packed, c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip")));
}
let unpacked;
const more = () => unpacked ??= unpack("more").json();

// The names of machines that are switched off, and the machines of a fleet that are switched on, with a
// number for colour and dashes of their lines.
const off = new Set(), on = new Map();
const colours = ["#e69f00", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#0072b2"], dashes = ["none", "5 2", "1.5 1.5", "7 2 1.5 2"];

// A Figure shows the values of a chart under the pointer and by keyboard.
class Figure {
  constructor(figure) {
    this.figure = figure;
    this.plot = figure.querySelector(".plot");
    this.tip = figure.querySelector(".tip");
    this.choice = JSON.parse(figure.dataset.choice || "{}");
    const p = this.plot;
    p.setAttribute("role", "application");
    p.setAttribute("aria-roledescription", "chart");
    p.tabIndex = 0;
    for (const e of ["pointermove", "pointerdown"]) p.addEventListener(e, e => this.point(e));
    for (const e of ["pointerleave", "blur"]) p.addEventListener(e, () => this.leave());
    p.addEventListener("keydown", e => this.key(e));
    for (const select of all("select", figure)) {
      this.mark(select);
      select.addEventListener("change", () => (select.name === "m" ? figures : [this]).forEach(f => f.choose(select.name, select.value)));
    }
    this.read();
  }

  // read prepares a new drawing, lines of values or a heat map.
  read() {
    this.svg = this.plot.querySelector("svg");
    this.at = null;
    if (!this.svg) return;
    this.plot.setAttribute("aria-label", this.svg.getAttribute("aria-label") + " Arrow keys read its values.");
    this.svg.removeAttribute("role");
    this.svg.setAttribute("aria-hidden", "true");
    this.map = this.svg.querySelector(".heat");
    for (const e of all("title", this.svg)) e.remove(); // the tip replaces them
    this.show();
  }

  // show hides the lines of machines that are switched off, and colours the lines of chosen ones.
  show() {
    if (!this.svg) return;
    const lines = all(".series", this.svg);
    for (const g of lines) {
      g.style.display = off.has(g.dataset.of) ? "none" : "";
      const n = on.get(g.dataset.of), line = g.querySelector("path");
      if (g.dataset.v || !line) continue;
      const chosen = n !== undefined;
      Object.assign(line.style, { stroke: chosen ? colours[n % colours.length] : "", strokeWidth: chosen ? 1.4 : "", strokeOpacity: chosen ? 1 : "", strokeDasharray: chosen ? dashes[n % dashes.length] : "" });
      if (chosen) g.parentNode.append(g);
    }
    const interval = v => v.length > 4 ? [["interval", `95 % interval ${v[4]} to ${v[5]}`]] : [];
    this.rows = lines.filter(g => g.dataset.v && !off.has(g.dataset.of)).map(g => g.dataset.v.split(";").map(text => text.split(",")).map(v => ({
      x: Number(v[0]), y: Number(v[1]),
      lines: [["who", g.dataset.name || g.dataset.of || ""], ["value", `${g.dataset.x} = ${v[2]}: ${g.dataset.y} = ${v[3]}`], ...interval(v)],
    })));
    this.leave();
  }

  mark(select) {
    select.value = this.choice[select.name];
  }

  // choose shows the drawing with a value that shares most other values with the drawing shown.
  async choose(name, value) {
    if (!(name in this.choice)) return;
    const drawings = await this.drawings();
    const alike = d => Object.keys(this.choice).filter(k => d.choice[k] === this.choice[k]).length;
    const best = drawings.filter(d => d.choice[name] === value).sort((a, b) => alike(b) - alike(a))[0];
    if (best) this.draw(best);
  }

  drawings() {
    return more().then(m => m.charts[this.figure.dataset.number] || []);
  }

  async load() {
    if (!this.svg) this.draw((await this.drawings())[0]);
  }

  draw(best) {
    this.choice = best.choice || {};
    const [title, about] = all("figcaption span", this.figure);
    title.textContent = best.title;
    about.textContent = best.about;
    this.plot.innerHTML = best.svg;
    all("select", this.figure).forEach(s => this.mark(s));
    this.read();
  }

  // say shows lines of text beside a place in the plot, and a ring around it.
  say(x, y, ring, lines) {
    this.leave();
    if (ring) this.plot.append(make("div", { class: "ring" }));
    const { tip } = this, mark = this.plot.querySelector("div.ring");
    if (mark) Object.assign(mark.style, { left: ring.x + "px", top: ring.y + "px", width: ring.w + "px", height: ring.h + "px" });
    tip.replaceChildren(...lines.map(([name, text]) => make("div", { class: name }, text)));
    tip.classList.add("on");
    const top = this.plot.offsetTop, w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(0, Math.min(this.plot.clientWidth - w, x + (x > this.plot.clientWidth / 2 ? -w - 14 : 14))) + "px";
    tip.style.top = top + (y - h - 12 > 0 ? y - h - 12 : y + 14) + "px";
  }

  leave() {
    this.tip.classList.remove("on");
    this.tip.replaceChildren();
    all("div.ring", this.plot).forEach(e => e.remove());
  }

  point(e) {
    const box = this.plot.getBoundingClientRect(), x = e.clientX - box.x, y = e.clientY - box.y;
    if (!this.svg) return;
    if (this.map) return this.tellCell(...this.cellAt(x, y));
    let best, least = Infinity;
    const scale = this.pixels();
    this.rows.forEach((row, i) => row.forEach((v, j) => {
      const d = Math.hypot(v.x * scale - x, v.y * scale - y);
      if (d < least) [least, best] = [d, [i, j]];
    }));
    const line = e.target.closest?.(".series:not([data-v])");
    if (line && least > 12) this.say(x, y, null, [["who", line.dataset.name]]);
    else if (best) this.tell(...best);
  }

  tell(row, i) {
    this.at = [row, i];
    const v = this.rows[row][i], scale = this.pixels(), x = v.x * scale, y = v.y * scale;
    this.say(x, y, { x: x - 8, y: y - 8, w: 16, h: 16 }, v.lines);
  }

  // pixels is the number of pixels per unit of the drawing.
  pixels() {
    return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
  }

  // key moves along a line with left and right, between lines with up and down, and in all directions in a
  // heat map.
  key(e) {
    if (e.key === "Escape") return this.leave();
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e6], End: [0, 1e6] }[e.key];
    if (!step || !this.svg) return;
    e.preventDefault();
    const within = (v, n) => Math.max(0, Math.min(n - 1, v));
    let [row, i] = this.at || [0, 0];
    if (this.map) {
      const n = Number(this.map.dataset.cells);
      if (!this.at) return this.tellCell(0, 1);
      const [r, c] = [within(row + step[0], n), within(i + step[1], n)];
      return this.tellCell(...r !== c ? [r, c] : [within(r + step[0], n), within(c + (Math.sign(step[1]) * (Math.abs(step[1]) > 1 ? -1 : 1)), n)]);
    }
    if (!this.rows.length) return;
    if (this.at && step[0]) row = (row + step[0] + this.rows.length) % this.rows.length;
    this.tell(row, within(this.at ? i + step[1] : 0, this.rows[row].length));
  }

  // scale is the place of a heat map and the size of its cells in pixels.
  scale() {
    const [x, y, width, height] = this.map.dataset.box.split(" ").map(Number), s = this.pixels(), n = Number(this.map.dataset.cells);
    return { left: x * s, top: y * s, w: width * s / n, h: height * s / n, n };
  }

  cellAt(x, y) {
    const { left, top, w, h } = this.scale();
    return [Math.floor((y - top) / h), Math.floor((x - left) / w)];
  }

  async tellCell(i, j) {
    const { left, top, w, h, n } = this.scale();
    if (i === j || i < 0 || j < 0 || i >= n || j >= n) return this.leave();
    const [a, b] = [Math.min(i, j), Math.max(i, j)], [{ cells }] = await this.drawings();
    const text = cells[a * n - a * (a + 1) / 2 + b - a - 1];
    if (!text) return this.leave();
    this.at = [i, j];
    const [first, ...rest] = text.split("; "), [who, value] = first.split(": ");
    this.say(left + (j + 0.5) * w, top + (i + 0.5) * h, { x: left + j * w, y: top + i * h, w, h },
      [["who", who], ["value", value], ...rest.map(t => ["interval", t])]);
  }
}

const figures = all("figure").map(f => new Figure(f));
for (const form of all("form")) form.addEventListener("submit", e => e.preventDefault());

// Opening a section unpacks it and draws its charts.
const shown = () => figures.filter(f => f.plot.offsetParent).forEach(f => f.load());
for (const d of all("details")) d.addEventListener("toggle", async () => {
  if (d.open && d.dataset.later) {
    const held = (await more()).sections[d.dataset.later];
    d.insertAdjacentHTML("beforeend", held);
    delete d.dataset.later;
    all("table", d).forEach(sortable);
  }
  shown();
});
shown();

// The table of machines: files for download. A fleet has a filter, and boxes that show a machine in charts.
const rows = all("#machines > .table tbody tr");
rows.forEach((row, i) => {
  if (!$("raw" + i)) return;
  const file = row.cells[1].textContent;
  row.cells[1].replaceChildren(make("button", { type: "button", class: "download", "data-raw": i, "data-file": file }, file));
});
if (rows.length > 9) {
  const filter = make("input", { type: "search", id: "filter", autocomplete: "off" }), matching = make("span", { id: "matching", role: "status" });
  const table = rows[0].closest("table");
  $("machines").querySelector("h2").after(make("p", { class: "tools" }, make("label", {}, "Only those with ", filter), " ", matching),
    make("p", { class: "paper note" }, `On paper are only those in the charts, of ${rows.length}.`));
  table.classList.add("many");
  table.tHead.rows[0].prepend(make("th", { scope: "col" }, "in charts"));
  for (const row of rows) {
    const name = row.cells[0].textContent;
    row.prepend(make("td", { class: "w" }, make("input", { type: "checkbox", "data-show": name, "aria-label": `show ${name} in charts` })));
  }
  const texts = rows.map(row => row.textContent.toLowerCase());
  filter.addEventListener("input", () => {
    rows.forEach((row, i) => { row.hidden = !texts[i].includes(filter.value.toLowerCase()); });
    matching.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
  });
}

// Switches of machines stand above the first charts. Boxes in the table of a fleet add switches.
if ($("toolbar")) ($("charts") || $("surveys"))?.before($("toolbar"));
function redraw() {
  figures.forEach(f => f.show());
  for (const map of all(".map")) map.hidden = off.has(map.querySelector("h4")?.textContent);
}
const boxOf = name => all("[data-series]").find(b => b.dataset.series === name);
function tick(name, checked) {
  for (const b of all("[data-show]")) if (b.dataset.show === name) b.checked = checked;
}
function watch(box) {
  box.addEventListener("change", () => {
    const name = box.dataset.series;
    if (box.checked) off.delete(name);
    else off.add(name);
    tick(name, box.checked);
    redraw();
  });
  tick(box.dataset.series, true);
}
all("[data-series]").forEach(watch);
const most = 12; // machines in a chart
for (const box of all("[data-show]")) box.addEventListener("change", () => {
  const name = box.dataset.show, own = boxOf(name);
  if (own && !on.has(name)) {
    own.checked = box.checked;
    own.dispatchEvent(new Event("change"));
    return;
  }
  if (box.checked && on.size >= most) {
    box.checked = false;
    alert(`A chart shows ${most} machines: switch one off first.`);
    return;
  }
  if (box.checked) {
    let n = 0;
    while ([...on.values()].includes(n)) n++;
    on.set(name, n);
    const swatch = make("span", { class: "swatch" });
    Object.assign(swatch.style, { borderTopColor: colours[n % colours.length], borderTopStyle: ["solid", "dashed", "dotted", "dashed"][n % dashes.length] });
    const label = make("label", {}, make("input", { type: "checkbox", "data-series": name, checked: "" }), swatch, make("span", { class: "name" }, name));
    label.firstChild.addEventListener("change", () => { box.checked = false; box.dispatchEvent(new Event("change")); });
    $("series").append(label);
  } else {
    on.delete(name);
    own?.parentElement.remove();
  }
  tick(name, box.checked);
  redraw();
});

// sortable adds to the heads of a table buttons that sort by their column.
function sortable(t) {
  if (!t.tHead) return;
  const heads = [...t.tHead.rows[0].cells], unit = { K: 1 << 10, M: 1 << 20 };
  const key = cell => {
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
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null); // empty cells come last
        const d = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : words.compare(a.key, b.key);
        return down ? -d : d;
      });
      body.append(...rows.map(r => r.row));
    });
  });
}
all("table").forEach(sortable);

addEventListener("beforeprint", () => {
  for (const d of all("#warnings > details")) d.open = true;
});

// Downloads of the files.
for (const b of all("button.download")) b.addEventListener("click", async () => {
  try {
    const url = URL.createObjectURL(await unpack("raw" + b.dataset.raw).blob());
    make("a", { href: url, download: b.dataset.file }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  } catch (e) {
    alert(`This browser cannot unpack the file (${e.message}): open the page in one since 2024.`);
  }
});
