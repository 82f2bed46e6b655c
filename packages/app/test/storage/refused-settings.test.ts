import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { checkConfig } from "../../src/compose/check-config.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";
import { openClusterLog } from "../../src/storage/cluster/cluster-control.ts";
import { storageInForce } from "../../src/storage/environment.ts";
import { storageSettings } from "../../src/storage/settings.ts";
import { testCa } from "../platform/test-pki.ts";

let root = "";
const at = (name: string) => join(root, name);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-refused-"));
  await prepareData(at("data"), systemRandom);
  const ca = await testCa("Cluster");
  const [own, other] = [await ca.issue("CN=n1,OU=store-server", { usage: "server" }), await ca.issue("CN=n1,OU=store-server")];
  const files = {
    ca: ca.pem,
    cert: own.cert,
    key: own.key,
    nameless: other.cert,
    "other-key": other.key,
    text: "text",
    empty: "",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text, { mode: 0o600 });
});
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }));
afterEach(() => vi.unstubAllEnvs());

const device = (id: string, more: object = {}) => ({ id, pool: "fast", directory: at(id), capacity_bytes: 64 << 20, ...more });
const settings = (storage: object) =>
  processSettings.parse({
    services: ["storage"],
    data_dir: at("data"),
    storage: {
      server: { port: 0 },
      s3: { port: 0 },
      database: { kind: "memory" },
      cluster: { kind: "memory" },
      pools: [{ id: "fast", class: "ssd", durability: { copies: 2 } }],
      devices: [device("d0"), device("d1")],
      ...storage,
    },
  });
const refusal = async (storage: object) => {
  const log = openLogger({ level: "silent" });
  const started = startProcess(settings(storage), { serve, serveS3, serveGrpc, log, version: "test" });
  return started.then(
    async (running) => {
      await running.stop();
      return { code: "started", message: "started" };
    },
    (error: { code?: string; message: string }) => error,
  );
};
const tls = (more: object) => ({ grpc: { ca: at("ca"), cert: at("cert"), key: at("key"), address: "127.0.0.1:0", ...more } });
const replication = (secret: string) => ({
  replication: {
    destinations: [
      { name: "west", tenants: ["a"], endpoint: "https://a.example", access_key: "k", secret_key_file: at("ca") },
      { name: "east", tenants: ["a"], endpoint: "https://a.example", access_key: "k", secret_key_file: at(secret) },
    ],
  },
});
const hook = (url: string) => ({
  notifications: { webhooks: [{ name: "h", tenants: ["a"], url, secret: `whsec_${Buffer.alloc(24).toString("base64")}` }] },
});

describe("a start that storage's settings refuse", () => {
  it.each([
    ["storage.devices.1.pool", () => ({ devices: [device("d0"), device("d1", { pool: "slow" })] })],
    ["storage.devices.0.pool", () => ({ devices: [device("d0", { pool: "slow" }), device("d1")] })],
    ["storage.grpc.key (STORE_KEY_PATH)", () => tls({ key: undefined })],
    ["storage.grpc.ca (STORE_CA_PATH)", () => tls({ ca: undefined })],
    ["storage.grpc.insecure", () => tls({ insecure: true })],
    ["storage.grpc.crl (STORE_CRL_PATH)", () => ({ grpc: { crl: at("ca") } })],
    ["storage.grpc.ca (STORE_CA_PATH)", () => tls({ ca: at("text") })],
    ["storage.grpc.cert (STORE_CERT_PATH)", () => tls({ cert: at("empty") })],
    ["storage.grpc.cert (STORE_CERT_PATH)", () => tls({ cert: at("nameless"), key: at("other-key") })],
    ["storage.grpc.key (STORE_KEY_PATH)", () => tls({ key: at("other-key") })],
    ["storage.grpc.key (STORE_KEY_PATH)", () => tls({ key: at("text") })],
    ["storage.grpc.cert", () => tls({ cert: at("none") })],
    ["storage.grpc.address (STORE_DATA_ADDR)", () => tls({ address: "9100" })],
    ["storage.grpc.address (STORE_DATA_ADDR)", () => ({ grpc: { insecure: true, address: "0.0.0.0:0" } })],
    ["storage.cluster.peer_address (STORE_PEER_ADDR)", () => ({ cluster: { kind: "memory", peer_address: "host" } })],
    ["storage.cluster.peer_address (STORE_PEER_ADDR)", () => ({ cluster: { kind: "memory", peer_address: "host:70000" } })],
    ["storage.cluster.advertise.data", () => ({ cluster: { kind: "memory", advertise: { data: "10.0.0.1" } } })],
    ["storage.s3.tls_key", () => ({ s3: { port: 0, tls_cert: at("cert") } })],
    ["storage.s3.tls_cert", () => ({ s3: { port: 0, tls_key: at("key") } })],
    ["storage.s3.tls_cert", () => ({ s3: { port: 0, tls_cert: at("text"), tls_key: at("key") } })],
    ["storage.s3.tls_key", () => ({ s3: { port: 0, tls_cert: at("cert"), tls_key: at("other-key") } })],
    ["storage.backup.backend (STORE_BACKUP_BACKEND)", () => ({ backup: { backend: "s3" } })],
    ["storage.replication.destinations.1.secret_key_file", () => replication("empty")],
    ["storage.replication.destinations.1.secret_key_file", () => replication("none")],
    ["storage.notifications.webhooks.0.url", () => hook("http://127.0.0.1/x")],
    ["storage.authorization_policy", () => ({ authorization_policy: "package" })],
    ["storage.authorization_policy", () => ({ authorization_policy: "package other" })],
  ] as const)("names %s", async (setting, storage) => {
    const { code, message } = await refusal(storage());
    expect([code, message.startsWith(`${setting}: `) || message.startsWith(`${setting} does not compile`), message]).toEqual([
      "config_invalid",
      true,
      message,
    ]);
  });

  it.each([
    ["STORE_NODE_ID", "", "storage.node_id (STORE_NODE_ID)"],
    ["STORE_DATA_ADDR", "9100", "storage.grpc.address (STORE_DATA_ADDR)"],
    ["STORE_BACKUP_BACKEND", "tape", "storage.backup.backend (STORE_BACKUP_BACKEND)"],
    ["STORE_BACKUP_RETENTION_DAYS", "soon", "storage.backup.retention_days"],
  ])("names what %s is over", async (name, value, setting) => {
    vi.stubEnv(name, value);
    expect(await refusal({})).toMatchObject({ code: "config_invalid", message: expect.stringMatching(/^storage\./) });
    expect((await refusal({})).message.startsWith(`${setting}: `)).toBe(true);
  });

  it("names what nodes that agree over etcd need", async () => {
    const config = storageSettings.parse({ cluster: { kind: "etcd" } });
    expect(() => storageInForce(config, {})).toThrow(/^storage\.grpc\.ca \(STORE_CA_PATH\): /);
    await expect(openClusterLog(config.cluster, root)).rejects.toThrow(/^storage\.cluster\.endpoints: /);
  });

  it("does not begin with an unknown pool: nothing was made of the other devices", async () => {
    const devices = [device("fresh"), device("d1", { pool: "slow" })];
    expect((await refusal({ devices })).message).toMatch(/^storage\.devices\.1\.pool: there is no pool slow/);
    const found = await checkConfig(settings({ devices }), { now: Date.now(), reach: false });
    expect(found).toContainEqual(expect.objectContaining({ severity: "warning", setting: "storage.devices.1.pool" }));
    expect(await readdir(root)).not.toContain("fresh");
  });
});
