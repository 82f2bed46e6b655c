import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import type { Serve } from "@seneschal/contract";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { expect, it } from "vitest";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings, serviceNames } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";

const log = openLogger({ level: "silent" });

it("a gateway that starts before its vault waits for it, and keeps no other service from its work", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-waits-"));
  const vault = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now, rootToken: "t" });
  const proxy = await startTcpProxy(undefined);
  const config = processSettings.parse({
    services: ["gateway", "scheduler"],
    data_dir: dir,
    gateway: {
      server: { port: 0 },
      vault: { kind: "http", address: `http://127.0.0.1:${proxy.port}`, token: "t" },
    },
    scheduler: { server: { port: 0 } },
  });
  const urls: string[] = [];
  let both = (): void => {};
  const listening = new Promise<void>((resolve) => {
    both = resolve;
  });
  const watched: Serve = async (dispatch, options) => {
    const server = await serve(dispatch, options);
    urls.push(server.url);
    if (urls.length === 2) both();
    return server;
  };
  const starting = startProcess(config, { serve: watched, serveS3, log, version: "test" });
  try {
    await listening;
    const ready = () => Promise.all(urls.map(async (url) => (await fetch(`${url}/ready`)).status));
    expect((await ready()).sort()).toEqual([200, 503]);
    proxy.aim(Number(new URL(vault.address).port));
    const running = await starting;
    expect(await ready()).toEqual([200, 200]);
    await running.stop();
  } finally {
    await proxy.close();
    await vault.close();
    await starting.then(
      (running) => running.stop(),
      () => {},
    );
    await rm(dir, { recursive: true, force: true });
  }
});

it("every service says at /ready whether it can work", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-ready-"));
  await prepareData(dir, systemRandom);
  const port = { server: { port: 0 } };
  const config = processSettings.parse({
    services: serviceNames,
    data_dir: dir,
    gateway: port,
    scheduler: port,
    storage: { ...port, s3: { port: 0 } },
    governance: { ...port, classification: { threads: 0 } },
  });
  const running = await startProcess(config, { serve, serveS3, log, version: "test" });
  try {
    for (const { name, url } of running.services) expect([name, (await fetch(`${url}/ready`)).status]).toEqual([name, 200]);
  } finally {
    await running.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
