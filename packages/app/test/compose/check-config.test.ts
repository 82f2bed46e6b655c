import { chmod, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { roomAt } from "@seneschal/adapters/files";
import { systemRandom } from "@seneschal/adapters/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkConfig } from "../../src/compose/check-config.ts";
import { prepareData } from "../../src/compose/prepare-data.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { describeConfig, namedFiles } from "../../src/platform/index.ts";
import { testCa } from "../platform/test-pki.ts";

let dir = "";
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dir, name), text, { mode: 0o600 });
  return join(dir, name);
};
const check = (settings: object) =>
  checkConfig(processSettings.parse({ services: ["gateway"], data_dir: dir, ...settings }), { now: Date.now() });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-check-"));
  await prepareData(dir, systemRandom);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const DAY = 86_400_000;

/** The settings and files of a gateway that would start and serve. */
async function sound() {
  const ca = await testCa("Corporate");
  const { cert, key } = await ca.issue("CN=localhost", { usage: "server", to: 365 * DAY });
  return {
    ca,
    trusted_ca: await file("ca.pem", ca.pem),
    tls_cert: await file("cert.pem", cert),
    tls_key: await file("key.pem", key),
  };
}

describe("a check of the configuration", () => {
  it("refuses a key of a scope that is none", () => {
    const api_keys = [{ id: "a", sha256: "0".repeat(64), scopes: ["evalute"] }];
    expect(() => processSettings.parse({ governance: { api_keys } })).toThrow(/scopes/);
  });

  it("tells of a pool of a node alone that has too few devices for a chunk", async () => {
    const told = async (count: number, durability?: object) => {
      const device = (i: number) => ({ id: `d${i}`, pool: "p", directory: join(dir, `d${i}`), capacity_bytes: 1 << 20 });
      const pools = [
        { id: "q", class: "hdd" },
        { id: "p", class: "ssd", ...(durability && { durability }) },
      ];
      const found = await check({
        services: ["storage"],
        storage: { pools, devices: Array.from({ length: count }, (_, i) => device(i)) },
      });
      return found.map(({ severity, setting, message }) => [
        severity,
        setting,
        /needs (\d) devices, the pool has (\d)/.exec(message)?.slice(1),
      ]);
    };
    expect(await told(4)).toEqual([["warning", "storage.pools.1", ["5", "4"]]]);
    expect(await told(1, { copies: 2 })).toEqual([["warning", "storage.pools.1", ["2", "1"]]]);
    expect([await told(5), await told(2, { copies: 2 }), await told(3, { data: 2, parity: 1 })]).toEqual([[], [], []]);
  });

  it("tells of devices that may take more than their disk has, together with those beside them, and of what they hold as held", async () => {
    const { freeBytes } = await roomAt(dir);
    const told = async (...shares: number[]) => {
      const devices = shares.map((share, i) => ({
        id: `d${i}`,
        pool: "p",
        directory: join(dir, `d${i}`, "not", "yet"),
        capacity_bytes: Math.floor(freeBytes * share),
      }));
      const storage = { pools: [{ id: "p", class: "custom", durability: { copies: 2 } }], devices };
      const found = await check({ services: ["storage"], storage });
      return found.filter(({ setting }) => setting.startsWith("storage.devices"));
    };
    const warned = [{ severity: "warning", setting: "storage.devices.0.capacity_bytes" }];
    // What else is written to this disk meanwhile is far less than a fifth of it.
    expect(await told(0.4, 0.4)).toEqual([]);
    expect(await told(0.6, 0.6)).toMatchObject(warned);
    expect(await told(2, 0.1)).toMatchObject(warned);
    // A sparse file, which takes nothing of the disk: it is of the device as far as the device goes.
    await mkdir(join(dir, "d0", "not", "yet", "segments"), { recursive: true });
    await truncate(await file(join("d0", "not", "yet", "segments", "0000000001.seg"), ""), Math.floor(freeBytes * 0.4));
    expect(await told(0.6, 0.6)).toEqual([]);
  });

  it("of a sound one finds nothing", async () => {
    const { trusted_ca, tls_cert, tls_key } = await sound();
    const auth = { mtls: { enabled: true, trusted_ca } };
    expect(await check({ auth, gateway: { server: { host: "0.0.0.0", tls_cert, tls_key } } })).toEqual([]);
  });

  it("tries the archive of audit events as it will be used, and leaves nothing there", async () => {
    const { tls_cert, tls_key } = await sound();
    const to = (directory: string) => ({ gateway: { server: { tls_cert, tls_key }, audit: { archive: { to: { directory } } } } });
    const of = async (settings: object) => (await check(settings)).filter(({ setting }) => setting.startsWith("gateway.audit"));
    expect(await of(to(join(dir, "archive")))).toEqual([]);
    expect(await readdir(join(dir, "archive"))).toEqual([]);
    expect(await of(to(join(await file("occupied", ""), "archive")))).toMatchObject([
      { severity: "error", setting: "gateway.audit.archive.to.directory", message: expect.stringContaining("cannot be written") },
    ]);
    for (const wrong of [{}, { directory: "a", s3: { endpoint: "http://h", bucket: "b", access_key: "k", secret_key: "s" } }])
      expect(() => processSettings.parse({ gateway: { audit: { archive: { to: wrong } } } })).toThrow(/directory or s3/);
  });

  it("tries what is scanned as a scan would, and says by which code one does not answer, without a secret", async () => {
    const { port } = await new Promise<AddressInfo>((done) => {
      const server = createServer();
      server.listen(0, "127.0.0.1", () => {
        const address = server.address() as AddressInfo;
        server.close(() => done(address));
      });
    });
    const secret_key_file = await file("lake.key", "secret-canary");
    const password_file = await file("db.password", "password-canary");
    const sources = {
      lake: { kind: "s3", endpoint: `http://127.0.0.1:${port}`, bucket: "lake", access_key: "scanner", secret_key_file },
      shop: { kind: "postgres", host: "127.0.0.1", port, database: "shop", user: "scanner", password_file, tls: "off" },
    };
    const settings = { services: ["governance"], governance: { sources } };
    const found = (await check(settings)).filter(({ setting }) => setting.startsWith("governance.sources"));
    expect(found).toMatchObject(
      ["lake", "shop"].map((name) => ({
        severity: "warning",
        setting: `governance.sources.${name}`,
        message: "the source cannot be read: ECONNREFUSED",
      })),
    );
    expect(JSON.stringify(found)).not.toContain("canary");
    const offline = await checkConfig(processSettings.parse({ data_dir: dir, ...settings }), { now: Date.now(), reach: false });
    expect(offline.filter(({ setting }) => setting.startsWith("governance.sources"))).toEqual([]);
  });

  it("names every file that is missing, expired, of another pair, of another kind or open to others, and says what to do", async () => {
    const { ca, trusted_ca, tls_cert, tls_key } = await sound();
    const expired = await ca.issue("CN=localhost", { usage: "server", from: -9 * DAY, to: -DAY });
    const soon = await ca.issue("CN=localhost", { usage: "server", to: 3 * DAY });
    const server = (more: object) => ({ gateway: { server: { tls_cert, tls_key, ...more } } });
    const cases: [object, string, string, RegExp][] = [
      [
        { auth: { mtls: { enabled: true, trusted_ca: join(dir, "none.pem") } }, ...server({}) },
        "error",
        "auth.mtls.trusted_ca",
        /ENOENT/,
      ],
      [{ auth: { mtls: { enabled: true, trusted_ca: tls_cert } }, ...server({}) }, "error", "auth.mtls.trusted_ca", /is no CA/],
      [
        server({ tls_cert: await file("old.pem", expired.cert), tls_key: await file("old-key.pem", expired.key) }),
        "error",
        "gateway.server.tls_cert",
        /ended at/,
      ],
      [
        server({ tls_cert: await file("soon.pem", soon.cert), tls_key: await file("soon-key.pem", soon.key) }),
        "warning",
        "gateway.server.tls_cert",
        /ends at/,
      ],
      [server({ tls_key: join(dir, "soon-key.pem") }), "error", "gateway.server.tls_key", /is not the key of/],
      [server({ tls_cert: tls_key }), "error", "gateway.server.tls_cert", /holds no certificate/],
      [server({ tls_key: trusted_ca }), "error", "gateway.server.tls_key", /no private key/],
      [
        { auth: { jwt: { enabled: true, issuer: "i", audiences: ["a"], public_key: await file("k.pem", "nothing") } } },
        "error",
        "auth.jwt.public_key",
        /no public key/,
      ],
      [{ gateway: { vault: { key_file: await file("short", "AAAA") } } }, "error", "gateway.vault.key_file", /32 bytes/],
      [{ gateway: { server: { host: "0.0.0.0" } } }, "warning", "gateway.server.host", /without TLS/],
      [{ gateway: { server: { processes: 64 } } }, "warning", "gateway.server.processes", /share \d+ cores/],
      ...(
        [
          [
            { services: ["storage"], storage: { server: { processes: 1 } } },
            "storage",
            /^storage\.s3 is served by the one process/,
          ],
          [
            { services: ["storage"], storage: { server: { processes: 1 }, grpc: { insecure: true } } },
            "storage",
            /^storage\.grpc is served by/,
          ],
          [
            {
              services: ["storage"],
              storage: {
                server: { processes: 1 },
                nfs: { exports: [{ path: "/a", tenant: "a", bucket: "a-b", clients: ["127.0.0.1"] }] },
              },
            },
            "storage",
            /^storage\.nfs is served by/,
          ],
          [
            { services: ["scheduler"], scheduler: { server: { processes: 1 }, grpc: { enabled: true } } },
            "scheduler",
            /^scheduler\.grpc is served by/,
          ],
        ] as const
      ).map(([settings, service, message]): [object, string, string, RegExp] => [
        settings,
        "warning",
        `${service}.server.processes`,
        message,
      ]),
      [{ auth: { mtls: { enabled: true } } }, "warning", "auth.mtls.enabled", /TLS ports/],
      [{ gateway: { authorization_policy: "package" } }, "error", "gateway.authorization_policy", /does not compile/],
      [
        { gateway: { decision_log_policy: await file("log.rego", "package system.log\nmask(x) := x") } },
        "error",
        "gateway.decision_log_policy",
        /log\.rego:2: mask of system\.log is a function/,
      ],
      [
        { services: ["governance"], governance: { policy_files: [await file("p.rego", "package x\nallow := ")] } },
        "error",
        "governance.policy_files",
        /p\.rego/,
      ],
      [
        { services: ["governance"], governance: { redaction: { rules: [{ entity: "EMAIL", operator: "drop" }] } } },
        "error",
        "governance.redaction.rules.0.entity",
        /no recogniser finds EMAIL/,
      ],
    ];
    for (const [settings, severity, setting, message] of cases) {
      const found = await check(settings);
      expect(found, JSON.stringify(settings)).toContainEqual({
        severity,
        setting,
        message: expect.stringMatching(message),
        advice: expect.stringMatching(/\w/),
      });
    }
    await chmod(tls_key, 0o644);
    expect(await check(server({}))).toMatchObject([{ severity: "warning", setting: "gateway.server.tls_key" }]);
    await rm(join(dir, "unseal.key"));
    expect(await check({})).toMatchObject([
      { severity: "error", setting: "gateway.vault.key_file", advice: expect.stringContaining("seneschal init") },
    ]);
  });

  it("regrets a destination of buckets that is told everything in the clear, and a secret that others may read", async () => {
    const secret_key_file = await file("west.secret", "secret");
    const found = async (endpoint: string, more: object = {}) => {
      const west = { name: "west", tenants: ["acme"], endpoint, access_key: "a", secret_key_file, ...more };
      const all = await check({ services: ["storage"], storage: { replication: { destinations: [west] } } });
      return all
        .filter(({ setting }) => setting.startsWith("storage.replication"))
        .map(({ severity, setting }) => [severity, setting]);
    };
    const at = "storage.replication.destinations.0";
    for (const endpoint of ["https://s3.west.example.org", "http://127.0.0.1:9000", "http://localhost", "http://[::1]:9000"])
      expect(await found(endpoint)).toEqual([]);
    for (const endpoint of ["http://s3.west.example.org", "http://10.0.0.1:9000", "http://127.example.org"])
      expect(await found(endpoint)).toEqual([["warning", `${at}.endpoint`]]);
    const empty = { secret_key_file: await file("empty.secret", "\n") };
    expect(await found("https://west", empty)).toEqual([["error", `${at}.secret_key_file`]]);
    await chmod(secret_key_file, 0o640);
    expect(await found("https://west")).toEqual([["warning", `${at}.secret_key_file`]]);
  });

  it("tries databases, vaults, logs and issuers, each by its setting, and only those of services that start", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const there = `127.0.0.1:${port}`;
    const parties = (at: string) => ({
      auth: { oidc: { enabled: true, issuer_url: `https://${at}`, client_id: "c" } },
      gateway: {
        database: { kind: "postgres", url: `postgres://u:secret@${at}/d` },
        vault: { kind: "http", address: `http://${at}`, token: "t" },
      },
      scheduler: { storage: { kind: "etcd", endpoints: [`http://${at}`] } },
    });
    const services = ["gateway", "scheduler"];
    expect(await check({ services, ...parties(there) })).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
    const found = await check({ services, ...parties(there) });
    expect(found.map(({ setting }) => setting).sort()).toEqual([
      "auth.oidc.issuer_url",
      "gateway.database.url",
      "gateway.vault.address",
      "scheduler.storage.endpoints",
    ]);
    expect(JSON.stringify(found)).not.toContain("secret");
    expect((await check({ services: ["gateway"], ...parties(there) })).map(({ setting }) => setting)).not.toContain(
      "scheduler.storage.endpoints",
    );
  });
});

describe("a sink of audit events", () => {
  it("that nobody could reach or write is named: regretted, and wrong where requests would be refused for it", async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const audit_sinks = {
      far: { kind: "syslog", url: `tcp://127.0.0.1:${port}` },
      best: { kind: "syslog", url: `udp://127.0.0.1:${port}` },
      near: { kind: "file", path: join(dir, "a.jsonl") },
      lost: { kind: "file", path: join(dir, "absent", "a.jsonl") },
      must: { kind: "file", path: join(dir, "absent", "a.jsonl"), required: true },
      sealed: { kind: "syslog", url: "tls://127.0.0.1:1", ca_file: join(dir, "no-ca.pem") },
    };
    const found = await check({ services: ["gateway"], gateway: { audit_sinks } });
    expect(found.map(({ setting, severity }) => `${severity} ${setting}`).sort()).toEqual([
      "error gateway.audit_sinks.must.path",
      "error gateway.audit_sinks.sealed.ca_file",
      "warning gateway.audit_sinks.far.url",
      "warning gateway.audit_sinks.lost.path",
      "warning gateway.audit_sinks.sealed.url",
    ]);
    expect(await check({ services: ["governance"], gateway: { audit_sinks } })).toEqual([]);
  });
});

describe("every setting that names a file", () => {
  it("is known as one: by its name", () => {
    const names = Object.keys(describeConfig(processSettings, processSettings.parse({})));
    const suspicious = names.filter((name) =>
      /(_file|_files|tls_cert|tls_key|trusted_ca|\.ca|\.cert|\.key|\.crl|public_key)$/.test(name),
    );
    const set = (name: string, value: unknown): object =>
      name
        .split(".")
        .reverse()
        .reduce<unknown>((inner, key) => ({ [key]: inner }), value) as object;
    const unknown = suspicious.filter(
      (name) => namedFiles(processSettings, set(name, name.endsWith("files") ? ["/x"] : "/x")).length !== 1,
    );
    expect(suspicious.length).toBeGreaterThan(15);
    // A way to log in of its own: its members are files.
    expect(unknown).toEqual(["gateway.vault.cert", "storage.vault.cert"].filter((name) => unknown.includes(name)));
  });
});
