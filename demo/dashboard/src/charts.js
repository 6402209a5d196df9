// charts.js: the charts of the page, and its tables
import * as Plot from "@observablehq/plot";

const ACCENT = "var(--theme-foreground-focus)";
const EXACT = "var(--theme-foreground)";
const DAY = 864e5;

// Rows as objects
export const records = ({names, rows}) => rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));

export function element(name, text, attributes = {}, ...children) {
  const node = Object.assign(document.createElement(name), attributes);
  if (text != null) node.append(text);
  node.append(...children);
  return node;
}

// Dates are days, and timestamps seconds, since 2000
const isTime = (type = "") => /^(date|timestamp)/.test(type);
const time = (value, type) => new Date(Date.UTC(2000, 0, 1) + value * (type === "date" ? DAY : 1000));
export const date = (value) => new Date(value).toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric", timeZone: "UTC"});
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const number = (value, type) => value == null ? "unknown" : isTime(type) ? date(time(value, type))
  : value.toLocaleString("en", Math.abs(value) < 10 && value % 1 !== 0 ? {maximumSignificantDigits: 2} : {maximumFractionDigits: Math.abs(value) < 200 ? 1 : 0});

export function table(head, rows, texts = []) {
  const node = element("table");
  const className = (i) => texts.includes(i) || head[i] === "date" ? "" : "number";
  node.createTHead().insertRow().append(...head.map((h, i) => element("th", h, {scope: "col", className: className(i)})));
  node.createTBody().append(...rows.map((row) => element("tr", null, {}, ...row.map((cell, i) => element("td", String(cell), {className: className(i)})))));
  return node;
}

const field = (value) => value == null ? "" : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
export const csv = {
  of: (objects) => ({names: Object.keys(objects[0] ?? {}), rows: objects.map((o) => Object.values(o))}),
  link: ({names, rows}, name) => element("a", "CSV", {download: `${name}.csv`,
    href: `data:text/csv;charset=utf-8,${encodeURIComponent([names, ...rows].map((row) => row.map(field).join(",")).join("\n"))}`})
};

// A chart with its title, its rows and its query
export const card = (id, title, subtitle, chart, answer) => element("section", null, {className: "card", id: id.replaceAll(" ", "-")},
  element("h2", title), element("h3", subtitle), element("div", null, {className: "wide"}, chart),
  element("div", null, {className: "foot"}, element("details", null, {}, element("summary", "SQL"), element("pre", answer.sql)), csv.link(answer, id)));

export const unit = (c) => c.unit ? `${c.name} (${c.unit})` : c.name;

// What a share is per: a day, a year, a unit
const per = ({type, unit}) => type === "date" ? "day" : (unit ?? "unit").replace(/s$/, "");
const shape = (width) => ({width, height: Math.min(300, 150 + width / 4), marginLeft: 56, marginRight: 16, style: "overflow: visible"});

// The share of the records for each unit of a column.  A first or last place far above its neighbour has what lies
// beyond the bound, too: it is no part of the curve.
export function curve(width, column, rows, median, exact) {
  const x = isTime(column.type) ? (d) => time(d.x, column.type) : "x";
  const points = rows.map((d, i) => ({...d, exact: exact?.[i]}));
  const clipped = [[0, 1], [rows.length - 1, rows.length - 2]].filter(([i, j]) => rows.length > 2 && rows[i].lower > rows[j].upper && rows[i].density > 2 * rows[j].density);
  const ends = clipped.map(([i]) => ({...points[i], text: `at the bound, ${number(i === 0 ? column.lower : column.upper, column.type)}: ${share(points[i].density)}`, anchor: i === 0 ? "start" : "end"}));
  const inner = points.filter((d) => !ends.some((e) => e.x === d.x));
  const tip = (d) => `${column.name} ${number(d.x, column.type)}\n${share(d.density)} per ${per(column)}\n95 %: ${share(d.lower)} to ${share(d.upper)}${exact ? `\nexactly ${share(d.exact)}` : ""}${ends.some((e) => e.x === d.x) ? "\nwith all that lies beyond the bound" : ""}`;
  // wide intervals, and places that are counted with what lies beyond, do not press the curve to the floor
  const top = 1.05 * Math.min(Math.max(...inner.map((d) => d.upper)), 3 * Math.max(...inner.map((d) => d.density)));
  const y = (key) => (d) => Math.min(d[key], top);
  return Plot.plot({
    ...shape(width), ariaLabel: `Curve of ${column.name}`,
    x: {label: null, ticks: Math.max(3, Math.round(width / 80)), ...(isTime(column.type) ? {type: "utc"} : {})},
    y: {label: `share of the records, per ${per(column)}`, grid: true, tickFormat: (v) => `${Number((100 * v).toPrecision(3))} %`, domain: [0, top], ticks: 5},
    marks: [
      Plot.areaY(inner, {x, y1: "lower", y2: y("upper"), fill: ACCENT, fillOpacity: 0.22}),
      Plot.lineY(inner, {x, y: "density", stroke: ACCENT, strokeWidth: 2}),
      exact ? Plot.lineY(inner, {x, y: "exact", stroke: EXACT, strokeDasharray: "4,3"}) : null,
      Plot.ruleX(ends, {x, y1: y("lower"), y2: y("upper"), stroke: ACCENT, strokeWidth: 4, strokeOpacity: 0.35}),
      Plot.dot(ends, {x, y: y("density"), fill: ACCENT, r: 4}),
      exact ? Plot.dot(ends, {x, y: y("exact"), symbol: "diamond", stroke: EXACT}) : null,
      ...["start", "end"].map((anchor) => Plot.text(ends.filter((d) => d.anchor === anchor), {x, y: y("density"), text: "text", textAnchor: anchor, dx: anchor === "start" ? 10 : -10})),
      median?.value == null ? null : Plot.ruleX([median], {x: isTime(column.type) ? time(median.value, column.type) : "value", strokeDasharray: "2,3", strokeOpacity: 0.7}),
      median?.value == null ? null : Plot.text([median], {x: isTime(column.type) ? time(median.value, column.type) : "value", frameAnchor: "top", textAnchor: "start", dx: 4, dy: 4, text: () => "median"}),
      Plot.ruleY([0]),
      Plot.tip(points, Plot.pointerX({x, y: y("density"), title: tip}))
    ]
  });
}
const share = (value) => value == null ? "unknown" : `${Number((100 * value).toPrecision(2))} %`;

const tipOf = (name, d, key) => `${name}\n${number(d[key])}\n95 %: ${number(d.lower)} to ${number(d.upper)}${d.exact == null ? "" : `\nexactly ${number(d.exact)}`}`;

// Records with each value of a column
export function bars(width, column, rows, chosen, exact) {
  const data = rows.map((d, i) => ({...d, value: d.value ?? "NULL", exact: exact?.[i]}));
  return Plot.plot({
    ...shape(width), height: 50 + 28 * data.length, marginLeft: 90, ariaLabel: `Records by ${column.name}`,
    x: {label: null, grid: true, tickFormat: (v) => v < 1000 ? String(v) : `${v / 1000}k`, ticks: Math.max(3, Math.round(width / 90))}, y: {label: null, domain: data.map((d) => d.value)},
    marks: [
      Plot.barX(data, {x: "count", y: "value", fill: ACCENT, fillOpacity: (d) => chosen == null || d.value === chosen ? 0.75 : 0.3, insetTop: 2, insetBottom: 2}),
      Plot.ruleY(data, {x1: "lower", x2: "upper", y: "value", strokeWidth: 2}),
      exact ? Plot.dot(data, {x: "exact", y: "value", symbol: "diamond", stroke: EXACT, fill: "var(--theme-background)"}) : null,
      Plot.ruleX([0]),
      Plot.tip(data, Plot.pointerY({x: "count", y: "value", title: (d) => tipOf(d.value, d, "count")}))
    ]
  });
}

// The mean of a number for each value of other columns, hollow where no table of both was measured
export function means(width, column, rows, beside) {
  const data = rows.filter((d) => d.mean != null).map((d) => ({...d, name: `${d.column}: ${d.value1 ?? "NULL"}`, exact: beside ? d.exact : null}));
  return Plot.plot({
    ...shape(width), height: 40 + data.length * Math.max(26, Math.min(50, 250 / data.length)), marginLeft: 120, ariaLabel: `Mean ${column.name}`,
    x: {label: null, grid: true, ticks: Math.max(3, Math.round(width / 110)), ...(isTime(column.type) ? {transform: (v) => time(v, column.type)} : {})},
    y: {label: null, domain: data.map((d) => d.name)},
    marks: [
      Plot.ruleY(data, {x1: "lower", x2: "upper", y: "name", stroke: ACCENT, strokeWidth: 3, strokeOpacity: 0.4}),
      Plot.dot(data, {x: "mean", y: "name", stroke: ACCENT, fill: (d) => d.source === "model" ? "var(--theme-background)" : ACCENT, r: 4}),
      beside ? Plot.dot(data, {x: "exact", y: "name", symbol: "diamond", stroke: EXACT, fill: "var(--theme-background)"}) : null,
      Plot.tip(data, Plot.pointerY({x: "mean", y: "name", title: (d) => tipOf(d.name, d, "mean")}))
    ]
  });
}

// Shares of two numbers, and a legend of its own
export function map(width, a, b, rows, dark) {
  const step = (key) => {
    const places = [...new Set(rows.map((d) => d[key]))].sort((u, v) => u - v);
    return Math.max(...places.slice(1).map((v, i) => v - places[i]));
  };
  const [w, h] = [step("x1"), step("x2")];
  const total = rows.reduce((sum, d) => sum + d.density, 0);
  const cells = rows.map((d) => ({...d, share: Math.max(d.density, 0) / total}));
  const edges = (key, size, {lower, upper}) => ({low: (d) => Math.max(d[key] - size / 2, lower), high: (d) => Math.min(d[key] + size / 2, upper)});
  const [x, y] = [edges("x1", w, a), edges("x2", h, b)];
  const plot = Plot.plot({
    ...shape(width), height: Math.min(380, 180 + width / 3), ariaLabel: `Map of ${a.name} and ${b.name}`,
    x: {label: unit(a)}, y: {label: unit(b)}, color: {scheme: dark ? "Magma" : "YlGnBu", type: "sqrt", domain: [0, Math.max(...cells.map((d) => d.share))]},
    marks: [
      Plot.rect(cells, {x1: x.low, x2: x.high, y1: y.low, y2: y.high, fill: "share", inset: -0.3}),
      Plot.tip(cells, Plot.pointer({x: "x1", y: "x2", title: (d) => `${a.name} ${number(x.low(d))} to ${number(x.high(d))}\n${b.name} ${number(y.low(d))} to ${number(y.high(d))}\n${share(d.share)} of the records`}))
    ]
  });
  const {apply, domain: [, most]} = plot.scale("color");
  const swatches = Array.from({length: 12}, (_, i) => Object.assign(element("i"), {style: `background: ${apply(most * (i / 11) ** 2)}`}));
  return element("div", null, {}, element("div", null, {className: "legend"}, "0 %", element("span", null, {style: "line-height: 0"}, ...swatches), share(most)), plot);
}
