/**
 * `npm run bench [-- --only NAME --json FILE]`: every bench of `suites/`, one table. Each suite has a process of its own, so that
 * none is measured in the garbage of another.
 */
import { fork } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type BenchResult, serverOptions } from "./bench.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, json: { type: "string" } } });
const files = readdirSync(new URL("suites/", import.meta.url)).filter((name) => name.endsWith(".ts"));
const results: BenchResult[] = [];
console.log("measured on this machine; ratios are more reliable than absolutes");
for (const file of files.sort()) {
  await runSuite(file, (result) => {
    results.push(result);
    console.log(lineOf(result));
  });
}
if (values.json !== undefined) {
  const rows = results.map(({ peerValue, ...row }) => ({
    ...row,
    ...(peerValue === undefined ? {} : { peer_value: peerValue }),
  }));
  writeFileSync(values.json, `${JSON.stringify({ results: rows }, null, 2)}\n`);
}

function runSuite(file: string, onResult: (result: BenchResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("run-suite.ts", import.meta.url).pathname, [file, values.only ?? ""], {
      execArgv: [...process.execArgv, ...serverOptions],
    });
    child.on("message", (message) => onResult(message as BenchResult));
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${file} ended with ${code}`))));
  });
}

function lineOf({ name, value, unit, peer, peerValue = 0, ratio = 0, bar }: BenchResult): string {
  const beside = peer === undefined ? "" : `  ${peer} ${format(peerValue)}, ratio ${ratio.toFixed(2)}`;
  return `${name.padEnd(44)} ${format(value).padStart(14)} ${unit}${beside}${bar === undefined ? "" : `  (bar: ${bar})`}`;
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
