import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { serveByProcesses } from "@seneschal/server-node";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bootstrapInstance } from "../../src/compose/bootstrap-instance.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { type ProcessConfig, processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";
import { testCa } from "../platform/test-pki.ts";

const log = openLogger({ level: "silent" });
const version = "test";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-first-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function settings(more: { readonly auth?: object; readonly server?: object } = {}): ProcessConfig {
  const tls = { tls_cert: join(dir, "cert.pem"), tls_key: join(dir, "key.pem") };
  return processSettings.parse({
    services: ["gateway"],
    data_dir: join(dir, "data"),
    auth: more.auth ?? { mtls: { enabled: true } },
    gateway: { server: { port: 0, ...tls, ...more.server } },
  });
}

const person = { org: "acme", email: "ada@acme.example", name: "Ada", workspace: "first", shares: 3, threshold: 2 };
const bootstrap = (config: ProcessConfig, more: object = {}) =>
  bootstrapInstance(config, { ...person, serverNames: ["localhost"], out: join(dir, "out"), log, version, ...more });

describe.each([
  ["fastify", fastify],
  ["express", express],
  ["processes in front", serveByProcesses(2)],
] as const)("the first start, on %s", (_, serve) => {
  it("trusts the certificates of its own CA from the first moment, whatever else it is told to trust", async () => {
    const corporate = join(dir, "corporate.pem");
    await writeFile(corporate, (await testCa("Corporate")).pem);
    for (const trusted_ca of [undefined, corporate]) {
      const config = settings({ auth: { mtls: { enabled: true, ...(trusted_ca && { trusted_ca }) } } });
      const made = await bootstrap(config);
      const running = await startProcess(config, { serve, serveS3, log, version });
      const [ca, cert, key] = await Promise.all(
        [made.ca, made.admin.certificate, made.admin.key].map((at) => readFile(at, "utf8")),
      );
      const http = mtlsFetch({ ca: ca ?? "", cert: cert ?? "", key: key ?? "" });
      try {
        const answer = await http.fetch(`https://localhost:${running.services[0]?.port}/api/v1/workspaces`);
        expect([answer.status, await answer.json()]).toMatchObject([
          200,
          { workspaces: [{ id: made.workspace.id, name: "first" }] },
        ]);
        const health = await http.fetch(`https://localhost:${running.services[0]?.port}/health`);
        expect(await health.json()).toMatchObject({ status: "healthy", instance_id: made.instance_id });
      } finally {
        await http.close();
        await running.stop();
      }
    }
  });
});

describe("bootstrap", () => {
  it("run again finds what is there", async () => {
    const first = await bootstrap(settings());
    expect(first.made).toEqual(["unseal key", "organisation", "admin", "root key", "workspace", "server certificate"]);
    const again = await bootstrap(settings());
    expect(again).toEqual({ ...first, made: [] });
    expect(first.root_key.shares).toHaveLength(3);
  });

  it("goes on where it stood: shares that were lost before their key counted are dealt anew, a certificate that was lost is given again", async () => {
    const out = join(dir, "out");
    // A directory where a share is to go: the run ends in the middle of the second step.
    await mkdir(join(out, "share-2.json", "x"), { recursive: true });
    await expect(bootstrap(settings())).rejects.toThrow();
    const lost = await readFile(join(out, "share-1.json"), "utf8");
    await rm(join(out, "share-2.json"), { recursive: true });
    await rm(join(out, "admin.pem"));
    const second = await bootstrap(settings());
    expect(second.made).toEqual(["admin certificate", "root key", "workspace", "server certificate"]);
    expect(await readFile(join(out, "share-1.json"), "utf8")).not.toBe(lost);
    expect((await bootstrap(settings())).made).toEqual([]);
  });

  it("is closed once there is a root key, and to anybody but the first admin", async () => {
    await expect(bootstrap(settings(), { threshold: 4 })).rejects.toMatchObject({ code: "INVALID_THRESHOLD" });
    await bootstrap(settings());
    const eve = { email: "eve@acme.example", out: join(dir, "eve") };
    await expect(bootstrap(settings(), eve)).rejects.toMatchObject({ code: "BOOTSTRAP_CLOSED" });
    await rm(join(dir, "out", "admin.pem"));
    await expect(bootstrap(settings())).rejects.toMatchObject({ code: "BOOTSTRAP_CLOSED" });
  });
});

describe("server.instance_id", () => {
  it("is made at random with the data, and differs from every other's", async () => {
    const ids = await Promise.all(["a", "b"].map(async (name) => (await prepareData(join(dir, name), systemRandom)).instanceId));
    expect(new Set([...ids, undefined, "seneschal"]).size).toBe(4);
    expect((await prepareData(join(dir, "a"), systemRandom)).instanceId).toBe(ids[0]);
  });

  it("stays with the data: another one is refused by both names, and the data opens as before", async () => {
    const { instance_id } = await bootstrap(settings());
    const other = settings({ server: { instance_id: "acme-prod" } });
    const refused = await startProcess(other, { serve: fastify, serveS3, log, version }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "config_invalid", details: { configured: "acme-prod", stored: instance_id } });
    expect(String(refused)).toContain("acme-prod");
    expect(String(refused)).toContain(instance_id);
    for (const server of [{}, { instance_id }])
      await (await startProcess(settings({ server }), { serve: fastify, serveS3, log, version })).stop();
  });

  it("of data of before it was kept is what the root is called", async () => {
    const config = settings({ server: { instance_id: "old-name" } });
    await bootstrap(config);
    const { openDatabase } = await import("../../src/compose/open-database.ts");
    const { gatewaySchema } = await import("../../src/gateway/index.ts");
    const { vaultCollections } = await import("@seneschal/adapters/vault");
    const schema = { ...gatewaySchema, collections: { ...gatewaySchema.collections, ...vaultCollections } };
    const store = await openDatabase(config.gateway.database, schema, join(dir, "data", "gateway"));
    await store.commit({ commitId: "forget", puts: [], dels: [{ coll: "instances", id: "this" }], checks: [], audit: [] });
    await store.close();
    await expect(
      startProcess(settings({ server: { instance_id: "new" } }), { serve: fastify, serveS3, log, version }),
    ).rejects.toMatchObject({
      details: { configured: "new", stored: "old-name" },
    });
    await (await startProcess(settings(), { serve: fastify, serveS3, log, version })).stop();
  });
});
