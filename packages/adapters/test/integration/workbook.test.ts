import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule, redactionKeys } from "@seneschal/governance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../src/memory/index.ts";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { redactXlsx, restoreXlsx } from "../../src/redact-files/index.ts";

const python = new URL("../../../../.peers/tables/bin/python", import.meta.url).pathname;
const script = new URL("tables/workbook.py", import.meta.url).pathname;

interface ReadCell {
  readonly value: string | number | boolean;
  readonly type: string;
  readonly comment: string | null;
  readonly link: string | null;
}
/** What openpyxl reads. */
interface ReadBook {
  readonly sheets: readonly {
    readonly title: string;
    readonly state: string;
    readonly dimensions: string;
    readonly header: string | null;
    readonly validations: readonly (readonly [place: string, formula: string, title: string | null, prompt: string | null])[];
    readonly tables: readonly (readonly [name: string, place: string, columns: readonly string[]])[];
    readonly cells: Readonly<Record<string, ReadCell>>;
  }[];
  readonly names: Readonly<Record<string, string>>;
  readonly creator: string | null;
}

const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(9), seededRandom(4));
const VALUES = ["ada", "grace", "kim@", "536228726", "219099999", "457555462", "Zofia", "Brandl", "Byrne", "Anouk", "Visser"];

/** Names as Excel takes them (ECMA-376, 18.2.5): of ranges and tables. */
const RANGE_NAME = /^(?![A-Za-z]{1,3}\d+$|[Rr]\d*[Cc]?\d*$|[Cc]\d*$)[\p{L}_\\][\p{L}\p{N}_.\\?]{0,254}$/u;
const SHEET_NAME = /^(?!')[^:\\/?*[\]]{1,31}(?<!')$/;
/** What Excel takes in a cell, a header, and the title and text of a validation's prompt. */
const [MOST_OF_CELL, MOST_OF_HEADER, MOST_OF_TITLE, MOST_OF_PROMPT] = [32_767, 255, 32, 255];

describe.skipIf(!existsSync(python))("openpyxl reads what is left of a workbook of its own", () => {
  let directory = "";
  let given: Uint8Array = new Uint8Array();
  const read = (bytes: Uint8Array): ReadBook => {
    const path = join(directory, "read.xlsx");
    writeFileSync(path, bytes);
    return JSON.parse(execFileSync(python, [script, "read", path], { encoding: "utf8", maxBuffer: 1 << 26 })) as ReadBook;
  };
  const written = (how: "write" | "write-long"): Uint8Array => {
    execFileSync(python, [script, how, join(directory, "given.xlsx")]);
    return new Uint8Array(readFileSync(join(directory, "given.xlsx")));
  };
  const redacted = async (rules: readonly RedactionRule[], file = given): Promise<Uint8Array> => {
    const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules, keys };
    return (await redactXlsx(file, options)).bytes;
  };
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "seneschal-workbook-"));
    given = written("write-long");
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each(["replace", "mask", "hash", "drop"] as const)("%s leaves no value, and all else as it was", async (operator) => {
    const [before, after] = [read(given), read(await redacted([{ operator }]))];
    const told = JSON.stringify(after);
    for (const value of VALUES) expect(told).not.toContain(value);
    for (const [i, sheet] of before.sheets.entries()) {
      const { cells, title, header, validations, tables, ...form } = sheet;
      const { cells: left = {}, ...formLeft } = after.sheets[i] ?? {};
      expect(formLeft).toMatchObject(form);
      for (const [place, cell] of Object.entries(cells)) {
        const { value, type, comment, link, ...style } = cell;
        const now = left[place];
        // openpyxl takes a cell without a text for an empty one.
        if (operator !== "drop" || now !== undefined) expect(now, place).toMatchObject(style);
        const isFound = /@|\d{9}/.test(`${value}`) || VALUES.some((each) => `${value}`.includes(each));
        if (!isFound && (type !== "f" || !["G2", "G3", "G4", "F6"].includes(place)))
          expect(now, place).toMatchObject({ value, type });
      }
    }
  });

  test.each(["replace", "mask", "hash", "drop"] as const)("%s leaves names and texts that Excel takes", async (operator) => {
    const { sheets, names } = read(await redacted([{ operator }]));
    for (const { title, header, validations, tables, cells } of sheets) {
      expect(title).toMatch(SHEET_NAME);
      expect((header ?? "").length).toBeLessThanOrEqual(MOST_OF_HEADER);
      for (const [, , title, prompt] of validations) {
        expect((title ?? "").length).toBeLessThanOrEqual(MOST_OF_TITLE);
        expect((prompt ?? "").length).toBeLessThanOrEqual(MOST_OF_PROMPT);
      }
      for (const { value } of Object.values(cells)) expect(`${value}`.length).toBeLessThanOrEqual(MOST_OF_CELL);
      for (const [name, , columns] of tables) {
        expect(name).toMatch(RANGE_NAME);
        expect(new Set(columns.map((column) => column.toLowerCase())).size).toBe(columns.length);
        // A table's columns are called as its head says.
        expect(columns).toEqual(["A1", "B1", "C1"].map((place) => cells[place]?.value));
      }
    }
    expect(new Set(sheets.map(({ title }) => title.toLowerCase())).size).toBe(sheets.length);
    for (const name of Object.keys(names)) expect(name).toMatch(RANGE_NAME);
    const formula = sheets[0]?.cells["F6"]?.value;
    const [renamed = ""] = Object.keys(names).filter((name) => name !== "rates");
    expect(formula).toBe(`=COUNTA(${renamed})+SUM(rates)`);
  });

  test.each(["tokenise", "encrypt"] as const)(
    "%s refuses a cell that would be too long by its part, and gives all other cells back, as texts",
    async (operator) => {
      await expect(redacted([{ operator }])).rejects.toThrow(/sheet3\.xml: a cell would be longer than Excel takes/);
      const short = written("write");
      const hidden = await redacted([{ operator }], short);
      for (const value of VALUES) expect(JSON.stringify(read(hidden))).not.toContain(value);
      const restored = read((await restoreXlsx(hidden, DEFAULT_TIER_POLICY, keys)).bytes);
      for (const [i, { cells }] of read(short).sheets.entries())
        for (const [place, { value, type }] of Object.entries(cells))
          if (type !== "f") expect(`${restored.sheets[i]?.cells[place]?.value}`).toBe(`${value}`);
    },
  );
});
