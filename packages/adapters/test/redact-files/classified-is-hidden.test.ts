import {
  classifyColumnValues,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  type RedactionFormat,
  type RedactionRule,
  redactAs,
} from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { classifyFile, type FileFormat } from "../../src/classify-files/index.ts";
import { runFileTask } from "../../src/file-threads/run-file-task.ts";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { bytesOf, rowsOf } from "./tables.ts";
import { unzipped } from "./workbook.ts";

async function* cut(text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}

/** Names of columns, with values that the name or their own shape gives away. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  ssn: ["536226728", "219099999"],
  password: ["hunter2xyz", "correcthorse9"],
  salary: ["84500", "91250"],
  last_name: ["Zbrozkova", "Quillfeather"],
  note: ["ada.canary@example.org", "grace.canary@example.org"],
  card: ["4111111111111111", "5500005555555559"],
  account: ["DE89370400440532013000", "GB29NWBK60161331926819"],
};
const names = fc.uniqueArray(fc.constantFrom(...Object.keys(SAID)), { minLength: 1, maxLength: 4 });

/** A value of a column that classification found is nowhere in the redacted file, however it is read. */
async function isHidden(
  text: string,
  classified: FileFormat,
  redacted: RedactionFormat,
  columns: readonly string[],
  size: number,
) {
  const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
  const { columns: found } = await classifyFile(cut(text, size), { format: classified });
  const { text: done } = redactAs(redacted, text, options);
  for (const column of columns) {
    const report = found.find((each) => each.column === column || each.column.endsWith(`.${column}`));
    expect(report, `${column} of\n${text}`).toBeDefined();
    if (report?.tier === DEFAULT_TIER_POLICY.tiers[0]) continue;
    for (const value of SAID[column] ?? []) expect(done, `${column} of\n${text}`).not.toContain(value);
  }
  return found;
}

test("whatever classification finds in a column of a CSV, redaction hides, wherever the header stands and however the fields are apart", async () => {
  const tables = fc.record({
    before: fc.constantFrom(
      "",
      "\ufeff",
      "\n",
      "Employees 2024\n\n",
      "Employees, 2024\n\n",
      "Employees 2024¦¦¦\n",
      "Created by¦Ada\nAt¦noon\n\n",
      "sep=¦\n",
      "\ufeffsep=¦\r\n",
    ),
    columns: names,
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    end: fc.constantFrom("\n", "\r\n", "\r"),
    quote: fc.constantFrom("", '"'),
    rows: fc.integer({ min: 1, max: 150 }),
    size: fc.integer({ min: 1, max: 4096 }),
  });
  await fc.assert(
    fc.asyncProperty(tables, async ({ before, columns, delimiter, end, quote, rows, size }) => {
      const row = (cells: readonly string[]) => ["nr", ...cells, "unit"].map((cell) => `${quote}${cell}${quote}`).join("¦");
      const records = Array.from({ length: rows }, (_, i) => row(columns.map((name) => SAID[name]?.[i % 2] ?? "")));
      const text = (before + [row(columns), ...records, ""].join(end)).replaceAll("¦", delimiter);
      const found = await isHidden(text, "csv", "csv", columns, size);
      expect(found.map(({ column }) => column).slice(0, columns.length + 2)).toEqual(["nr", ...columns, "unit"]);
      if (delimiter === "\t") await isHidden(text, "tsv", "tsv", columns, size);
    }),
    { numRuns: 60 },
  );
});

test("and so it is in JSON, through objects and lists, and with numbers however they are written", async () => {
  const around = fc.array(
    fc.constantFrom<(json: string) => string>(
      (json) => `{"data":${json}}`,
      (json) => `[${json}]`,
      (json) => `{"n":[1,null,true],"rows":[${json},{"x":"y"}]}`,
    ),
    { maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(names, around, fc.nat(3), fc.integer({ min: 1, max: 512 }), async (columns, steps, spelling, size) => {
      const written = (value: string) =>
        spelling > 0 && /^[1-9]\d*$/.test(value)
          ? [value, `${value}.0`, `${value[0]}.${value.slice(1)}e${value.length - 1}`][spelling - 1]
          : JSON.stringify(value);
      const members = columns.map((name) => `${JSON.stringify(name)}:[${SAID[name]?.map(written).join(",")}]`);
      const json = steps.reduce((inner, step) => step(inner), `{${members.join(",")}}`);
      await isHidden(json, "json", "json", columns, size);
      await isHidden(`{"data":${json}}\n`, "jsonl", "json", columns, size);
    }),
    { numRuns: 100 },
  );
});

/** What stands in columns, under names that say what it is and under such as do not. */
const HELD: readonly (readonly string[])[] = [
  ["Zofia", "Priyanka", "Mehmet", "Oyelaran", "Anouk", "Tadhg"],
  ["Zofia Brandl", "Priyanka Raman", "Mehmet Aydin", "Oyelaran Ade", "Anouk Visser", "Tadhg Byrne"],
  ["zofia@mail.example", "priyanka@corp.example", "mehmet@x.internal", "oye@y.example", "anouk@z.local", "tadhg@a.example"],
  ["10.20.30.40", "10.20.30.41", "192.168.7.7", "2001:db8::7", "10.0.0.9", "172.16.4.4"],
  ["536-22-8726", "219-09-9999", "457-55-5462", "078-05-1120", "123-45-6789", "574-12-3456"],
  ["00:1b:44:11:3a:b7", "00-1b-44-11-3a-b8", "00:1b:44:11:3a:b9", "0a:1b:44:11:3a:b7", "00:1b:44:11:3a:c1", "00:1b:44:11:3a:c2"],
  ["70012345", "70012346", "81234567", "90011223", "70099999", "60012345"],
  ["p*ssw0rd-one", "hunter*2", "correct horse", "tr0ub4dor&3", "s3cr3t**", "letmein7"],
  ["rye", "wheat", "oats", "barley", "spelt", "maize"],
];
const COLUMN = ["name", "contact", "first_name", "host", "id", "patient_id", "password", "ssn", "kind", "Zuname", "e-mail"];
const tables = fc.record({
  columns: fc.uniqueArray(fc.record({ name: fc.constantFrom(...COLUMN), held: fc.constantFrom(...HELD), others: fc.nat(2) }), {
    minLength: 1,
    maxLength: 4,
    selector: ({ name }) => name,
  }),
  rows: fc.integer({ min: 1, max: 12 }),
  about: fc.constantFrom("", "people", "customers"),
});
const OTHERS = ["n/a", "", "-", "see file", "unknown", "?"];
/** Formats of which classification tells the columns. */
const COLUMNAR = ["csv", "tsv", "json", "jsonl", "parquet"] as const;
const DESTROYING = ["mask", "replace", "hash", "tokenise", "encrypt", "generalise", "drop"] as const;
const key = new Uint8Array(32).fill(7);
const given = {
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  crypto: nodeCrypto,
  random: seededRandom(12),
};
/** Most cells hold what their column does, and some something else. */
function recordsOf(
  columns: readonly { readonly name: string; readonly held: readonly string[]; readonly others: number }[],
  rows: number,
): readonly Readonly<Record<string, string>>[] {
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      columns.map(({ name, held, others }, column) => {
        const isOther = row > 0 && (row * 7 + column) % 8 < others;
        return [name, (isOther ? OTHERS[(row + column) % OTHERS.length] : held[row % held.length]) ?? ""];
      }),
    ),
  );
}

test("no cell of a column that classification knows by its name or by most of its values is left, and in the redacted file it finds nothing", async () => {
  await fc.assert(
    fc.asyncProperty(tables, fc.constantFrom(...COLUMNAR), fc.constantFrom(...DESTROYING), async (table, format, operator) => {
      const { columns, rows, about } = table;
      const names = columns.map(({ name }) => name);
      const records = recordsOf(columns, rows);
      const bytes = bytesOf(format, names, records);
      const rules: readonly RedactionRule[] = [{ operator }];
      const redacted = async (file: Uint8Array) => {
        const done = await runFileTask({ work: "redact", format, bytes: file, rules, key, about }, given);
        return (done as { readonly bytes: Uint8Array }).bytes;
      };
      const classified = async (file: Uint8Array) => {
        const report = await runFileTask({ work: "classify", format, bytes: file, about }, given);
        return (report as Awaited<ReturnType<typeof classifyFile>>).columns;
      };
      const told = new TextDecoder().decode(bytes);
      const found = new Map((await classified(bytes)).map(({ column, entity }) => [column, entity]));
      const once = await redacted(bytes);
      for (const [i, row] of (await rowsOf(format, names, once)).entries())
        for (const name of names) {
          const value = records[i]?.[name] ?? "";
          if (found.get(name) !== undefined && /[\p{L}\p{N}]/u.test(value)) expect(row[name], told).not.toContain(value);
        }
      // A line of CSV without a field says nothing, not even that it is a record: the name stands alone then.
      const isNameAlone = operator === "drop" && names.length === 1 && (format === "csv" || format === "tsv");
      for (const { column, entity, tier, tags, reasons } of isNameAlone ? [] : await classified(once))
        expect({ column, entity, tier, tags }, `${reasons.join("; ")} in ${new TextDecoder().decode(once)} of ${told}`).toEqual({
          column,
          tier: DEFAULT_TIER_POLICY.tiers[0],
          tags: [],
        });
      if (format !== "parquet") expect(new TextDecoder().decode(await redacted(once)), told).toBe(new TextDecoder().decode(once));
      if (operator !== "tokenise" && operator !== "encrypt") return;
      const restored = await runFileTask({ work: "restore", format, bytes: once, key }, given);
      expect(await rowsOf(format, names, (restored as { readonly bytes: Uint8Array }).bytes), told).toEqual(
        await rowsOf(format, names, bytes),
      );
    }),
    { numRuns: 100 },
  );
});

test("and no cell of such a column of an Excel sheet is left, with shared texts or without, in which classification finds nothing then", async () => {
  await fc.assert(
    fc.asyncProperty(tables, fc.constantFrom(...DESTROYING), fc.boolean(), async ({ columns, rows }, operator, isShared) => {
      const names = columns.map(({ name }) => name);
      const records = recordsOf(columns, rows);
      const redacted = async (file: Uint8Array) => {
        const done = await runFileTask({ work: "redact", format: "xlsx", bytes: file, rules: [{ operator }], key }, given);
        return (done as { readonly bytes: Uint8Array }).bytes;
      };
      const once = await redacted(bytesOf("xlsx", names, records, isShared));
      const told = JSON.stringify(records);
      const left = await rowsOf("xlsx", names, once);
      for (const name of names) {
        const values = records.map((row) => row[name] ?? "");
        const { entity } = classifyColumnValues({ name, values }, given.policy, given.recognisers);
        if (entity === undefined) continue;
        for (const [row, value] of values.entries())
          if (/[\p{L}\p{N}]/u.test(value)) expect(left[row]?.[name], told).not.toContain(value);
      }
      const report = await runFileTask({ work: "classify", format: "xlsx", bytes: once, about: "" }, given);
      expect(report, `${JSON.stringify(left)} of ${told}`).toMatchObject({
        entities: {},
        tags: [],
        tier: DEFAULT_TIER_POLICY.tiers[0],
      });
      expect(unzipped(await redacted(once)), told).toEqual(unzipped(once));
    }),
    { numRuns: 100 },
  );
});
