/** `npm run golden -- 0.2`: the directories that the version to be released leaves behind, which every later one opens (packages/app/test/golden). */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { positionals } = parseArgs({ allowPositionals: true });
const [release = ""] = positionals;
if (positionals.length !== 1 || !/^\d+\.\d+$/.test(release)) {
  console.error("usage: npm run golden -- RELEASE, such as 0.2");
  process.exit(2);
}
const { status } = spawnSync("npx", ["vitest", "run", "packages/app/test/golden/write-release.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, GOLDEN_RELEASE: release },
});
process.exit(status ?? 1);
