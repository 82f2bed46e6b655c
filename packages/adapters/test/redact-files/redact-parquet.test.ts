import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule, redactionKeys } from "@seneschal/governance";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { redactParquet, restoreParquet } from "../../src/redact-files/index.ts";
import { systemRandom } from "../../src/system/index.ts";

const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(1), systemRandom);
const optionsOf = (...rules: readonly RedactionRule[]) => ({
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});
const access = (bytes: Uint8Array) => ({ byteLength: bytes.length, read: async (a: number, b: number) => bytes.slice(a, b) });
const rowsOf = (bytes: Uint8Array) => parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
const fileOf = (columnData: Parameters<typeof parquetWriteBuffer>[0]["columnData"]) =>
  new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));

const rows = [
  { note: "write to ada@example.org", ssn: 536228726, n: 1, day: new Date("2024-05-06T07:08:09Z"), ok: true },
  { note: null, ssn: null, n: null, day: null, ok: null },
  { note: "nothing", ssn: 536228726, n: 3, day: new Date(0), ok: false },
];
const given = fileOf([
  { name: "note", data: rows.map(({ note }) => note), type: "STRING", nullable: true },
  { name: "ssn", data: rows.map(({ ssn }) => ssn), type: "INT32", nullable: true },
  { name: "n", data: rows.map(({ n }) => n), type: "INT32", nullable: true },
  { name: "day", data: rows.map(({ day }) => day), type: "TIMESTAMP", nullable: true },
  { name: "ok", data: rows.map(({ ok }) => ok), type: "BOOLEAN", nullable: true },
  { name: "for bob@example.org", data: ["a", "b", "c"], type: "STRING" },
]);

test("cells and names are hidden in their rows, and a column keeps its type where nothing in it is", async () => {
  const { bytes, counts } = await redactParquet(access(given), optionsOf());
  expect(await rowsOf(bytes)).toEqual(
    rows.map(({ note, ssn, ...row }, i) => ({
      note: note?.replace("ada@example.org", "<EMAIL_ADDRESS>") ?? null,
      ssn: ssn === null ? null : "<US_SSN>",
      ...row,
      "for <EMAIL_ADDRESS>": "abc"[i],
    })),
  );
  expect(Object.fromEntries(counts)).toEqual({ EMAIL_ADDRESS: 2, US_SSN: 2 });
  // Statistics and footers too.
  expect(Buffer.from(bytes).toString("latin1")).not.toMatch(/ada@|bob@/);
});

test("twice is once, and what was taken comes back as a text", async () => {
  const options = optionsOf({ operator: "tokenise" });
  const { bytes } = await redactParquet(access(given), options);
  expect(await rowsOf((await redactParquet(access(bytes), options)).bytes)).toEqual(await rowsOf(bytes));
  const back = await restoreParquet(access(bytes), DEFAULT_TIER_POLICY, keys);
  const texts = (of: readonly Record<string, unknown>[]) =>
    of.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([k, v]) => [k, v instanceof Date ? v.toISOString() : v === null ? v : String(v)]),
      ),
    );
  expect(texts(await rowsOf(back.bytes))).toEqual(texts(await rowsOf(given)));
});

describe("what cannot be read is refused by its column", () => {
  test.each([
    ["bytes", [new Uint8Array([0xff, 0xfe, 1])], "BYTE_ARRAY"],
    ["lists", [["ada@example.org"]], undefined],
    ["structures", [{ a: "ada@example.org" }], undefined],
  ])("%s", async (name, data, type) => {
    const file = fileOf([{ name, data, ...(type === undefined ? {} : { type: type as "BYTE_ARRAY" }) }]);
    const done = redactParquet(access(file), optionsOf());
    if (name === "bytes") await expect(done).rejects.toThrow(/^column bytes: /);
    else expect(Buffer.from((await done.catch(() => ({ bytes: new Uint8Array() }))).bytes).toString()).not.toContain("ada@");
  });
});
