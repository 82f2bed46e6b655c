import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule, redactionKeys } from "@seneschal/governance";
import fc from "fast-check";
import { parquetMetadata, parquetReadObjects, type SchemaElement } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { classifyParquet } from "../../src/classify-files/index.ts";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { redactParquet, restoreParquet } from "../../src/redact-files/index.ts";

const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(1), seededRandom(5));
const optionsOf = (...rules: readonly RedactionRule[]) => ({
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});
const access = (bytes: Uint8Array) => ({ byteLength: bytes.length, read: async (a: number, b: number) => bytes.slice(a, b) });
const rowsOf = (bytes: Uint8Array) => parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
const schemaOf = (bytes: Uint8Array) => parquetMetadata(Uint8Array.from(bytes).buffer).schema;

const group = (name: string, num_children: number, more: Partial<SchemaElement> = {}): SchemaElement => ({
  name,
  num_children,
  repetition_type: "OPTIONAL",
  ...more,
});
const text = (name: string, repetition_type: "OPTIONAL" | "REQUIRED" = "OPTIONAL"): SchemaElement => ({
  name,
  repetition_type,
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
});
/** A structure with a number and a structure in it, a list of texts, a list of structures, and a map. */
const SCHEMA: readonly SchemaElement[] = [
  { name: "root", num_children: 5 },
  group("person", 3),
  { name: "ssn", repetition_type: "OPTIONAL", type: "INT32" },
  group("contact", 1),
  text("email"),
  { name: "n", repetition_type: "OPTIONAL", type: "INT32" },
  group("notes", 1, { converted_type: "LIST" }),
  { name: "list", num_children: 1, repetition_type: "REPEATED" },
  text("element"),
  group("cards", 1, { converted_type: "LIST" }),
  { name: "list", num_children: 1, repetition_type: "REPEATED" },
  group("element", 2),
  text("password"),
  { name: "size", repetition_type: "OPTIONAL", type: "INT32" },
  group("tags", 1, { converted_type: "MAP" }),
  { name: "key_value", num_children: 2, repetition_type: "REPEATED" },
  text("key", "REQUIRED"),
  text("value"),
  text("plain"),
];

const SSN = 536228726;
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4 });
const row = fc.record({
  person: maybe(
    fc.record({
      ssn: maybe(fc.constant(SSN)),
      contact: maybe(fc.record({ email: maybe(fc.constant("ada@example.org")) })),
      n: maybe(fc.nat(9)),
    }),
  ),
  notes: maybe(fc.array(maybe(fc.constantFrom("write to ada@example.org", `it is ${SSN}`, "nothing")), { maxLength: 3 })),
  cards: maybe(
    fc.array(maybe(fc.record({ password: maybe(fc.constant("hunter2xyz")), size: maybe(fc.nat(9)) })), { maxLength: 3 }),
  ),
  tags: maybe(
    fc.array(fc.record({ key: fc.constantFrom("mail", "to"), value: maybe(fc.constantFrom("bob@example.org", "red")) }), {
      maxLength: 2,
    }),
  ),
  plain: maybe(fc.constantFrom("hunter2xyz", "oats")),
});
/** Every kind of value is there once at least. */
const FULL = {
  person: { ssn: SSN, contact: { email: "ada@example.org" }, n: 1 },
  notes: ["write to ada@example.org", null],
  cards: [{ password: "hunter2xyz", size: 1 }],
  tags: [{ key: "mail", value: "bob@example.org" }],
  plain: "hunter2xyz",
};
const fileOf = (rows: readonly (typeof FULL | object)[]) =>
  new Uint8Array(
    parquetWriteBuffer({
      schema: [...SCHEMA],
      columnData: ["person", "notes", "cards", "tags", "plain"].map((name) => ({
        name,
        data: rows.map((row) => (row as Record<string, unknown>)[name]),
      })),
      rowGroupSize: 3,
    }),
  );
const HIDDEN = ["ada@example.org", `${SSN}`, "hunter2xyz", "bob@example.org"];

/** What a row says, numbers as texts, and nothing of how deep it is empty left out. */
const said = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === "number" || typeof each === "bigint" ? `${each}` : each)));

test("what is nested in structures, lists and maps is hidden by its way, and all else stays as deep and as empty as it is", async () => {
  const operators = fc.constantFrom("replace", "mask", "tokenise", "encrypt", "drop", "hash" as const);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), operators, async (more, operator) => {
      const given = fileOf([FULL, ...more]);
      const rules: readonly RedactionRule[] = [{ tier: "CONFIDENTIAL", operator }];
      const { bytes } = await redactParquet(access(given), optionsOf(...rules));
      const left = await rowsOf(bytes);
      for (const value of HIDDEN) expect(JSON.stringify(said(left))).not.toContain(value);
      // As deep and as empty: what is left when every text and number is one.
      const shape = (rows: unknown) =>
        JSON.parse(JSON.stringify(said(rows), (_, each) => (typeof each === "string" ? "x" : each)));
      expect(shape(left)).toEqual(shape(await rowsOf(given)));
      expect(schemaOf(bytes).map(({ name, repetition_type, num_children }) => [name, repetition_type, num_children])).toEqual(
        schemaOf(given).map(({ name, repetition_type, num_children }) => [name, repetition_type, num_children]),
      );
      const n = ({ name }: SchemaElement) => name === "n" || name === "size";
      expect(schemaOf(bytes).filter(n)).toEqual(schemaOf(given).filter(n));
      expect(await rowsOf((await redactParquet(access(bytes), optionsOf(...rules))).bytes)).toEqual(left);
      if (operator !== "tokenise" && operator !== "encrypt") return;
      const restored = await restoreParquet(access(bytes), DEFAULT_TIER_POLICY, keys);
      expect(said(await rowsOf(restored.bytes))).toEqual(said(await rowsOf(given)));
    }),
    { numRuns: 60 },
  );
});

test("what classification finds below a nested name, redaction hides", async () => {
  const { columns } = await classifyParquet(access(fileOf([FULL, FULL])));
  const tiers = Object.fromEntries(columns.map(({ column, tier }) => [column, tier]));
  expect(Object.keys(tiers)).toEqual([
    "person.ssn",
    "person.contact.email",
    "person.n",
    "notes",
    "cards.password",
    "cards.size",
    "tags.key",
    "tags.value",
    "plain",
  ]);
  for (const name of ["person.ssn", "person.contact.email", "notes", "cards.password", "tags.value"])
    expect(DEFAULT_TIER_POLICY.tiers.indexOf(tiers[name] ?? ""), name).toBeGreaterThanOrEqual(2);
});
