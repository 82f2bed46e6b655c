/**
 * `npm run test:repeat -- COUNT [--churn COUNT]`: `npm test` so many times in a row, the last of them while another process opens and
 * closes loopback connections, whose ports the system takes from the ephemeral range: a test that binds a port it remembered or guessed
 * meets one of them sooner or later. Prints a line for each run; ends with 1 at the first that fails, after its output.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { connect, createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";

/** Connections that are open at once. */
const OPEN = 2_000;
/** Each tick the oldest give way to new ones: 1,000 a second, about what a busy machine has. */
const TICK_MS = 50;
const REPLACED = 50;

async function churn(): Promise<void> {
  const server = createServer({ pauseOnConnect: true }, (socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const open: Socket[] = [];
  const replace = (): void => {
    // A reset leaves no port behind that waits for a minute.
    if (open.length >= OPEN) for (const socket of open.splice(0, REPLACED)) socket.resetAndDestroy();
    for (let i = 0; i < REPLACED; i++) open.push(connect(port, "127.0.0.1").on("error", () => {}));
  };
  setInterval(replace, TICK_MS);
}

function startChurn(): ChildProcess {
  const own = ["--import", "./tools/run-source.mjs", "--conditions=@seneschal/source", "tools/repeat-tests.ts", "--as-churn"];
  return spawn(process.execPath, own, { stdio: ["ignore", "inherit", "inherit"] });
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { churn: { type: "string", default: "0" }, "as-churn": { type: "boolean" } },
});
if (values["as-churn"]) await churn();
else {
  const [count, churned] = [Number(positionals[0] ?? 20), Number(values.churn)];
  for (let run = 1; run <= count && !process.exitCode; run++) {
    const beside = run > count - churned ? startChurn() : undefined;
    const started = performance.now();
    const { status, stdout, stderr } = spawnSync("npm", ["test"], { encoding: "utf8", maxBuffer: 2 ** 28 });
    beside?.kill();
    const [said = "no count"] = /Tests .*/.exec(stdout) ?? [];
    const took = Math.round((performance.now() - started) / 1000);
    console.log(`${run} of ${count}${beside ? ", beside churn" : ""}: ${status === 0 ? "ok" : "FAILED"}, ${took} s: ${said}`);
    if (status === 0) continue;
    console.error(stdout.slice(-20_000), stderr.slice(-5_000));
    process.exitCode = 1;
  }
}
