/** The rate counter of docs/adapters.md on a Redis of its own. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { systemRandom } from "@seneschal/adapters/system";
import { rateCounterSuite, refuses } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRedisRates } from "../../../examples/redis-rates.ts";
import { rounds, runner, seed } from "../../../packages/adapters/test/suite-runner.ts";

const installed = spawnSync("redis-server", ["--version"]).status === 0;
if (!installed) console.warn("no redis-server (tools/install-peers.sh): the rate counter on Redis is not run");

describe.skipIf(!installed)("the rate counter on Redis", () => {
  let folder: string;
  let url: string;
  let server: ReturnType<typeof spawn>;

  const start = async (): Promise<void> => {
    server = spawn("redis-server", ["--port", "0", "--unixsocket", url, "--dir", folder, "--save", "", "--appendonly", "no"]);
    for await (const line of server.stdout ?? [])
      if (/Ready to accept connections|ready to accept connections/.test(String(line))) break;
  };
  const stop = async (): Promise<void> => {
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "redis-"));
    url = join(folder, "redis.sock");
    await start();
  });
  afterAll(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });

  rateCounterSuite(runner, { shared: true, open: () => openRedisRates({ url }, systemRandom), seed, rounds: rounds(20) });

  test("a key is gone when its window is", async () => {
    const counter = await openRedisRates({ url, prefix: "short:" }, systemRandom);
    await counter.take("ada", { limit: 1, window: 40 }, Date.now());
    const redis = createClient({ socket: { path: url, tls: false } });
    await redis.connect();
    await expect.poll(() => redis.keys("short:*")).toEqual(["short:salt"]);
    redis.destroy();
    await counter.close();
  });

  test("while Redis is away nobody is let in, and afterwards all counts are new", async () => {
    const counter = await openRedisRates({ url }, systemRandom);
    const rate = { limit: 1, window: 600_000 };
    expect((await counter.take("away", rate, 5000)).allowed).toBe(true);
    await stop();
    await refuses(runner, "service_unavailable", () => counter.take("away", rate, 5000));
    await start();
    await expect
      .poll(() =>
        counter.take("away", rate, 5000).then(
          ({ allowed }) => allowed,
          () => false,
        ),
      )
      .toBe(true);
    await counter.close();
  });
});
