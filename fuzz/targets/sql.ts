import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { analyseSql, createClassifier, parseSql } from "@seneschal/governance";
import { type FuzzTarget, law, textOf } from "../target.ts";

const parser = await openSqlParser();
const classifier = createClassifier({ sql: parser });

/** SQL of any dialect and its classification: always an answer. */
export const target: FuzzTarget = {
  // Two seconds for each of four readings: sqlparser-rs tries nested calls again and again, as deep as it goes, up to 1.5 s for half a
  // kilobyte. A service lets it do so in a worker with a deadline.
  slowMs: 8_000,
  words: [
    "SELECT ",
    " FROM patients",
    " WHERE ",
    "WITH x AS (",
    "DELETE FROM ",
    " RETURNING *",
    "INSERT INTO t ",
    "CREATE TABLE a AS ",
    "(",
    ")",
    "f(",
    "'",
    '"',
    "`",
    "--",
    "/*",
    "*/",
    ";",
    "$$",
    "E'\\u0041'",
    " UNION ALL ",
    " JOIN LATERAL ",
    "UNNEST(",
    "ssn",
    "email",
  ],
  run(bytes) {
    const text = textOf(bytes).slice(0, 4_096);
    for (const dialect of [undefined, "postgres", "mysql"]) {
      const { statements, failed } = parseSql(parser, text, dialect);
      const analysis = analyseSql(statements);
      law(failed >= 0 && Array.isArray([...analysis.inputs]), "an analysis names its tables");
    }
    const answer = classifier.classify(text);
    law(answer.confidence >= 0 && answer.confidence <= 1, "confidence is a share");
    law(answer.tier !== "", "there is always a tier");
  },
};
