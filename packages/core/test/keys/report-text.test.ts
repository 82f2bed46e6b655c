import type { Json } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  csvField,
  csvRow,
  exportText,
  type GrowingObject,
  reportDocument,
  reportFacts,
  reportPeriod,
  reportSealLine,
  reportText,
} from "../../src/keys/index.ts";

const now = Date.UTC(2026, 5, 1);
const signed = { digest: "0f", digest_signature: "c2ln", digest_key: "a2V5" };
const formats = ["json", "csv", "html"] as const;
/** A report's own words: what a reader, a spreadsheet or a browser could take for its own. */
const words = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("<b>", '"a"', "a,b", "=1", "a\r\nb", "&amp;", "'", "é"));
const figures = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null));
const things = fc.dictionary(fc.constantFrom("name", "roles", "last_access", "groups"), figures, { maxKeys: 3 });
const data = fc.dictionary(
  fc.constantFrom("total_events", "events", "workspaces", "audit_stats", "identity"),
  fc.oneof(figures, things, fc.array(things, { maxLength: 3 }), fc.array(figures, { maxLength: 3 })),
  { maxKeys: 4 },
) as fc.Arbitrary<Record<string, Json>>;

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

async function* streamed<T>(list: readonly T[]) {
  yield* list;
}

/** The same, where each list is read while it is written and each number is known only then. */
const growing = (value: Record<string, Json>): GrowingObject =>
  Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (Array.isArray(item)) return [key, streamed(item as readonly Json[])];
      return [key, typeof item === "number" ? () => item : item];
    }),
  );

function documentOf(value: GrowingObject): GrowingObject {
  const period = reportPeriod({ type: "summary" }, now);
  const made = { id: "r1", type: "summary", org_id: "acme", generated_by: "ada", period, log_size: 9 } as const;
  return reportDocument(reportFacts(made, now), value, () => "2026-06-01T00:00:01.000Z");
}

test("a report as JSON is read back as what it says, whether it was whole or grew while it was written", async () => {
  await fc.assert(
    fc.asyncProperty(data, async (value) => {
      for (const given of [value, growing(value)]) {
        const text = (await textOf(reportText("json", documentOf(given)))) + reportSealLine("json", signed);
        const { data: read, log_size, completed_at, ...rest } = JSON.parse(text);
        expect(read).toEqual(JSON.parse(JSON.stringify(value)));
        expect([log_size, completed_at]).toEqual([9, "2026-06-01T00:00:01.000Z"]);
        expect(rest).toMatchObject(signed);
      }
    }),
  );
});

test("a report as CSV has two fields in each row, of which no spreadsheet runs one, and a row for each figure", async () => {
  await fc.assert(
    fc.asyncProperty(data, async (value) => {
      const text = (await textOf(reportText("csv", documentOf(growing(value))))) + reportSealLine("csv", signed);
      const rows = fieldsOf(text);
      expect(rows[0]).toEqual(["path", "value"]);
      expect(rows.at(-1)).toEqual(["seal", "0f c2ln a2V5"]);
      for (const row of rows) {
        expect(row.length).toBe(2);
        for (const field of row) expect(field).not.toMatch(/^[=+\-@\t\r\n]/);
      }
      expect(new Set(rows.map(([path]) => path)).size).toBe(rows.length);
      for (const [key, item] of Object.entries(value))
        expect(
          rows.some(([path = ""]) => path === `data.${key}` || path.startsWith(`data.${key}.`), JSON.stringify(item)).valueOf(),
        ).toBe(true);
    }),
  );
});

test("a page of a report holds no markup of what it tells, loads nothing, and closes what it opens", async () => {
  await fc.assert(
    fc.asyncProperty(data, async (value) => {
      const text = (await textOf(reportText("html", documentOf(growing(value))))) + reportSealLine("html", signed);
      const tags = [...text.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)].map(([, end, name]) => `${end}${name}`);
      const known = "html head meta title style body h1 h2 h3 section table thead tbody tr th td p code footer".split(" ");
      for (const tag of tags) expect(known).toContain(tag.replace("/", ""));
      const open: string[] = [];
      for (const tag of tags) {
        if (tag === "meta") continue;
        if (!tag.startsWith("/")) open.push(tag);
        else expect(open.pop()).toBe(tag.slice(1));
      }
      expect(open).toEqual([]);
      expect(text).not.toMatch(/\b(?:src|href|on[a-z]+)=/);
    }),
  );
});

test("a report that is whole is the same text as one that grew, but for where figures stand that were known last", async () => {
  await fc.assert(
    fc.asyncProperty(data, fc.constantFrom(...formats), async (value, format) => {
      const noNumbers = Object.fromEntries(Object.entries(value).filter(([, item]) => typeof item !== "number"));
      const whole = await textOf(reportText(format, documentOf(noNumbers)));
      const grew = await textOf(reportText(format, documentOf(growing(noNumbers))));
      if (format === "json") expect(JSON.parse(`${grew}}`)).toEqual(JSON.parse(`${whole}}`));
      if (format === "csv") expect(grew).toBe(whole);
    }),
  );
});

test("a field of CSV comes back as it was, but for the apostrophe before what a spreadsheet would run", () => {
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), (fields) => {
      const [read = []] = fieldsOf(csvRow(fields));
      expect(read).toEqual(fields.map((field) => (/^[=+\-@\t\r\n]/.test(field) ? `'${field}` : field)));
    }),
  );
  for (const cell of ["=1", "+1", "-1", "@x", "\tx", "\rx", "\nx"]) expect(csvField(cell).replace(/^"/, "")[0]).toBe("'");
});

test("exported rows are read back: all fields as JSON, the named columns as CSV", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ id: words, more: figures }), { maxLength: 5 }), async (rows) => {
      expect(JSON.parse(await textOf(exportText("json", ["id"], streamed(rows))))).toEqual(JSON.parse(JSON.stringify(rows)));
      const [head, ...lines] = fieldsOf(await textOf(exportText("csv", ["id"], streamed(rows))));
      expect(head).toEqual(["id"]);
      expect(lines.length).toBe(rows.length);
    }),
  );
});

/** A CSV text by its rows and fields (RFC 4180). */
function fieldsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length; ) {
    let field = "";
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        field += text[at];
      }
      at += 1;
    } else for (; text[at] !== "," && text[at] !== "\r"; at += 1) field += text[at];
    row.push(field);
    if (text[at] === ",") at += 1;
    else {
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}
