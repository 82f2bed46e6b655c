import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { prepareData, processSettings, startProcess } from "../../src/index.ts";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-missing-"));
  await prepareData(dir, systemRandom);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const memory = { database: { kind: "memory" }, cluster: { kind: "memory" } };
const rows: readonly (readonly [setting: string, settings: object])[] = [
  ["storage", { services: ["storage"], storage: memory }],
  [
    "storage.nfs.exports",
    {
      services: ["storage"],
      storage: { ...memory, nfs: { exports: [{ path: "/a", tenant: "a", bucket: "a-b", clients: ["127.0.0.1"] }] } },
    },
  ],
  ["storage.grpc", { services: ["storage"], storage: { ...memory, grpc: { insecure: true } } }],
  [
    "scheduler.server.processes",
    { services: ["scheduler"], scheduler: { storage: { kind: "memory" }, server: { processes: 1 } } },
  ],
  ["scheduler.grpc.enabled", { services: ["scheduler"], scheduler: { storage: { kind: "memory" }, grpc: { enabled: true } } }],
];

it.each(rows)("what is configured and nothing serves refuses the start: %s", async (setting, settings) => {
  const config = processSettings.parse({ data_dir: dir, ...settings });
  const servers = setting === "storage" ? {} : { serveS3 };
  const starting = startProcess(config, { serve, ...servers, log: openLogger({ level: "silent" }), version: "test" });
  await expect(starting).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(new RegExp(`^${setting}: this process was built without an? \\w+ server$`)),
  });
});
