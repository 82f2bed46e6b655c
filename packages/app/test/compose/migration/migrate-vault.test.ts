import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { expect, test } from "vitest";
import { migrate } from "../../../src/compose/migration/migrate.ts";
import { prepareData } from "../../../src/compose/prepare-data.ts";
import { type ProcessConfig, processSettings } from "../../../src/compose/process-settings.ts";
import { startProcess } from "../../../src/compose/start-process.ts";

test("a gateway that ran on its embedded vault goes on with a vault server, and no more without it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-vault-"));
  const server = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now, rootToken: "t" });
  const config = (gateway: object): ProcessConfig =>
    processSettings.parse({
      services: ["gateway"],
      data_dir: dir,
      start_timeout: "0s",
      gateway: { server: { port: 0 }, organizations: [{ id: "acme" }], ...gateway },
    });
  const now = config({});
  const next = config({ vault: { kind: "http", address: server.address, token: "t" } });
  const starts = async (settings: ProcessConfig): Promise<unknown> => {
    const log = openLogger({ level: "silent" });
    const running = await startProcess(settings, { serve, serveS3, log, version: "test" });
    const health = await (await fetch(`${running.services[0]?.url}/health`)).json();
    await running.stop();
    return health;
  };
  try {
    await prepareData(dir, systemRandom);
    await starts(now);
    const both = config({ vault: { kind: "http", address: server.address, token: "t" }, database: { path: join(dir, "else") } });
    await expect(migrate(now, both)).rejects.toMatchObject({ code: "config_invalid", message: /move one of them first/ });
    server.setSealed(true);
    await expect(migrate(now, next)).rejects.toMatchObject({ code: "vault_unavailable" });
    await starts(now);
    server.setSealed(false);
    const [part] = await migrate(now, next);
    expect(part).toMatchObject({ service: "gateway", what: "vault", state: "moved", keys: { keys: expect.any(Number) } });
    expect(part?.keys?.keys).toBeGreaterThan(0);
    await expect(starts(now)).rejects.toMatchObject({ code: "vault_invalid", details: { reason: "moved" } });
    expect(await starts(next)).toMatchObject({ status: "healthy" });
    expect(await migrate(now, next)).toMatchObject([{ state: "was_moved" }]);
    await expect(migrate(next, now)).rejects.toMatchObject({ code: "config_invalid", message: /gives no key out/ });
  } finally {
    await server.close();
    await rm(dir, { recursive: true, force: true });
  }
});
