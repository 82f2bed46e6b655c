import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge } from "../../conformance/judge.ts";
import type { SuiteResult } from "../../conformance/suite.ts";

const sql = {
  cases: [{ id: "one", dialect: "generic", sql: "INSERT INTO b SELECT x FROM a", in_tables: ["a"], out_tables: ["b"] }],
};
const sentence = {
  full_text: "Mail ada@example.com",
  spans: [{ entity_type: "EMAIL_ADDRESS", entity_value: "ada@example.com", start_position: 5, end_position: 20 }],
};
const rego = { cases: [{ note: "one", query: "data.t.p = x", modules: ["package t\n\np := 1\n"], want_result: [{ x: 1 }] }] };
/** A little of each kind of the layout, with the suites that must then have something to judge. */
const FILES: Readonly<Record<string, readonly [content: unknown, suite: string]>> = {
  "rego/conformance/arithmetic.json": [rego, "rego/numbers"],
  "rego/conformance/something-new.json": [rego, "rego/core-language"],
  "rego/oracle-exprs.json": [rego, "rego/oracle-exprs"],
  "rego/more-expressions.json": [rego, "rego/oracle-exprs"],
  "rego/oracle-policies.json": [
    {
      policies: [
        {
          name: "one",
          rego: "package test\n\nallow if input.x\n",
          data: {},
          outputs: ["allow"],
          cases: [{ input: { x: 1 }, want: { allow: true } }],
        },
      ],
    },
    "rego/oracle-policies",
  ],
  "rego/negative.json": [
    { cases: [{ note: "one", module: "package t\n\np := x\n", valid: false, code: "rego_unsafe_var_error" }] },
    "rego/negative",
  ],
  "rego/extra/another.json": [rego, "rego/extra"],
  "rego/extra/shared.json": [
    {
      modules: ["package t\n\np := 1\n"],
      cases: [{ note: "one", query: "data.t.p = x", module_refs: [0], want_result: [{ x: 1 }] }],
    },
    "rego/aci",
  ],
  "classification/recognizer-cases.json": [
    {
      cases: [
        { entity: "EMAIL_ADDRESS", country: null, text: "ada@example.com", expected: [{ start: 0, end: 15 }], positive: true },
      ],
      validator_cases: [],
      context_cases: [],
    },
    "classification/recogniser-spans",
  ],
  "classification/sentences-another.json": [[sentence], "classification/sentences-another"],
  "classification/columns-another.json": [
    { columns: [{ dataset: "people", column: "email", infotype: "Email_Address", samples: ["ada@example.com"] }] },
    "classification/columns",
  ],
  "classification/strings.json": [
    { groups: [{ validator: "isEmail", args: [], valid: ["ada@example.com"], invalid: ["ada"] }] },
    "classification/string-validators",
  ],
  "lineage/queries.json": [sql, "lineage/sql-tables"],
  "lineage/index.json": [[{ file: "absent.json", index: null, kind: "run", valid: true, inputs: 0, outputs: 0 }], ""],
  "lineage/spec/OpenLineage.json": [{ $id: "https://example.com/OpenLineage.json", type: "object" }, ""],
  "notes.json": ["not a known kind", ""],
  "crypto/wycheproof/some_test.json": [
    {
      algorithm: "HMACSHA256",
      testGroups: [
        {
          tagSize: 256,
          tests: [
            {
              tcId: 1,
              key: "",
              msg: "",
              tag: "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
              result: "valid",
            },
          ],
        },
      ],
    },
    "crypto/wycheproof/hmac_sha256",
  ],
};

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), "seneschal-conformance-"));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

let runs = 0;

/** Suites that bring their own cases. */
const OWN = /^classification\/(generated|held-out|prose|scripts|talks|numbers-of)|^redaction\/|^crypto\/(openssl|rfc6238)/;

/** What the runner says over the given files. */
async function run(
  names: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, SuiteResult>>> {
  const data = join(work, String(runs++));
  mkdirSync(data);
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(data, name)), { recursive: true });
    writeFileSync(join(data, name), text);
  };
  for (const name of names) put(name, JSON.stringify(FILES[name]?.[0]));
  for (const [name, text] of Object.entries(extra)) put(name, text);
  return judge(data, (name) => !OWN.test(name));
}

const broken = (suites: Readonly<Record<string, SuiteResult>>) =>
  Object.entries(suites).flatMap(([name, { failures }]) =>
    failures.filter((f) => f.includes("the suite broke")).map((f) => `${name}: ${f}`),
  );

test("any part of the layout is judged, new names of a known kind included; what is absent is skipped and breaks nothing", async () => {
  const names = Object.keys(FILES);
  await fc.assert(
    fc.asyncProperty(fc.subarray(names), async (some) => {
      const suites = await run(some);
      expect(broken(suites)).toEqual([]);
      const wanted = new Set(some.map((name) => FILES[name]?.[1]).filter((suite) => suite !== ""));
      for (const suite of wanted) expect([suite, (suites[suite as string]?.passed ?? 0) > 0]).toEqual([suite, true]);
      for (const [, suite] of Object.values(FILES)) {
        if (suite === "" || wanted.has(suite)) continue;
        expect([suite, suites[suite]?.passed ?? 0, suites[suite]?.failed ?? 0]).toEqual([suite, 0, 0]);
      }
    }),
    { numRuns: 12, examples: [[names], [[]]] },
  );
});

test("a file that cannot be read fails its suites by name, and the others are still told", async () => {
  const suites = await run(["rego/conformance/arithmetic.json"], { "lineage/broken.json": "{" });
  expect(broken(suites).length).toBeGreaterThan(0);
  expect(broken(suites).every((line) => line.startsWith("lineage/"))).toBe(true);
  expect(suites["rego/numbers"]).toMatchObject({ passed: 1, failed: 0 });
});
