/** Runs every example; an example fails by throwing. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

let failed = 0;
for (const file of readdirSync("examples")
  .filter((name) => name.endsWith(".ts"))
  .sort()) {
  const source = ["--import", "./tools/run-source.mjs", "--conditions=@seneschal/source"];
  const result = spawnSync(process.execPath, [...source, `examples/${file}`], { encoding: "utf8", timeout: 60_000 });
  console.log(`${result.status === 0 ? "ok  " : "BAD "} examples/${file}`);
  if (result.status !== 0) {
    failed++;
    console.error(result.stdout, result.stderr);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
