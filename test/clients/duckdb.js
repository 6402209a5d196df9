// node duckdb.js: runs the statements of the input in DuckDB, and prints the rows of queries.
import {readFileSync} from "node:fs";
import {DuckDBInstance} from "@duckdb/node-api";

const connection = await (await DuckDBInstance.create(":memory:")).connect();
for (const statement of readFileSync(0, "utf8").split(/;\s*$/m).filter((text) => text.trim())) {
  const result = await connection.runAndReadAll(statement);
  if (result.columnName(0) !== "Count") for (const row of result.getRowsJS()) console.log(row.join("|"));
}
