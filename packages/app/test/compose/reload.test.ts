import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { serveByProcesses } from "@seneschal/server-node";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bootstrapInstance } from "../../src/compose/bootstrap-instance.ts";
import { type ProcessConfig, processSettings } from "../../src/compose/process-settings.ts";
import { type RunningProcess, startProcess } from "../../src/compose/start-process.ts";
import { watchFiles } from "../../src/compose/watch-files.ts";
import { type Issued, type TestCa, testCa } from "../platform/test-pki.ts";

const WAIT = { timeout: 30_000 };

let dir = "";
let ca: TestCa;
let running: RunningProcess | undefined;
const lines: string[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-reload-"));
  ca = await testCa("Corporate");
  lines.length = 0;
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await rm(dir, { recursive: true, force: true });
});

async function renew(): Promise<Issued> {
  const issued = await ca.issue("CN=localhost", { usage: "server", to: 365 * 86_400_000 });
  await writeFile(join(dir, "cert.pem"), issued.cert);
  await writeFile(join(dir, "key.pem"), issued.key);
  return issued;
}

function settings(more: object = {}, level = "info"): ProcessConfig {
  return processSettings.parse({
    services: ["gateway"],
    data_dir: join(dir, "data"),
    log: { level },
    auth: { mtls: { enabled: true } },
    gateway: {
      server: { port: 0, tls_cert: join(dir, "cert.pem"), tls_key: join(dir, "key.pem") },
      rate_limit: { authenticated: { limit: 1_000_000 }, anonymous: { limit: 1_000_000 } },
      ...more,
    },
  });
}

async function start(serve: typeof fastify) {
  const first = await renew();
  const config = settings();
  const log = openLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
  const quiet = { log: openLogger({ level: "silent" }), version: "test" };
  const asked = { org: "acme", email: "ada@acme.example", name: "Ada", workspace: "w", shares: 3, threshold: 2, serverNames: [] };
  const made = await bootstrapInstance(config, { ...asked, out: join(dir, "out"), ...quiet });
  running = await startProcess(config, { serve, serveS3, log, version: "test" });
  const port = running.services[0]?.port ?? 0;
  const [cert, key] = await Promise.all([made.admin.certificate, made.admin.key].map((path) => readFile(path, "utf8")));
  return { first, port, admin: { cert: cert ?? "", key: key ?? "" }, process: running };
}

/** The serial of what a new connection is shown. */
function shown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "localhost", ca: ca.pem }, () => {
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      resolve((serialNumber.toLowerCase().match(/../g) ?? []).join(":"));
    });
    socket.on("error", reject);
  });
}

describe.each([
  ["fastify", fastify],
  ["express", express],
  ["processes in front", serveByProcesses(2)],
] as const)("a reload, on %s", (_, serve) => {
  it("under load shows the new certificate to new connections, and fails no request", async () => {
    const { first, port, admin, process } = await start(serve);
    expect(await shown(port)).toBe(first.serial);
    let over = false;
    let asked = 0;
    const ask = async (): Promise<number[]> => {
      const statuses: number[] = [];
      while (!over) {
        // Kept connections, and one of its own every now and then.
        const http = mtlsFetch({ ca: ca.pem, ...admin });
        for (let i = 0; i < 5 && !over; i++, asked++) {
          const answer = await http.fetch(`https://localhost:${port}/api/v1/workspaces`);
          await answer.text();
          statuses.push(answer.status);
        }
        await http.close();
      }
      return statuses;
    };
    const clients = Array.from({ length: 4 }, ask);
    for (let round = 0; round < 5; round++) {
      const next = await renew();
      await process.reload(settings());
      expect(await shown(port)).toBe(next.serial);
      const so = asked;
      await vi.waitUntil(() => asked > so + 10, WAIT);
    }
    over = true;
    const statuses = (await Promise.all(clients)).flat();
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("of what cannot be used changes nothing: a key of another pair, a file that is gone, a policy that does not compile", async () => {
    const { first, port, process } = await start(serve);
    const other = await ca.issue("CN=localhost", { usage: "server" });
    await writeFile(join(dir, "key.pem"), other.key);
    const stricter = { authorization_policy: "package gateway.authz\nallow := true\n" };
    await expect(process.reload(settings(stricter, "error"))).rejects.toMatchObject({ code: "config_invalid" });
    await rm(join(dir, "key.pem"));
    await expect(process.reload(settings())).rejects.toMatchObject({
      message: expect.stringMatching(/^gateway\.server\.tls_key: .* is not there/),
    });
    await writeFile(join(dir, "key.pem"), first.key);
    await expect(process.reload(settings({ authorization_policy: "package" }))).rejects.toMatchObject({ code: "config_invalid" });
    await expect(process.reload({ ...settings(), services: ["gateway", "scheduler"] })).rejects.toMatchObject({
      code: "config_invalid",
    });
    expect(await shown(port)).toBe(first.serial);
  });
});

it("a reload takes in limits, the authorisation policy and the level of the log; the end of certificates is a metric and a line", async () => {
  const { port, admin, process } = await start(fastify);
  const http = mtlsFetch({ ca: ca.pem, ...admin });
  const ask = async (path: string) => {
    const answer = await http.fetch(`https://localhost:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  try {
    expect((await ask("/api/v1/workspaces")).status).toBe(200);
    await process.reload(settings({ authorization_policy: "package gateway.authz\nallow := false\n" }));
    expect((await ask("/api/v1/workspaces")).status).toBe(403);
    await process.reload(settings({ rate_limit: { authenticated: { limit: 2 } } }));
    expect((await ask("/api/v1/workspaces")).status).toBe(429);
    const logged = lines.length;
    await process.reload(settings({}, "error"));
    expect((await ask("/api/v1/workspaces")).status).toBe(200);
    expect(lines.length).toBe(logged);
    const ends = Number(
      /gateway_certificate_expiry_timestamp_seconds\{setting="gateway.server.tls_cert"\} (\S+)/.exec(
        (await ask("/metrics")).text,
      )?.[1],
    );
    expect(ends).toBeGreaterThan(Date.now() / 1000 + 300 * 86_400);

    await process.reload(settings({ server: { port: 1, tls_cert: join(dir, "cert.pem"), tls_key: join(dir, "key.pem") } }));
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: "warn", settings: ["gateway.server.port"], message: expect.stringContaining("restart") }),
    );

    const soon = await ca.issue("CN=localhost", { usage: "server", to: 86_400_000 });
    await writeFile(join(dir, "cert.pem"), soon.cert);
    await writeFile(join(dir, "key.pem"), soon.key);
    await process.reload(settings());
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: "warn",
        setting: "gateway.server.tls_cert",
        message: expect.stringContaining("ends soon"),
      }),
    );
  } finally {
    await http.close();
  }
});

it("a file that is replaced is a change, and so is one that is gone", async () => {
  const path = join(dir, "file");
  await writeFile(path, "a");
  let changes = 0;
  const watch = await watchFiles(
    () => [path],
    5,
    async () => {
      changes += 1;
    },
  );
  try {
    // At once: a file that is being written is a change for each state of it that is seen.
    await writeFile(`${path}.new`, "b");
    await rename(`${path}.new`, path);
    await vi.waitUntil(() => changes === 1, WAIT);
    await rm(path);
    await vi.waitUntil(() => changes === 2, WAIT);
  } finally {
    watch.close();
  }
});

it("a file that changes while a change is taken in has changed again", async () => {
  const path = join(dir, "file");
  await writeFile(path, "a");
  const seen: string[] = [];
  const watch = await watchFiles(
    () => [path],
    5,
    async () => {
      seen.push(await readFile(path, "utf8"));
      if (seen.length === 1) await writeFile(path, "c");
    },
  );
  try {
    await writeFile(`${path}.new`, "b");
    await rename(`${path}.new`, path);
    await vi.waitUntil(() => seen.at(-1) === "c", WAIT);
  } finally {
    watch.close();
  }
});
