import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, tierRank } from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runFileTask } from "../../src/file-threads/run-file-task.ts";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { bytesOf, FORMATS, type Rows, rowsOf, type TableFormat } from "./tables.ts";

const policy = DEFAULT_TIER_POLICY;
const key = new Uint8Array(32).fill(7);
const given = { policy, recognisers: DEFAULT_RECOGNISERS, crypto: nodeCrypto, random: seededRandom(3) };
const redacted = async (format: TableFormat, bytes: Uint8Array, about = ""): Promise<Uint8Array> => {
  const done = await runFileTask({ work: "redact", format, bytes, rules: [{ operator: "replace" }], key, about }, given);
  return (done as { readonly bytes: Uint8Array }).bytes;
};
const rankOf = async (format: TableFormat, bytes: Uint8Array, about = ""): Promise<number> => {
  const report = await runFileTask({ work: "classify", format, bytes, about }, given);
  return tierRank(policy, (report as { readonly tier: string }).tier);
};

const STATES = ["healthy", "DEGRADED", "out_of_service", "UP", "unknown", ""];
const tables = fc.record({
  format: fc.constantFrom(...FORMATS),
  states: fc
    .array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 6 })
    .filter((states) => states.some((state) => state !== "")),
});
const rowsWith = (first: string, states: readonly string[]): Rows =>
  states.map((state, i) => ({ [first]: `n${i}x`, health_status: state }));

test("the name of a file tells of its columns in every format: what classification finds by it, redaction hides", async () => {
  const names = ["nr", "race", "condition"];
  const rows: Rows = ["quoro", "brelm", "zant", "oont"].map((said, i) => ({
    nr: `n${i}x`,
    race: said,
    condition: `${said}osis`,
  }));
  for (const format of FORMATS)
    for (const isShared of [true, false]) {
      const bytes = bytesOf(format, names, rows, isShared);
      const [nobody, somebody] = ["seasons.csv", "patients.csv"];
      expect(await rowsOf(format, names, await redacted(format, bytes, nobody)), format).toEqual(
        await rowsOf(format, names, bytes),
      );
      expect(await rankOf(format, bytes, nobody), format).toBeLessThan(tierRank(policy, "CONFIDENTIAL"));
      expect(await rankOf(format, bytes, somebody), format).toBe(tierRank(policy, "RESTRICTED"));
      const once = await redacted(format, bytes, somebody);
      for (const row of await rowsOf(format, names, once)) {
        expect(row["race"], format).toMatch(/^<[A-Z_]+>$/);
        expect(row["condition"], format).toMatch(/^<[A-Z_]+>$/);
      }
      expect(await rankOf(format, once, somebody), format).toBe(0);
    }
});

test("a column that says how services are is nobody's health in a file of any format, and is kept", async () => {
  await fc.assert(
    fc.asyncProperty(tables, async ({ format, states }) => {
      const names = ["service", "health_status"];
      const bytes = bytesOf(format, names, rowsWith("service", states), false);
      expect(await rowsOf(format, names, await redacted(format, bytes))).toEqual(await rowsOf(format, names, bytes));
      expect(await rankOf(format, bytes)).toBeLessThan(tierRank(policy, "CONFIDENTIAL"));
    }),
    { numRuns: 60 },
  );
});

test("it is somebody's where one value is no state, and where a column beside it or the name of the table is about persons", async () => {
  await fc.assert(
    fc.asyncProperty(tables, fc.constantFrom("ill", "beside", "about"), async ({ format, states }, why) => {
      const first = why === "beside" ? "patient_id" : "service";
      const names = [first, "health_status"];
      const bytes = bytesOf(format, names, rowsWith(first, why === "ill" ? [...states, "quorosis"] : states), false);
      const once = await redacted(format, bytes, why === "about" ? "patients" : "");
      for (const row of await rowsOf(format, names, once)) expect(row["health_status"]).toMatch(/^(?:<[A-Z_]+>)?$/);
      expect(await rowsOf(format, names, await redacted(format, once, why === "about" ? "patients" : ""))).toEqual(
        await rowsOf(format, names, once),
      );
    }),
    { numRuns: 90 },
  );
});
