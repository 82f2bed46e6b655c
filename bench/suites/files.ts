/** Redaction of the parts of a large workbook beside the same texts as CSV, in processor time, since what other work does to the clock is no matter of either. */
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactCsv, redactWorkbook, type WorkbookParts } from "@seneschal/governance";
import type { Bench, BenchResult } from "../bench.ts";

const TEXTS = 100_000;
const NAMES = ["name", "email", "order", "note", "place"];
const FIRST = ["Zofia", "Priyanka", "Mehmet", "Anouk", "Tadhg", "Grace", "Alan", "Ada"];
const LAST = ["Brandl", "Raman", "Aydin", "Visser", "Byrne", "Hopper", "Turing", "Lovelace"];

/** No two cells are alike. */
function rowsOf(isSameBeginning: boolean): readonly (readonly string[])[] {
  return Array.from({ length: TEXTS / NAMES.length }, (_, i) => {
    const [first, last] = [FIRST[i % 8] ?? "", LAST[(i >> 3) % 8] ?? ""];
    return isSameBeginning
      ? NAMES.map((_, column) => `item ${column} of box ${i}`)
      : [
          `${first} ${last}son${i}`,
          `${first}.${last}${i}@example.org`.toLowerCase(),
          `order ${i} of ${i + 17} boxes`,
          `the delivery ${i} came late and the customer wants a refund`,
          `place ${i}`,
        ];
  });
}

function partsOf(lines: readonly (readonly string[])[]): WorkbookParts {
  const strings = new Map<string, number>();
  for (const said of lines.flat()) if (!strings.has(said)) strings.set(said, strings.size);
  const rows = lines.map(
    (line, row) =>
      `<row r="${row + 1}">${line.map((said, i) => `<c r="${"ABCDE"[i]}${row + 1}" t="s"><v>${strings.get(said)}</v></c>`).join("")}</row>`,
  );
  const parts = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "xl/workbook.xml": "<workbook><sheets/></workbook>",
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${rows.join("")}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst>${[...strings.keys()].map((said) => `<si><t>${said}</t></si>`).join("")}</sst>`,
  };
  return new Map(Object.entries(parts));
}

const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };

async function seconds(work: () => unknown): Promise<number> {
  const { user, system } = process.cpuUsage();
  await work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1e6;
}

const redaction: Bench = {
  name: "governance/files",
  async run(): Promise<readonly BenchResult[]> {
    const results: BenchResult[] = [];
    for (const isSameBeginning of [false, true]) {
      const lines = [NAMES, ...rowsOf(isSameBeginning)];
      const [csv, parts] = [lines.map((line) => line.join(",")).join("\n"), partsOf(lines)];
      const peerValue = await seconds(() => redactCsv(csv, options));
      const value = await seconds(() => redactWorkbook(parts, options));
      results.push({
        name: `redact a workbook of 100,000 texts${isSameBeginning ? " of one beginning" : ""}`,
        value,
        unit: "s of processor",
        peer: "the same as CSV",
        peerValue,
        ratio: value / peerValue,
        bar: "<= 2",
      });
    }
    return results;
  },
};

export const benches: readonly Bench[] = [redaction];
