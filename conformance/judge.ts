import { readdirSync } from "node:fs";
import type { ConformanceSuite, SuiteResult, SuitesOf } from "./suite.ts";

const here = new URL("suites/", import.meta.url);

/** Runs every suite whose name is wanted over the data; a suite that breaks has failed, and the others go on. */
export async function judge(
  dataDir: string,
  wanted: (name: string) => boolean,
  told: (suite: ConformanceSuite, result: SuiteResult) => void = () => undefined,
): Promise<Readonly<Record<string, SuiteResult>>> {
  const results: Record<string, SuiteResult> = {};
  for (const file of readdirSync(here)
    .filter((name) => name.endsWith(".ts"))
    .sort()) {
    const module = (await import(new URL(file, here).href)) as { suites: readonly ConformanceSuite[] | SuitesOf };
    for (const suite of listed(module.suites, file, dataDir)) {
      if (!wanted(suite.name)) continue;
      const result = await suite.run(dataDir).catch(broken);
      results[suite.name] = result;
      told(suite, result);
    }
  }
  return results;
}

/** The suites of one module; where the data cannot even be listed, one that says so. */
function listed(suites: readonly ConformanceSuite[] | SuitesOf, file: string, dataDir: string): readonly ConformanceSuite[] {
  if (typeof suites !== "function") return suites;
  try {
    return suites(dataDir);
  } catch (error) {
    return [{ name: file.replace(/\.ts$/, "/unreadable"), floor: 1, run: () => Promise.reject(error) }];
  }
}

function broken(error: unknown): SuiteResult {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { passed: 0, failed: 1, skipped: 0, failures: [`the suite broke: ${why}`] };
}
