// releases.json.js: what each release by columns answers, for all records and for each group, with the SQL that was asked.
// RELEASES is the address of a database of analysts.  If CLINIC is that of the made-up tables, the exact answers
// stand beside.
import {spawnSync} from "node:child_process";

const MOST_GROUPS = 24;
const MOST_CATEGORIES = 12;
const MOST_NUMBERS = 6;

const quote = (text) => `'${text.replaceAll("'", "''")}'`;

// The rows of each query, asked in one session
function ask(database, queries) {
  const input = queries.map((sql) => `SELECT coalesce(jsonb_agg(q), '[]') FROM (${sql}) q;\n`).join("");
  const psql = spawnSync("psql", ["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database], {input, encoding: "utf8", maxBuffer: 1 << 30});
  if (psql.error || psql.status !== 0) throw new Error(psql.error ?? psql.stderr);
  return psql.stdout.trim().split("\n").map((line) => JSON.parse(line));
}

const short = (value) => typeof value === "number" ? Number(value.toPrecision(5)) : value === "Infinity" || value === "-Infinity" ? null : value;
const arrays = (rows) => ({names: Object.keys(rows[0] ?? {}), rows: rows.map((row) => Object.values(row).map(short))});

// The charts of a release, each with its query
function charts(release) {
  const name = quote(release.name);
  const numbers = release.columns.filter((c) => c.kind === "number").slice(0, MOST_NUMBERS);
  const categories = release.columns.filter((c) => c.kind === "category" && c.categories.length <= MOST_CATEGORIES);
  const groups = categories.flatMap((c) => c.categories.map((value) => ({column: c.name, value}))).slice(0, MOST_GROUPS);
  release.groups = [{}, ...groups];
  return release.groups.flatMap(({column, value}, group) => {
    const where = column === undefined ? "" : `, "where" => ${quote(JSON.stringify({[column]: value}))}`;
    const chart = (key, sql) => ({group, key, sql});
    const map = (a, b) => where === ""
      ? `SELECT x1, x2, density FROM race_heatmap(${name}, ${quote(a.name)}, ${quote(b.name)}, 24)`
      : `SELECT b.low + ${(b.upper - b.lower) / 40} AS x2, (h.low + h.high) / 2 AS x1, h.count / (h.high - h.low) AS density\n`
        + `FROM (SELECT ${b.lower} + ${(b.upper - b.lower) / 20} * i AS low FROM generate_series(0, 19) i) b,\n`
        + `  race_histogram(${name}, ${quote(a.name)}, '20', jsonb_build_object(${quote(column)}, ${quote(value)}, ${quote(b.name)}, format('[%s,%s)', b.low, b.low + ${(b.upper - b.lower) / 20}))) h`;
    return [
      chart("count", `SELECT count, lower, upper FROM race_count(${name}${where})`),
      ...numbers.flatMap((c) => [
        chart(`mean ${c.name}`, `SELECT mean, lower, upper, source FROM race_mean(${name}, ${quote(c.name)}${where})`),
        chart(`quantiles ${c.name}`, `SELECT p, value, lower, upper, text FROM race_quantiles(${name}, ${quote(c.name)}, '{0.25,0.5,0.75}'${where})`),
        chart(`curve ${c.name}`, `SELECT x, density, lower, upper FROM race_curve(${name}, ${quote(c.name)}, 50${where})`),
        ...categories.filter((by) => by.name !== column).map((by) =>
          chart(`means ${c.name} ${by.name}`, `SELECT value1, mean, lower, upper, count, source FROM race_mean(${name}, ${quote(c.name)}, ${quote(by.name)}${where})`))]),
      ...categories.filter((c) => c.name !== column).map((c) =>
        chart(`bars ${c.name}`, `SELECT value, count, lower, upper, source FROM race_histogram(${name}, ${quote(c.name)}${where})`)),
      ...numbers.flatMap((a, i) => numbers.slice(i + 1).filter((b) => !/^(date|time|interval)/.test(b.type) && !/^(date|time|interval)/.test(a.type))
        .map((b) => chart(`map ${a.name} ${b.name}`, map(a, b))))
    ];
  });
}

const number = (value, type) => type === "date" ? (Date.parse(value) - Date.UTC(2000, 0, 1)) / 864e5 : Number(value);

// The exact answers to the same questions, of values that are clipped as in releases.  The cells of a curve follow each other from the lower bound on; that of one
// value has it as its x.
function exact(release, rows, {group, key}, answer) {
  const {column, value} = release.groups[group];
  const [kind, a, b] = key.split(" ");
  const some = column === undefined ? rows : rows.filter((row) => String(row[column]) === value);
  const clip = (name) => {
    const {lower, upper, type} = release.columns.find((c) => c.name === name);
    return (row) => row[name] == null ? [] : [Math.min(Math.max(number(row[name], type), lower), upper)];
  };
  const mean = (list) => list.length === 0 ? null : list.reduce((sum, v) => sum + v, 0) / list.length;
  if (kind === "count") return some.length;
  if (kind === "mean") return short(mean(some.flatMap(clip(a))));
  if (kind === "bars") return answer.map((r) => some.filter((row) => String(row[a]) === String(r.value)).length);
  if (kind === "means") return answer.map((r) => short(mean(some.filter((row) => String(row[b]) === String(r.value1)).flatMap(clip(a)))));
  if (kind !== "curve") return undefined;
  const values = some.flatMap(clip(a));
  let low = release.columns.find((c) => c.name === a).lower;
  return answer.map(({x}, i) => {
    const high = i === answer.length - 1 ? Infinity : x > low ? 2 * x - low : low + 1;
    const width = x > low ? 2 * (x - low) : 1;
    const inside = values.filter((v) => v >= low && v < high).length;
    low = high;
    return short(inside / values.length / width);
  });
}

const database = process.env.RELEASES;
const [catalog] = ask(database, [`SELECT c.name, version, description, dataset, columns, units, domains, count, epsilon, delta, released_at,
  (race_info(race_released(c.name))).max_contributions AS contributions FROM race_catalog c WHERE domains IS NOT NULL ORDER BY cardinality(columns) DESC, c.name COLLATE "C"`]);
if (catalog.length === 0) throw new Error("the database has no releases by columns");
const releases = catalog.map(({columns, units, domains, ...release}) => ({
  ...release,
  columns: domains.filter((d) => !d.measure).map((d) => ({...d, unit: units?.[columns.indexOf(d.name)] ?? null}))
}));
for (const release of releases) {
  const asked = charts(release);
  const versions = {group: 0, key: "versions", sql: `SELECT version, "time", count, epsilon, distance, p_value FROM race_versions(${quote(release.name)})`};
  const answers = ask(database, [...asked, versions].map(({sql}) => sql));
  const [rows] = process.env.CLINIC ? ask(process.env.CLINIC, [`SELECT * FROM ${release.dataset}`]) : [];
  release.charts = release.groups.map(() => ({}));
  [...asked, versions].forEach((chart, i) => release.charts[chart.group][chart.key] = {
    sql: chart.sql, ...arrays(answers[i]), exact: rows && exact(release, rows, chart, answers[i])
  });
}
process.stdout.write(JSON.stringify(releases));
