import {
  classifyColumnValues,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  type RedactionRule,
  redactColumns,
} from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { FileReport } from "../../src/classify-files/index.ts";
import { runFileTask } from "../../src/file-threads/run-file-task.ts";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { bytesOf, FORMATS, type Rows, type TableFormat } from "./tables.ts";

const policy = DEFAULT_TIER_POLICY;
const key = new Uint8Array(32).fill(7);
const given = { policy, recognisers: DEFAULT_RECOGNISERS, crypto: nodeCrypto, random: seededRandom(5) };
const redacted = async (format: TableFormat, bytes: Uint8Array, rules: readonly RedactionRule[], about: string) => {
  const done = await runFileTask({ work: "redact", format, bytes, rules, key, about }, given);
  return (done as { readonly bytes: Uint8Array }).bytes;
};
const restored = async (format: TableFormat, bytes: Uint8Array) =>
  ((await runFileTask({ work: "restore", format, bytes, key }, given)) as { readonly bytes: Uint8Array }).bytes;
const classified = async (format: TableFormat, bytes: Uint8Array, about: string) =>
  (await runFileTask({ work: "classify", format, bytes, about }, given)) as Pick<FileReport, "tier" | "tags"> &
    Partial<FileReport>;

/** Pieces of texts, of which some say something alone, and some only beside others. */
const SAID = [
  ..."password|is|hunter2xyz9|4111 1111|1111 1111|ada|@example.org|the patient|Zofia Brandl|John|Smith|SSN:|536-22-8726|536228726|was diagnosed with|asthma|IBAN|DE89 3704 0044|0532 0130 00|born on|12 March 1985|lives at|12 Main Street, Springfield|passport no.|C01X00T47|+1 212 555|0147|earns|84500 EUR|blue|n/a|7|2024".split(
    "|",
  ),
];
const NAMES = ["note", "tags", "contact", "patient", "id", "race", "ssn", "status", "health_status", "name", "value", "members"];
const RULES: readonly (readonly RedactionRule[])[] = [
  [{ operator: "replace" }],
  [{ operator: "mask" }],
  [{ operator: "tokenise" }],
  [{ operator: "encrypt" }],
  [{ operator: "drop" }],
];
const about = fc.constantFrom("", "results", "hr.patients");
const said = fc.constantFrom(...SAID);

/** What classification finds in a file, redaction of it hides: in the redacted file it finds nothing. */
async function findsNothing(format: TableFormat, bytes: Uint8Array, rules: readonly RedactionRule[], about: string) {
  const once = await redacted(format, bytes, rules, about);
  const told =
    format === "xlsx" || format === "parquet" ? "" : `${new TextDecoder().decode(once)} of ${new TextDecoder().decode(bytes)}`;
  const { tier, tags, columns = [] } = await classified(format, once, about);
  const reasons = columns.filter((column) => column.tier !== policy.tiers[0]).flatMap(({ reasons }) => reasons);
  // What may be something, and is nothing for sure, is INTERNAL; so are places and companies.
  expect(policy.tiers.indexOf(tier), `${reasons.join("; ")} (${tags}) in ${told}`).toBeLessThan(2);
  if (format === "xlsx" || format === "parquet") return;
  expect(new TextDecoder().decode(await redacted(format, once, rules, about)), told).toBe(new TextDecoder().decode(once));
  const operator = rules[0]?.operator;
  if (operator === "tokenise" || operator === "encrypt")
    expect(new TextDecoder().decode(await restored(format, once)), told).toBe(new TextDecoder().decode(bytes));
}

test("whatever classification finds in JSON redaction of it hides, over the texts of a list too, which are read as one", async () => {
  const { document } = fc.letrec<{ document: unknown; leaf: unknown; list: unknown; object: unknown }>((tie) => ({
    leaf: fc.oneof(said, said, fc.constantFrom(7, 536228726, null, true)),
    list: fc.array(fc.oneof({ maxDepth: 2 }, tie("leaf"), tie("leaf"), tie("object")), { maxLength: 5 }),
    object: fc.dictionary(fc.constantFrom(...NAMES), fc.oneof({ maxDepth: 3 }, tie("leaf"), tie("list"), tie("object")), {
      maxKeys: 4,
    }),
    document: fc.array(tie("object"), { minLength: 1, maxLength: 3 }),
  }));
  await fc.assert(
    fc.asyncProperty(
      document,
      fc.constantFrom("json", "jsonl"),
      fc.constantFrom(...RULES),
      about,
      async (document, format, rules, about) => {
        const text =
          format === "json"
            ? JSON.stringify(document)
            : (document as object[]).map((line) => `${JSON.stringify(line)}\n`).join("");
        await findsNothing(format, new TextEncoder().encode(text), rules, about);
      },
    ),
    { numRuns: 60 },
  );
});

test("an illness or a drug in one member of JSON is hidden where another member says whose it is", async () => {
  const patients = fc.constantFrom<object>(
    { patient: { id: "MRN-0055512", birthDate: "1970-03-02" } },
    { name: "Zofia Brandl" },
    { id: "MRN-0042817", birthDate: "1962-12-01" },
  );
  const conditions = fc.constantFrom<object>(
    { condition: { text: "Type 2 diabetes mellitus" } },
    { list: ["asthma", "metformin"] },
    { item: { display: "Chronic kidney disease stage 3", since: 2019 } },
  );
  await fc.assert(
    fc.asyncProperty(
      patients,
      conditions,
      fc.boolean(),
      fc.constantFrom(...RULES),
      async (patient, condition, isFirst, rules) => {
        const bytes = new TextEncoder().encode(
          JSON.stringify(isFirst ? { ...condition, ...patient } : { ...patient, ...condition }),
        );
        await findsNothing("json", bytes, rules, "");
        expect(new TextDecoder().decode(await redacted("json", bytes, rules, ""))).not.toMatch(
          /diabetes|asthma|metformin|kidney/,
        );
      },
    ),
    { numRuns: 30 },
  );
});

// Of one column of CSV nothing is left where its values are dropped, not even records: its name stands alone.
test("and so it does in a table of any format, whatever its columns are called", async () => {
  const table = fc.record({
    names: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 4 }),
    rows: fc.array(fc.array(said, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
    format: fc.constantFrom(...FORMATS),
    isShared: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom(...RULES), about, async ({ names, rows, format, isShared }, rules, about) => {
      const cells: Rows = rows.map((row) =>
        Object.fromEntries(names.map((name, i) => [name, (row[i] ?? "").replaceAll(",", "")])),
      );
      await findsNothing(format, bytesOf(format, names, cells, isShared), rules, about);
    }),
    { numRuns: 60 },
  );
});

test("and so it does in columns of structures, each by the names on its way", () => {
  const columns = fc.uniqueArray(
    fc.record({
      path: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
      cells: fc.array(fc.option(said), { minLength: 1, maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 4, selector: ({ path }) => path.join(".") },
  );
  fc.assert(
    fc.property(columns, fc.constantFrom("replace", "mask", "drop" as const), about, (columns, operator, about) => {
      const options = { policy, recognisers: given.recognisers, rules: [{ operator } as const], about };
      for (const { path, cells } of redactColumns(columns, options)) {
        const values = cells.filter((cell) => cell !== null);
        if (values.length === 0) continue;
        const { tier, reasons } = classifyColumnValues({ name: path.join("."), path, values, about }, policy, given.recognisers);
        expect(policy.tiers.indexOf(tier), `${reasons.join("; ")} in ${JSON.stringify(columns)}`).toBeLessThan(2);
      }
    }),
    { numRuns: 200 },
  );
});
