/**
 * `npm run conformance [-- --data DIR --json FILE --only PREFIX]`: every suite of `suites/` over the given data, any part of the layout of
 * `../shared/data`. A suite whose files are absent is skipped; one that breaks has failed, and the others go on.
 */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { judge } from "./judge.ts";

const { values } = parseArgs({ options: { data: { type: "string" }, json: { type: "string" }, only: { type: "string" } } });
const data = resolve(values.data ?? process.env["CONFORMANCE_DATA"] ?? "../shared/data");
if (!existsSync(data)) {
  console.error(`no conformance data at ${data}; name a directory with --data`);
  process.exit(2);
}

let [passed, below, absent] = [0, 0, 0];
const suites = await judge(
  data,
  (name) => name.startsWith(values.only ?? ""),
  ({ name, floor }, result) => {
    const judged = result.passed + result.failed;
    if (judged === 0) {
      absent++;
      console.log(`skip ${name.padEnd(36)} ${result.skipped > 0 ? `${result.skipped} skipped` : "no cases in the data"}`);
      return;
    }
    const rate = result.passed / judged;
    const ok = rate >= floor;
    if (ok) passed++;
    else below++;
    const figures = Object.entries(result.figures ?? {}).map(([figure, value]) => `${figure} ${value.toFixed(4)}`);
    console.log(
      `${ok ? "ok  " : "LOW "} ${name.padEnd(36)} ${result.passed}/${judged} (${(rate * 100).toFixed(2)} %, floor ${floor * 100} %)${
        result.skipped > 0 ? ` ${result.skipped} skipped` : ""
      } ${figures.join(", ")}`,
    );
    if (!ok) for (const failure of result.failures.slice(0, 20)) console.log(`       ${failure}`);
  },
);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ suites }, null, 2)}\n`);
console.log(`${passed} passed, ${below} failed${absent > 0 ? `, ${absent} skipped` : ""}`);
process.exitCode = below > 0 ? 1 : 0;
