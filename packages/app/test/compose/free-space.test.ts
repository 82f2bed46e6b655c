import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { roomAt } from "@seneschal/adapters/files";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { expect, it } from "vitest";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";

it("a disk with less room than is set is said by the health of each service that tells components, and by the metrics of all", async () => {
  const dir = await mkdtemp(join(tmpdir(), "seneschal-disk-"));
  await prepareData(dir, systemRandom);
  const log = openLogger({ level: "silent" });
  const { freeBytes: free } = await roomAt(join(dir, "not", "yet"));
  const told = async (min_free_bytes: number) => {
    const config = processSettings.parse({
      services: ["gateway", "scheduler"],
      data_dir: dir,
      disk: { min_free_bytes },
      gateway: { server: { port: 0 } },
      scheduler: { server: { port: 0 } },
    });
    const running = await startProcess(config, { serve, serveS3, log, version: "test" });
    try {
      return await Promise.all(
        running.services.map(async ({ url }) => ({
          disk: ((await (await fetch(`${url}/health`)).json()) as { components: Record<string, unknown> }).components["disk"],
          ready: (await fetch(`${url}/ready`)).status,
          bytes: Number(/^\w+_disk_free_bytes (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]),
        })),
      );
    } finally {
      await running.stop();
    }
  };
  try {
    const enough = { disk: { status: "healthy" }, ready: 200 };
    expect(await told(1)).toMatchObject([enough, enough]);
    const scarce = { disk: { status: "unhealthy" }, ready: 200 };
    const found = await told(free * 1000 + 2 ** 40);
    expect(found).toMatchObject([scarce, scarce]);
    for (const { bytes } of found) expect(bytes).toBeGreaterThan(0);
    expect(await told(0)).toMatchObject([{ ready: 200 }, { ready: 200 }]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
