/** `npm run conformance [-- --data DIR --json FILE --only PREFIX]`: every suite of `suites/` over the given data. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ConformanceSuite, SuiteResult } from "./suite.ts";

const { values } = parseArgs({ options: { data: { type: "string" }, json: { type: "string" }, only: { type: "string" } } });
const data = resolve(values.data ?? process.env["CONFORMANCE_DATA"] ?? "../shared/data");
if (!existsSync(data)) {
  console.error(`no conformance data at ${data}; name a directory with --data`);
  process.exit(2);
}

const here = new URL("suites/", import.meta.url);
const suites: ConformanceSuite[] = [];
for (const file of readdirSync(here)
  .filter((name) => name.endsWith(".ts"))
  .sort()) {
  const module = (await import(new URL(file, here).href)) as { suites: readonly ConformanceSuite[] };
  suites.push(...module.suites);
}

const results: Record<string, SuiteResult> = {};
let below = 0;
for (const suite of suites.filter((s) => s.name.startsWith(values.only ?? ""))) {
  const result = await suite.run(data);
  results[suite.name] = result;
  const judged = result.passed + result.failed;
  const rate = judged === 0 ? 0 : result.passed / judged;
  const ok = judged > 0 && rate >= suite.floor;
  if (!ok) below++;
  const figures = Object.entries(result.figures ?? {}).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  console.log(
    `${ok ? "ok  " : "LOW "} ${suite.name.padEnd(36)} ${result.passed}/${judged} (${(rate * 100).toFixed(2)} %, floor ${suite.floor * 100} %)${
      result.skipped > 0 ? ` ${result.skipped} skipped` : ""
    } ${figures.join(", ")}`,
  );
  if (!ok) for (const failure of result.failures.slice(0, 20)) console.log(`       ${failure}`);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ suites: results }, null, 2)}\n`);
console.log(`${Object.keys(results).length - below} passed, ${below} failed`);
process.exitCode = below > 0 ? 1 : 0;
