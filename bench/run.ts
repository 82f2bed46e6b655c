/** `npm run bench [-- --only NAME --json FILE]`: every bench of `suites/`, one table. */
import { readdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Bench, BenchResult } from "./bench.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, json: { type: "string" } } });
const here = new URL("suites/", import.meta.url);
const results: BenchResult[] = [];
console.log("measured on this machine; ratios are more reliable than absolutes");
for (const file of readdirSync(here)
  .filter((name) => name.endsWith(".ts"))
  .sort()) {
  const module = (await import(new URL(file, here).href)) as { benches: readonly Bench[] };
  for (const bench of module.benches.filter((b) => b.name.startsWith(values.only ?? ""))) {
    for (const result of await bench.run()) {
      results.push(result);
      const peer =
        result.peer === undefined
          ? ""
          : `  ${result.peer} ${format(result.peerValue ?? 0)}, ratio ${(result.ratio ?? 0).toFixed(2)}`;
      console.log(
        `${result.name.padEnd(44)} ${format(result.value).padStart(14)} ${result.unit}${peer}${result.bar === undefined ? "" : `  (bar: ${result.bar})`}`,
      );
    }
  }
}
if (values.json !== undefined) {
  const rows = results.map(({ peerValue, ...row }) => ({
    ...row,
    ...(peerValue === undefined ? {} : { peer_value: peerValue }),
  }));
  writeFileSync(values.json, `${JSON.stringify({ results: rows }, null, 2)}\n`);
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
