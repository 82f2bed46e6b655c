import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionFormat, redactAs } from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";
import { classifyFile, type FileFormat } from "../../src/classify-files/index.ts";

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
