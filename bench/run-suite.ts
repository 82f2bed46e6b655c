/** Runs one suite in this process and reports each line to the parent as it is known: `run-suite.ts FILE ONLY`. */
import type { Bench } from "./bench.ts";

const [file = "", only = ""] = process.argv.slice(2);
const { benches } = (await import(new URL(`suites/${file}`, import.meta.url).href)) as { benches: readonly Bench[] };
for (const bench of benches.filter(({ name }) => name.startsWith(only))) {
  for (const result of await bench.run()) process.send?.(result);
}
process.disconnect();
