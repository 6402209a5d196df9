// node contract.js CLIENT: for each line of the input, a statement, its form with parameters, and these, the rows that
// node-postgres gets from the database that PGDATABASE and others name, or the SQLSTATE.  Evidence's connector has
// no parameters: it counts the rows of a subquery, and then reads them by a cursor.
import {createRequire} from "node:module";
import {createInterface} from "node:readline";
import pg from "pg";

const evidence = createRequire(import.meta.url)("@evidence-dev/postgres");
const parameter = (text) => ({s: String, j: String, i: Number, n: (v) => v.split(",").map(Number)})[text[0]](text.slice(2));
const written = (value) => value == null ? "null" : value === true ? "t" : value === false ? "f" : String(value);

const {PGHOST: host, PGPORT: port, PGUSER: user, PGDATABASE: database, POOLED: pooled} = process.env;
const client = new pg.Client();
await client.connect();

async function byEvidence(sql) {
  const result = await evidence(sql, {host, port: Number(port), user, database, ssl: false}, 7);
  const rows = [];
  for await (const part of result.rows()) rows.push(...part);
  if (rows.length !== result.expectedRowCount) throw new Error(`${rows.length} rows of ${result.expectedRowCount}`);
  return rows.map((row) => result.columnTypes.map(({name}) => row[name]));
}

async function byPg(sql, parameters) {
  let n = 0;
  const text = sql.replace(/\?/g, () => `$${++n}`);
  const query = {text, values: parameters.map(parameter), rowMode: "array"};
  return (await client.query(pooled ? query : {name: text.slice(0, 60), ...query})).rows;
}

for await (const line of createInterface({input: process.stdin})) {
  const [literal, sql, ...parameters] = line.split("\t");
  try {
    const rows = process.argv[2] === "evidence" ? await byEvidence(literal) : await byPg(sql, parameters);
    console.log(rows.map((row) => row.map(written).join(" ")).join(";"));
  } catch (error) {
    console.log(`ERROR ${error.code ?? error}`);
  }
}
await client.end();
process.exit();		// connections of Evidence that failed stay open
