import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";
import { openWitnessedScheduler } from "../witnessed-scheduler.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

it("a witness that is killed behind any answer has kept what it had, and goes on from there", async () => {
  const dir = await mkdtemp(join(tmpdir(), "witness-killed-"));
  const scheduler = await openWitnessedScheduler(dir);
  let answers = 0;
  let victim: { readonly child: ChildProcess; readonly behind: number } | undefined;
  // Every answer passes; behind the one that is named the witness is killed.
  const between = createServer((asked, reply) => {
    const { method = "GET", url = "/", headers } = asked;
    request(`${scheduler.url}${url}`, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
      if (++answers === victim?.behind) answer.once("end", () => victim?.child.kill("SIGKILL"));
    }).end();
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const witness =
    `audit witness kept --service scheduler --witness-key w.pem --name w.example --url ${url} --token wim.token --json`.split(
      " ",
    );
  const here = async (args: readonly string[]) => {
    const host = scriptedHost({ cwd: dir });
    return { code: await run(args, host), told: host.json() };
  };
  const kept = () => readFile(join(dir, "kept"), "utf8");
  try {
    await here("audit witness-key --name w.example --out w.pem --json".split(" "));
    await scheduler.edit(3);
    expect((await here(witness)).code).toBe(0);
    await scheduler.edit(1500);
    const before = await kept();
    for (let behind = 1, done = false; !done; behind++) {
      answers = 0;
      const child = spawn(process.execPath, [...sourceOptions, main, ...witness], { cwd: dir, stdio: "ignore" });
      victim = { child, behind };
      const ended = await new Promise<number | null>((resolve) => child.once("close", resolve));
      // Killed behind the last answer it may have kept the new one already: the one or the other, whole.
      done = ended === 0 || (await kept()) !== before;
      if (done) expect(behind).toBeGreaterThan(3);
    }
    victim = undefined;
    expect((await here(witness)).told).toMatchObject({ witnessed: true, size: 1504 });
    expect((await here(witness)).told).toMatchObject({ growth: "same" });
  } finally {
    between.closeAllConnections();
    between.close();
    await scheduler.stop();
    await rm(dir, { recursive: true, force: true });
  }
}, 120_000);
