// node contract.js: what node-postgres and Evidence's connector make of the functions for
// charts, in the database that PGDATABASE and others name.  Writes TAP.
import {createRequire} from "node:module";
import pg from "pg";
import Cursor from "pg-cursor";

const evidence = createRequire(import.meta.url)("@evidence-dev/postgres");
let tests = 0;
let failed = 0;

function ok(good, title, detail) {
  tests++;
  failed += !good;
  console.log(`${good ? "ok" : "not ok"} ${tests} - ${title}${good || detail === undefined ? "" : `\n# ${JSON.stringify(detail)}`}`);
}

const code = (promise) => promise.then(() => "no error", (error) => error.code ?? String(error));
const numbers = (row, ...names) => names.every((name) => typeof row[name] === "number" && Number.isFinite(row[name]));

// What takes hours if nobody stops it
const endless = "SELECT sum(density) FROM generate_series(1, 1000000) i, LATERAL race_heatmap('age and pressure', '1', '2', 400 + i % 2)";

const client = new pg.Client();
const other = new pg.Client();
await client.connect();
await other.connect();

// Prepared statements, without a cast
const curve = {name: "curve", text: "SELECT * FROM race_curve($1, $2, $3, $4, $5, $6)"};
for (const [values, rows] of [[["age", "age", 50, null, null, null], 50], [["age by site", "age", 20, 0, 60.5, null], 40], [["age by site", "1", "10", 0, 60, "north"], 10]]) {
  const result = await client.query({...curve, values});
  ok(result.rows.length === rows, `race_curve, prepared, of ${JSON.stringify(values)}`, result.rows.length);
  ok(result.rows.every((r) => numbers(r, "x", "density", "lower", "upper", "count_per_unit")), "its columns are numbers", result.rows[0]);
  ok(result.rows.every((r) => (values[0] === "age" ? r.label === null : typeof r.label === "string")), "a label is a text or null");
}
const prepared = [
  ["race_heatmap($1, $2, $3, $4)", ["age and pressure", "age", "pressure", 5], ["x1", "x2", "density", "stderr"]],
  ["race_histogram($1, $2, $3)", ["age", "age", [0, 20, 40.5]], ["low", "high", "count", "lower"]],
  ["race_quantiles($1, $2, $3)", ["age", "age", [0.25, 0.5]], ["p", "value", "lower"]],
  ["race_modes($1, $2)", ["age", 2], ["mode", "x", "density", "prominence"]],
  ["race_modes($1)", ["age"], ["mode", "x"]],
  ["race_outliers($1, $2)", ["age and pressure", [[30, 120], [99, 199]]], ["point", "typicality", "share", "density"]],
  ["race_mean_curve($1, $2, $3)", ["cost by age", "age", 5], ["x", "lower", "upper"]],
  ["race_trend($1)", ["age"], ["version", "count", "epsilon"]]
];
for (const [call, values, names] of prepared) {
  const {rows} = await client.query({name: call, text: `SELECT * FROM ${call}`, values});
  ok(rows.length > 0 && rows.every((r) => numbers(r, ...names)), call, rows[0]);
}
const {rows: nulls} = await client.query("SELECT p, value FROM race_quantiles($1, $2, $3)", ["age", "age", [0.5, null]]);
ok(nulls.length === 2 && nulls[1].p === null && nulls[1].value === null, "a NULL in an array gives a row of nulls", nulls);
const {rows: none} = await client.query("SELECT * FROM race_curve($1)", [null]);
ok(none.length === 0, "a release that is NULL gives no rows");
const {rows: kde} = await client.query("SELECT race_kde(race_released($1), $2::float8[]) AS density", ["age", [40]]);
ok(numbers(kde[0], "density"), "race_kde, with a cast", kde);
ok(await code(client.query("SELECT race_kde(race_released($1), $2)", ["age", [40]])) === "42P18", "which it needs: its query may have many types");

const {rows: trend} = await client.query("SELECT * FROM race_trend('age')");
ok(trend[0].time instanceof Date && trend[0].distance === null && numbers(trend[1], "distance", "p_value"), "time is a Date, and the first version has no distance", trend);
const {rows: catalog} = await client.query("SELECT * FROM race_catalog WHERE name = 'age by site'");
ok(catalog[0].labels.join() === "north,south" && catalog[0].units[0] === "years" && catalog[0].lower[0] === 0 && catalog[0].description === null,
  "the catalog has arrays of texts and of numbers", catalog);

// Cursors, closed before their end
const cursor = client.query(new Cursor("SELECT * FROM race_curve($1, $2, $3)", ["age", "age", 1000]));
ok((await cursor.read(10)).length === 10 && (await cursor.read(100)).length === 100, "a cursor gives rows in portions");
await cursor.close();
ok((await client.query("SELECT count(*)::int AS n FROM race_curve('age')")).rows[0].n === 100, "a cursor that was closed leaves the connection as it was");

// Errors have a code, and the connection goes on
for (const [text, expected] of [["SELECT * FROM race_curve('nothing')", "42704"], ["SELECT * FROM race_curve('age', 'nothing')", "42703"],
  ["SELECT * FROM race_curve('age', '1', 0)", "22023"], ["SELECT charge FROM _racepriv.race_charges", "42501"]])
  ok(await code(client.query(text)) === expected, `${expected}: ${text}`);

// Cancel and timeout
const {rows: [{pid}]} = await client.query("SELECT pg_backend_pid() AS pid");
const canceled = code(client.query(endless));
for (let busy = false; !busy; ) busy = (await other.query("SELECT state = 'active' AS busy FROM pg_stat_activity WHERE pid = $1", [pid])).rows[0].busy;
await other.query("SELECT pg_cancel_backend($1)", [pid]);
ok(await canceled === "57014", "a query can be canceled");
await client.query("SET statement_timeout = '1s'");
ok(await code(client.query(endless)) === "57014", "statement_timeout ends one");
await client.query("RESET statement_timeout");
ok((await client.query({...curve, values: ["age", "age", 3, null, null, null]})).rows.length === 3, "what was prepared still is");
await client.end();
await other.end();

// Evidence: counts the rows of a subquery, and then reads them by a cursor
const options = {host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER, database: process.env.PGDATABASE, ssl: false};
async function source(text, batch) {
  const result = await evidence(text, options, batch);
  const rows = [];
  for await (const part of result.rows()) rows.push(...part);
  return {...result, rows, types: Object.fromEntries(result.columnTypes.map((c) => [c.name, c.evidenceType]))};
}
const read = await source("SELECT * FROM race_curve('age by site', 'age', 120)", 50);
ok(read.rows.length === 240 && read.expectedRowCount === 240, "Evidence reads all rows of a curve, in batches", read.rows.length);
ok(["x", "density", "lower", "upper", "count_per_unit"].every((name) => read.types[name] === "number") && read.types.label === "string", "and knows their types", read.types);
const versions = await source("SELECT * FROM race_trend('age')");
ok(versions.types.time === "date" && versions.types.version === "number" && versions.rows[0].time instanceof Date && versions.rows[0].distance === null, "of versions, too", versions.types);
ok((await source("SELECT name, count, epsilon, released_at FROM race_catalog")).rows.length === 4, "and the catalog");

console.log(`1..${tests}`);
process.exit(failed === 0 ? 0 : 1);
