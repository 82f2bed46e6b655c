import { DEFAULT_TIER_POLICY } from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { EntityRecogniser } from "@seneschal/kernel/ports";
import { zipSync } from "fflate";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterEach, describe, expect, test } from "vitest";
import { type FileThreads, type FileThreadsOptions, openFileThreads, type ServedFormat } from "../../src/file-threads/index.ts";
import { parquetOf } from "../redact-files/parquet.ts";
import { zipped } from "../redact-files/workbook.ts";

const LIMITS = { threads: 1, deadline: 120_000, heap: 1024, waitingPerOwner: 4, waiting: 8 };
const key = new Uint8Array(32).fill(3);

let files: FileThreads | undefined;
afterEach(() => files?.close());
const opened = (more: Partial<FileThreadsOptions> = {}): FileThreads => {
  files = openFileThreads({ ...LIMITS, ...more }, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: false });
  return files;
};
const base = {
  "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
  "xl/workbook.xml": "<workbook><sheets/></workbook>",
};
const sheetOf = (rows: string) =>
  zipped({ ...base, "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>` });

describe("a file that unpacks to more than a thread may hold is refused, and ends no thread", () => {
  const parts = Object.fromEntries(
    Array.from({ length: 4 }, (_, i) => [`xl/part${i}.xml`, new TextEncoder().encode(`<a>${" ".repeat(40 << 20)}</a>`)]),
  );
  const zip = zipSync({
    ...Object.fromEntries(Object.entries(base).map(([name, xml]) => [name, new TextEncoder().encode(xml)])),
    ...parts,
  });
  // It claims that it is small.
  const lying = zip.slice();
  const view = new DataView(lying.buffer);
  for (let at = 0; at < lying.length - 46; at++) {
    if (view.getUint32(at, true) === 0x04034b50) view.setUint32(at + 22, 100, true);
    if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 100, true);
  }
  const many = Array<string>(1_000_000).fill("ada@example.org");
  const repeated = parquetOf(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, many])));
  const BOMBS: readonly (readonly [string, ServedFormat, Uint8Array])[] = [
    ["a zip bomb", "xlsx", zip],
    ["a zip bomb that claims less", "xlsx", lying],
    ["an endless sheet", "xlsx", sheetOf("<row><c><v>1</v></c></row>".repeat(2_000_000))],
    ["a Parquet file of twenty million cells in a few kilobytes", "parquet", repeated],
    ["JSON of great depth", "json", new TextEncoder().encode("[".repeat(1_000_000))],
    ["a row without end", "csv", new TextEncoder().encode(`a,"${"x,".repeat(2_000_000)}`)],
  ];

  test.each(BOMBS)("%s", async (_, format, bytes) => {
    const pool = opened();
    expect(bytes.length).toBeLessThan(8 << 20);
    await expect(pool.redact({ work: "redact", format, bytes, rules: [], key }, "acme")).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:file_invalid|validation_failed)$/),
    });
    await expect(
      pool.redact({ work: "redact", format: "csv", bytes: new TextEncoder().encode("a\nb\n"), rules: [], key }, "acme"),
    ).resolves.toBeDefined();
    expect(pool.state()).toMatchObject({ workers: 1, replaced: 0, deadlines: 0 });
  });
});

test("what is told of a file that is refused holds no value that stands in it where a name does", async () => {
  const pool = opened();
  const bad = Uint8Array.of(0xff, 0xfe);
  const named: readonly (readonly [ServedFormat, Uint8Array])[] = [
    ["xlsx", zipped({ ...base, "xl/ada@example.org.xml": "<a/>" })],
    ["xlsx", zipped({ ...base, "xl/ada@example.org.bin": "x" })],
    [
      "parquet",
      new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "ada@example.org", data: [bad], type: "BYTE_ARRAY" }] })),
    ],
  ];
  for (const [format, bytes] of named) {
    const error = await pool.redact({ work: "redact", format, bytes, rules: [], key }, "acme").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining("<EMAIL_ADDRESS>") });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain("ada@example.org");
  }
});

test.each(["../a.xml", "xl/../../a.xml", "/etc/a.xml", "xl//a.xml", "xl\\a.xml", "C:/a.xml", "./a.xml"])(
  "a workbook with a part %s is refused: whoever unpacks its redacted form is led nowhere",
  async (name) => {
    const work = { work: "redact", format: "xlsx", bytes: zipped({ ...base, [name]: "<a/>" }), rules: [], key } as const;
    await expect(opened().redact(work, "acme")).rejects.toMatchObject({
      message: expect.stringContaining("is no name of a part"),
    });
  },
);

test("a file that takes too long is of the highest tier, is not redacted, and costs the next one nothing", async () => {
  const pool = opened({ deadline: 200 });
  const cells = Array.from(
    { length: 100_000 },
    (_, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="str"><v>ada${i}@example.org</v></c></row>`,
  );
  const bytes = sheetOf(cells.join(""));
  await expect(pool.classify({ work: "classify", format: "xlsx", bytes, about: "" }, "acme")).resolves.toMatchObject({
    tier: DEFAULT_TIER_POLICY.tiers.at(-1),
    unread: ["the file: reading it takes too long"],
  });
  await expect(pool.redact({ work: "redact", format: "xlsx", bytes, rules: [], key }, "acme")).rejects.toMatchObject({
    code: "classification_failed",
  });
  expect(pool.state().deadlines).toBe(2);
});

test("files beyond an owner's budget are refused, and other owners are served", async () => {
  const pool = opened();
  const bytes = new TextEncoder().encode("a\nada@example.org\n");
  const asked = Array.from({ length: 12 }, () => pool.classify({ work: "classify", format: "csv", bytes, about: "" }, "acme"));
  const other = pool.classify({ work: "classify", format: "csv", bytes, about: "" }, "other");
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "service_unavailable" });
  expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  await expect(other).resolves.toMatchObject({ tier: "CONFIDENTIAL" });
});

describe("a recogniser beside the rules", () => {
  const NAME = "Zorkblat";
  const asks: (readonly string[])[] = [];
  const model = (answer: EntityRecogniser["recognise"]): EntityRecogniser => ({
    name: "names",
    entities: ["PERSON"],
    recognise(texts, owner) {
      asks.push(texts);
      return answer(texts, owner);
    },
    close: async () => undefined,
  });
  const knowing = model(async (texts) =>
    texts.map((text) =>
      [...text.matchAll(new RegExp(NAME, "g"))].map(({ index }) => ({
        entity: "PERSON",
        start: index,
        end: index + NAME.length,
        score: 0.9,
      })),
    ),
  );
  const withModel = (recogniser: EntityRecogniser, more: Partial<FileThreadsOptions> = {}): FileThreads => {
    asks.length = 0;
    files = openFileThreads({ ...LIMITS, ...more }, { policy: DEFAULT_TIER_POLICY, recognisers: [], sql: false }, recogniser);
    return files;
  };
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const HOLDING: readonly (readonly [ServedFormat, Uint8Array])[] = [
    ["csv", bytesOf(`what,seats\nlunch with ${NAME},2\n`)],
    ["tsv", bytesOf(`what\tseats\nlunch with ${NAME}\t2\n`)],
    ["json", bytesOf(JSON.stringify({ note: `lunch with ${NAME}` }))],
    ["jsonl", bytesOf(`${JSON.stringify({ note: `lunch with ${NAME}` })}\n`)],
    ["xlsx", sheetOf(`<row r="1"><c r="A1" t="inlineStr"><is><t>lunch with ${NAME}</t></is></c></row>`)],
    ["parquet", parquetOf({ note: [`lunch with ${NAME}`, "dinner"] })],
  ];

  test.each(HOLDING)("what it alone finds in %s is hidden, and counts", async (format, bytes) => {
    const pool = withModel(knowing);
    const { counts } = await pool.redact({ work: "redact", format, bytes, rules: [], key }, "acme");
    expect([...counts]).toEqual([["PERSON", 1]]);
    expect((await pool.classify({ work: "classify", format, bytes, about: "" }, "acme")).tier).toBe("CONFIDENTIAL");
  });

  test.each(HOLDING)("where it does not answer about %s nothing is told of it", async (format, bytes) => {
    const silent = model(() => Promise.reject(new CodedError("service_unavailable", "no answer")));
    const pool = withModel(silent);
    for (const work of [
      pool.redact({ work: "redact", format, bytes, rules: [], key }, "acme"),
      pool.classify({ work: "classify", format, bytes, about: "" }, "acme"),
    ])
      await expect(work).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("it is asked by and by, about each text once, and no longer than a file may take", async () => {
    const rows = Array.from({ length: 500 }, (_, i) => `row ${String.fromCharCode(97 + (i % 26))}${i}`);
    const bytes = bytesOf(`what\n${rows.join("\n")}\n`);
    await withModel(knowing).redact({ work: "redact", format: "csv", bytes, rules: [], key }, "acme");
    expect(Math.max(...asks.map(({ length }) => length))).toBeLessThan(100);
    const texts = asks.flat();
    expect(texts.length).toBeGreaterThan(499);
    expect(new Set(texts).size).toBe(texts.length);
    await files?.close();
    const late = withModel(knowing, { deadline: 1 });
    await expect(late.redact({ work: "redact", format: "csv", bytes, rules: [], key }, "acme")).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:service_unavailable|classification_failed)$/),
    });
  });

  test("files about which it is asked count among those that are held", async () => {
    let answer: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const pool = withModel(model((texts, owner) => slow.then(() => knowing.recognise(texts, owner))));
    const task = { work: "redact", format: "json", bytes: HOLDING[2]?.[1] ?? new Uint8Array(), rules: [], key } as const;
    const begun = Array.from({ length: LIMITS.waitingPerOwner + LIMITS.threads }, () => pool.redact(task, "acme"));
    const done = Promise.allSettled(begun);
    await expect(pool.redact(task, "acme")).rejects.toMatchObject({ code: "service_unavailable" });
    answer();
    expect((await done).every(({ status }) => status === "fulfilled")).toBe(true);
    await expect(pool.redact(task, "acme")).resolves.toBeDefined();
  });
});
