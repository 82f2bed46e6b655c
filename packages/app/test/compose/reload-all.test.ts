import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { mtlsFetch } from "@seneschal/adapters/http";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveAdminService, serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { operateGateway } from "../../src/compose/operate-gateway.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { type RunningProcess, startProcess } from "../../src/compose/start-process.ts";
import { serverCertificate } from "../../src/gateway/index.ts";
import { type TestCa, testCa } from "../platform/test-pki.ts";
import { signJwt } from "../scheduler/sign-jwt.ts";

const WAIT = { timeout: 30_000 };
const quiet = { log: openLogger({ level: "silent" }), version: "test" };

let dir = "";
let ca: TestCa;
let running: RunningProcess | undefined;
const open: TLSSocket[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-reload-all-"));
  ca = await testCa("Corporate");
  await prepareData(join(dir, "data"), systemRandom);
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await running?.stop();
  running = undefined;
  await rm(dir, { recursive: true, force: true });
});

const at = (name: string): string => join(dir, name);

/** A connection, and the serial of what it was shown. */
function shake(port: number, anchor: string): Promise<{ readonly socket: TLSSocket; readonly serial: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "localhost", ca: anchor, ALPNProtocols: ["h2", "http/1.1"] }, () => {
      const serial = (socket.getPeerCertificate().serialNumber.toLowerCase().match(/../g) ?? []).join(":");
      resolve({ socket, serial });
    });
    open.push(socket);
    socket.on("error", reject);
  });
}

async function pair() {
  const issued = await ca.issue("CN=localhost", { usage: "server", to: 365 * 86_400_000 });
  await writeFile(at("cert.pem"), issued.cert);
  await writeFile(at("key.pem"), issued.key, { mode: 0o600 });
  return issued;
}

async function newTokenKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(at("jwt.pem"), publicKey.export({ type: "spki", format: "pem" }));
  return (subject: string) => {
    const now = Math.floor(Date.now() / 1000);
    return signJwt(
      { iss: "https://id.example", aud: "seneschal", sub: subject, org: "acme", roles: ["user"], iat: now, exp: now + 600 },
      privateKey,
    );
  };
}

async function decide(allowed: boolean): Promise<void> {
  const decision = `{"allowed": ${allowed}, "policy_id": "own", "policy_name": "Our own", "reasons": ["said so"], "obligations": []}`;
  await writeFile(at("own.rego"), `package governance\n\ndecision := ${decision}\n`);
}

function settings(more: object = {}) {
  const server = { port: 0, tls_cert: at("cert.pem"), tls_key: at("key.pem") };
  return processSettings.parse({
    services: ["gateway", "governance", "scheduler", "storage"],
    data_dir: at("data"),
    log: { level: "silent" },
    auth: { jwt: { enabled: true, public_key: at("jwt.pem"), issuer: "https://id.example", audiences: ["seneschal"], ...more } },
    gateway: { server },
    governance: { server, policy_files: [at("own.rego")], anonymous: { classify: true, evaluate: true, lineage: false } },
    scheduler: { server, grpc: { enabled: true, port: 0 } },
    storage: {
      server,
      s3: { port: 0, tls_cert: at("cert.pem"), tls_key: at("key.pem") },
      grpc: { address: "127.0.0.1:0", ca: at("ca.pem"), cert: at("cert.pem"), key: at("key.pem") },
      cluster: { peer_address: "127.0.0.1:0" },
    },
  });
}

it("a reload takes in the certificates of every port, the issuers of tokens and the policy of data governance; connections stay", async () => {
  await writeFile(at("ca.pem"), ca.pem);
  const first = await pair();
  const token = await newTokenKey();
  await decide(true);
  running = await startProcess(settings(), { serve, serveS3, serveGrpc, serveAdminService, ...quiet });
  const [gateway, governance, scheduler, storage] = running.services;
  const portOf = (address = ""): number => Number(address.split(":").at(-1)?.replace(/\/$/, ""));
  const ports = [
    ...running.services.map(({ port }) => port),
    portOf(scheduler?.listeners["grpc"]),
    ...["s3", "data", "peers"].map((name) => portOf(storage?.listeners[name])),
  ];
  expect(ports.every((port) => port > 0)).toBe(true);
  const before = await Promise.all(ports.map((port) => shake(port, ca.pem)));
  expect(before.map(({ serial }) => serial)).toEqual(ports.map(() => first.serial));

  const http = mtlsFetch({ ca: ca.pem });
  const ask = async (service: typeof gateway, path: string, bearer?: string, body?: object) => {
    const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
    const answer = await http.fetch(`https://localhost:${service?.port}${path}`, {
      headers,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const evaluation = {
    operation_type: "READ",
    source_resources: ["crm.customers"],
    user_context: { user_id: "ada", role: "analyst", department: "sales" },
  };
  const decision = async () => JSON.parse((await ask(governance, "/api/v1/evaluate", undefined, evaluation)).text).allowed;
  const statuses = async (bearer: string) => [
    (await ask(gateway, "/api/v1/workspaces", bearer)).status,
    (await ask(scheduler, "/api/v1/allocations", bearer)).status,
  ];
  try {
    expect(await decision()).toBe(true);
    const old = token("ada");
    expect(await statuses(old)).toEqual([200, 200]);

    // Of what cannot be used nothing is taken in.
    await writeFile(at("own.rego"), "package governance\n\ndecision := ");
    const next = await pair();
    const newer = (await newTokenKey())("ada");
    await expect(running.reload(settings())).rejects.toMatchObject({ code: "config_invalid" });
    expect(await statuses(old)).toEqual([200, 200]);
    expect((await shake(ports[4] ?? 0, ca.pem)).serial).toBe(first.serial);

    await decide(false);
    await running.reload(settings());
    expect(await decision()).toBe(false);
    expect(await statuses(newer)).toEqual([200, 200]);
    expect(await statuses(old)).toEqual([401, 401]);
    const after = await Promise.all(ports.map((port) => shake(port, ca.pem)));
    expect(after.map(({ serial }) => serial)).toEqual(ports.map(() => next.serial));
    // Those without a certificate of their own are cut by the data path after a while, and by nothing else.
    expect(before.slice(0, 6).map(({ socket }) => socket.destroyed)).toEqual([false, false, false, false, false, false]);

    await running.reload(settings({ issuer: "https://other.example" }));
    expect(await statuses(newer)).toEqual([401, 401]);
    expect((await ask(scheduler, "/api/v1/auth/discovery")).text).toContain("https://other.example");
  } finally {
    await http.close();
  }
});

it("a certificate of the gateway's own CA is renewed before it ends, under its names and its key, and shown without a restart; another CA's is left alone", async () => {
  const config = processSettings.parse({
    services: ["gateway", "scheduler"],
    data_dir: at("data"),
    log: { level: "silent" },
    gateway: { server: { port: 0, tls_cert: at("own.pem"), tls_key: at("own-key.pem") } },
    scheduler: { server: { port: 0, tls_cert: at("cert.pem"), tls_key: at("key.pem") } },
  });
  const foreign = await ca.issue("CN=localhost", { usage: "server", from: -86_400_000, to: 3_600_000 });
  await writeFile(at("cert.pem"), foreign.cert);
  await writeFile(at("key.pem"), foreign.key, { mode: 0o600 });
  const { server: _, ...bare } = config.gateway;
  const without = {
    ...config,
    gateway: { ...bare, server: { ...config.gateway.server, tls_cert: undefined, tls_key: undefined } },
  };
  const hour = 3_600_000;
  const made = await operateGateway(without as typeof config, quiet, (services) =>
    serverCertificate(services, { names: ["localhost", "gate.example", "127.0.0.1"], now: Date.now() - 0.9 * hour, ttl: hour }),
  );
  await writeFile(at("own.pem"), made.cert + made.ca, { mode: 0o640 });
  await writeFile(at("own-key.pem"), made.key, { mode: 0o600 });
  running = await startProcess(config, { serve, serveS3, serveGrpc, serveAdminService, ...quiet });
  const [gateway, scheduler] = running.services;
  await vi.waitUntil(async () => (await readFile(at("own.pem"), "utf8")) !== made.cert + made.ca, WAIT);
  const [old, renewed] = [new X509Certificate(made.cert), new X509Certificate(await readFile(at("own.pem")))];
  await vi.waitUntil(
    async () => (await shake(gateway?.port ?? 0, made.ca)).socket.getPeerCertificate().serialNumber === renewed.serialNumber,
    WAIT,
  );
  expect(renewed.subjectAltName).toBe(old.subjectAltName);
  expect(renewed.publicKey.export({ type: "spki", format: "pem" })).toBe(old.publicKey.export({ type: "spki", format: "pem" }));
  expect(Date.parse(renewed.validTo) - Date.parse(old.validTo)).toBeGreaterThan(0.8 * hour);
  expect(await readFile(at("own-key.pem"), "utf8")).toBe(made.key);
  expect((await shake(scheduler?.port ?? 0, ca.pem)).serial).toBe(foreign.serial);
  expect(await readFile(at("cert.pem"), "utf8")).toBe(foreign.cert);
  const ends = /gateway_certificate_expiry_timestamp_seconds\{setting="gateway.server.tls_cert"\} (\S+)/;
  const told = async (): Promise<boolean> => {
    const text = (await gateway?.metrics.text()) ?? "";
    return Number(ends.exec(text)?.[1]) * 1000 === Date.parse(renewed.validTo);
  };
  await vi.waitUntil(told, WAIT);
});
