import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

describe.each(servers)("a hostile text, on %s", (_, serve) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(serve);
  });
  afterAll(() => rig.stop());

  test.each([
    ["calls that never close", `SELECT ${"f(".repeat(45)}`],
    ["calls that close", `SELECT ${"f(".repeat(45)}1${")".repeat(45)}`],
    ["words in brackets", `SELECT ${"(SE".repeat(45)}`],
    ["intervals", `SELECT ${"INTERVAL ".repeat(45)}`],
  ])(
    "%s, from a caller without a key, gets an answer in every dialect, and so do others in the same moment",
    async (_what, query) => {
      const classify = (text: string, context: object) =>
        rig.call(undefined, "POST", "/api/v1/classify", { query: text, context });
      const answers = await Promise.all([
        ...[{}, { dialect: "postgres" }, { dialect: "mssql" }].map((context) => classify(query, context)),
        classify("my ssn is 536-22-8726", {}),
        rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: {} }),
        rig.call(undefined, "GET", "/health"),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    },
  );
});
