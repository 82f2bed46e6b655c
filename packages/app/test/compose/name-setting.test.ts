import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { serve } from "@seneschal/server-fastify";
import { serveAdminService } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkConfig } from "../../src/compose/check-config.ts";
import { nameSetting } from "../../src/compose/name-setting.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";
import { namedFiles } from "../../src/platform/index.ts";
import { testCa } from "../platform/test-pki.ts";

const quiet = { serve, serveS3, serveAdminService, log: openLogger({ level: "silent" }), version: "test" };

describe("a start that the system refuses names the setting and says what to do", () => {
  let dir = "";
  let taken: Server;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-refused-"));
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => taken.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  const scheduler = (more: object) =>
    processSettings.parse({ services: ["scheduler"], data_dir: dir, scheduler: { storage: { kind: "memory" }, ...more } });

  it.each(["scheduler.server.port", "scheduler.grpc.port"])("at a port that another has: %s", async (setting) => {
    const { port } = taken.address() as AddressInfo;
    const own = setting === "scheduler.server.port";
    const config = scheduler({ server: { port: own ? port : 0 }, grpc: { enabled: !own, port: own ? 50_051 : port } });
    await expect(startProcess(config, quiet)).rejects.toMatchObject({
      code: "address_unusable",
      message: expect.stringMatching(new RegExp(`^${setting}: 127\\.0\\.0\\.1:${port} is taken by another process: end`)),
    });
  });

  it("at a file that is not there", async () => {
    const path = join(dir, "gone.pem");
    const config = scheduler({ server: { port: 0, tls_cert: path, tls_key: path } });
    await expect(startProcess(config, quiet)).rejects.toMatchObject({
      code: "config_invalid",
      message: `scheduler.server.tls_cert and scheduler.server.tls_key: ${path} is not there: put the file there, or name another`,
    });
  });

  it("at a key of another certificate, whether of its kind or not, as config check does", async () => {
    const ca = await testCa("Corporate");
    const [own, other] = [await ca.issue("CN=localhost", { usage: "server" }), await ca.issue("CN=other", { usage: "server" })];
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
    const tls_cert = await file("own.pem", own.cert);
    for (const [name, key, problem] of [
      ["own-key.pem", own.key, undefined],
      ["other-key.pem", other.key, "is not the key of the certificate"],
      ["rsa-key.pem", String(rsa), "is not the key of the certificate"],
      ["no-key.pem", other.cert, "is no private key that can be read"],
    ] as const) {
      const config = scheduler({ server: { port: 0, tls_cert, tls_key: await file(name, key) } });
      const told = (await checkConfig(config, { now: Date.now(), reach: false })).filter(({ severity }) => severity === "error");
      expect(told.map(({ setting }) => setting)).toEqual(problem === undefined ? [] : ["scheduler.server.tls_key"]);
      const started = startProcess(config, quiet);
      if (problem === undefined) await (await started).stop();
      else
        await expect(started).rejects.toMatchObject({
          code: "config_invalid",
          message: `scheduler.server.tls_key: ${join(dir, name)} ${problem}`,
        });
    }
  });

  it("whatever file setting it is", async () => {
    const config = processSettings.parse({
      auth: {
        mtls: { enabled: true, trusted_ca: "t.pem" },
        jwt: { enabled: true, public_key: "j.pem", issuer: "i", audiences: ["a"] },
        oidc: { ca_file: "o.pem" },
      },
      gateway: {
        server: { tls_cert: "c.pem", tls_key: "k.pem" },
        audit_sinks: { siem: { kind: "syslog", url: "tls://siem.example", ca_file: "s.pem" } },
      },
      governance: { policy_files: ["a.rego", "b.rego"] },
    });
    const files = namedFiles(processSettings, config);
    expect(files.length).toBeGreaterThan(7);
    for (const { setting, path } of files) {
      const refused = Object.assign(new Error("EACCES"), { code: "EACCES", path, errno: -13 });
      expect(nameSetting(refused, config)).toMatchObject({
        code: "config_invalid",
        message: expect.stringMatching(`^${setting}: `),
      });
    }
    const other = Object.assign(new Error("ENOENT"), { code: "ENOENT", path: "/of/nobody", errno: -2 });
    expect(nameSetting(other, config)).toBe(other);
  });
});
