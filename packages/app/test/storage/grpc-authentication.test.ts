import { rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { connect } from "node:tls";
import { openDataChannel, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { openLogger } from "@seneschal/adapters/logging";
import { serveGrpc } from "@seneschal/server-grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storageInForce } from "../../src/storage/environment.ts";
import { dataPathSettings } from "../../src/storage/grpc/data-path-settings.ts";
import { openNodePorts, readDataPathTls } from "../../src/storage/grpc/open-data-path.ts";
import { storageSettings } from "../../src/storage/index.ts";
import { type GrpcRig, openGrpcRig, refusal, storeCa } from "./grpc-rig.ts";
import { storageAuthorisation } from "./rig.ts";

const HOUR = 3_600_000;
const admin = "seneschal.storage.v1.StorageAdminService";
const object = { bucket: "shelf", key: "a" };
let grpc: GrpcRig;
beforeAll(async () => {
  grpc = await openGrpcRig({ crl: true });
  await (await grpc.as("CN=a,OU=tenant-alpha")).createBucket("shelf");
});
afterAll(() => grpc.dispose());

/** The refusal of a call, which must be UNAUTHENTICATED, and must have been counted under the reason. */
async function unauthenticated(reason: string, work: () => Promise<unknown>): Promise<void> {
  const before = await grpc.failures(reason);
  const error = await refusal(work());
  expect(error.code).toBe("AuthenticationFailed");
  expect(error.details).toMatchObject({ status: 16, retriable: false });
  expect(await grpc.failures(reason)).toBe(before + 1);
}

describe("the six causes of the interface document are UNAUTHENTICATED", () => {
  test("1: an expired certificate", async () => {
    const expired = await grpc.ca.issue("CN=a,OU=tenant-alpha", { from: -3 * HOUR, to: -HOUR });
    await unauthenticated("certificate_expired", () => grpc.with(expired).has(object));
  });

  test("1: a certificate that expires while its connection is open", async () => {
    const client = grpc.with(await grpc.ca.issue("CN=a,OU=tenant-alpha", { to: HOUR }));
    expect(await client.has(object)).toBeUndefined();
    const now = grpc.rig.clock.now();
    grpc.rig.clock.set(now + 2 * HOUR);
    try {
      await unauthenticated("certificate_expired", () => client.has(object));
    } finally {
      grpc.rig.clock.set(now);
    }
  });

  test("2: a client certificate of another CA, whatever its name says", async () => {
    const stranger = await (await storeCa("Cluster CA")).issue("CN=a,OU=tenant-alpha");
    await unauthenticated("certificate_untrusted", () => grpc.with(stranger).has(object));
  });

  test("2: a server certificate of a CA that the client does not trust", async () => {
    const own = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    const error = await refusal(grpc.with(own, (await storeCa("Other CA")).pem).has(object));
    expect(error.code).toBe("AuthenticationFailed");
    expect(error.details).toMatchObject({ status: 16, retriable: false });
  });

  test("3: a server certificate without the name that the client uses", async () => {
    const misnamed = await openGrpcRig({ names: ["elsewhere.example"] });
    try {
      const error = await refusal((await misnamed.as("CN=a,OU=tenant-alpha")).has(object));
      expect(error.code).toBe("AuthenticationFailed");
      expect(error.details).toMatchObject({ status: 16, retriable: false, reason: "ERR_TLS_CERT_ALTNAME_INVALID" });
    } finally {
      await misnamed.dispose();
    }
  });

  test("4: a revoked certificate, from the call after the list was replaced, on an open connection too", async () => {
    const stolen = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    const client = grpc.with(stolen);
    expect(await client.has(object)).toBeUndefined();
    await writeFile(grpc.crlPath, await grpc.ca.revocations(2, [stolen.serial]));
    await unauthenticated("certificate_revoked", () => client.has(object));
    expect(await (await grpc.as("CN=a,OU=tenant-alpha")).has(object)).toBeUndefined();
  });

  test.each([
    "CN=a",
    "CN=a,OU=alpha",
    "CN=a,OU=Tenant-alpha",
    "CN=a,OU=tenant-",
    "CN=a,OU=tenant-alpha,OU=tenant-beta",
    "CN=tenant-alpha,O=tenant-alpha",
  ])("5: a tenant certificate with a wrong organizational unit: %s", async (subject) => {
    await unauthenticated("organizational_unit", async () => (await grpc.as(subject)).has(object));
  });

  test("5: an organizational unit of a tenant that does not exist", async () => {
    await unauthenticated("unknown_tenant", async () => (await grpc.as("CN=a,OU=tenant-nobody")).has(object));
  });

  test.each(["CN=root,OU=tenant-alpha", "CN=node,OU=store-server"])(
    "6: an admin call with a certificate that lacks storage-admin: %s",
    async (subject) => {
      const before = await grpc.failures("not_storage_admin");
      const own = await grpc.ca.issue(subject);
      const { error } = await grpc.ask(own, admin, "RemoveDevice", { device_id: "d0" });
      expect(error?.code).toBe(16);
      expect(error?.metadata.get("error-reason")).toEqual(["AuthenticationFailed"]);
      expect(await grpc.failures("not_storage_admin")).toBe(before + 1);
    },
  );
});

describe("revocation fails closed", () => {
  test.each<[string, (path: string) => Promise<void>]>([
    ["taken away", (path) => rm(path)],
    ["not a list", (path) => writeFile(path, "nobody is revoked")],
    [
      "signed by another CA of the same name",
      async (path) => writeFile(path, await (await storeCa("Cluster CA")).revocations(9, [])),
    ],
    ["out of date", async (path) => writeFile(path, await grpc.ca.revocations(9, [], -HOUR))],
  ])("a list that is %s lets nobody in, and a good one lets them in again", async (_, spoil) => {
    const client = await grpc.as("CN=a,OU=tenant-alpha");
    expect(await client.has(object)).toBeUndefined();
    await spoil(grpc.crlPath);
    await unauthenticated("revocation_unknown", () => client.has(object));
    await writeFile(grpc.crlPath, await grpc.ca.revocations(3, []));
    expect(await client.has(object)).toBeUndefined();
  });
});

test("no certificate, no call, not even for health", async () => {
  const before = await grpc.failures("certificate_missing");
  const { credentials } = await import("@grpc/grpc-js");
  const { dataServices } = await import("@seneschal/adapters/grpc-storage");
  const Health = dataServices()["grpc.health.v1.Health"];
  const client = new Health(`localhost:${grpc.server.port}`, credentials.createSsl(Buffer.from(grpc.ca.pem)));
  const code = await new Promise((resolve) =>
    (client as unknown as { Check(r: object, done: (e: { code: number } | null) => void): void }).Check({}, (e) =>
      resolve(e?.code),
    ),
  );
  client.close();
  expect(code).toBe(16);
  expect(await grpc.failures("certificate_missing")).toBe(before + 1);
});

test("a refusal is a security event named AuthenticationFailed, one per reason and ten seconds", async () => {
  await refusal((await grpc.as("CN=a,OU=nothing")).has(object));
  await refusal((await grpc.as("CN=a,OU=nothing")).has(object));
  const events = grpc.rig.node.events.query({ category: "security", since: 0, limit: 1000 });
  const ours = events.filter(
    (e) => e.message.startsWith("AuthenticationFailed") && e.details["reason"] === "organizational_unit",
  );
  expect(ours).toHaveLength(1);
});

test("plaintext to a TLS port is a failed handshake that is counted", async () => {
  const before = await grpc.failures("handshake");
  await new Promise<void>((resolve) => {
    const socket = createConnection(grpc.server.port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\n\r\n"));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
  expect(await grpc.failures("handshake")).toBe(before + 1);
});

test("TLS below 1.2 is refused", async () => {
  const code = await new Promise<string>((resolve) => {
    const socket = connect({
      port: grpc.server.port,
      host: "127.0.0.1",
      ca: grpc.ca.pem,
      minVersion: "TLSv1.1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    socket.on("secureConnect", () => resolve("accepted"));
    socket.on("error", (error) => resolve((error as NodeJS.ErrnoException).code ?? "error"));
  });
  expect(code).not.toBe("accepted");
});

test("a policy in the place of the shipped one decides what certificates open", async () => {
  const policy = 'package storage.authz\n\nallow if input.action == "objects:read"\n\nreason := "reading only"\n';
  const own = await openGrpcRig({ policy });
  const tenant = await own.as("CN=a,OU=tenant-alpha");
  expect(await refusal(tenant.has(object))).toMatchObject({ message: "the bucket does not exist" });
  expect(await refusal(tenant.createBucket("other"))).toMatchObject({ code: "TenantAccessDenied", message: "reading only" });
  const { error } = await own.ask(await own.ca.issue("CN=root,OU=storage-admin"), admin, "ListDevices");
  expect([error?.code, await own.failures("not_storage_admin")]).toEqual([16, 1]);
  await own.dispose();
});

describe("configuration", () => {
  const log = openLogger({ level: "silent" });
  const settings = (grpcSettings: object, env: Record<string, string> = {}) =>
    dataPathSettings(storageSettings.parse({ grpc: { address: "127.0.0.1:0", ...grpcSettings } }).grpc, env);
  const open = async (grpcSettings: object, env?: Record<string, string>) => {
    const own = settings(grpcSettings, env);
    return openNodePorts(
      { ...own, peerAddress: "127.0.0.1:0" },
      grpc.rig.node,
      await storageAuthorisation(),
      log,
      await readDataPathTls(own),
      serveGrpc,
    );
  };

  test("without TLS files there is no data path", async () => {
    expect(await open({})).toBeUndefined();
  });

  test.each([
    [{ ca: "ca.pem" }, {}],
    [{}, { STORE_CERT_PATH: "cert.pem", STORE_KEY_PATH: "key.pem" }],
    [{ ca: "a", cert: "b", key: "c", insecure: true }, {}],
    [{ crl: "revoked.pem" }, {}],
    [{ insecure: true }, { STORE_DATA_ADDR: "0.0.0.0:0" }],
    [{ insecure: true }, { STORE_DATA_ADDR: "localhost" }],
  ])("half a configuration or open plaintext does not start: %j %j", (own, env) => {
    const config = storageSettings.parse({ grpc: own });
    expect(() => storageInForce(config, env)).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  test("a server certificate without a subject alternative name does not start", async () => {
    const own = await grpc.ca.issue("CN=localhost,OU=store-server");
    const at = (name: string) => `${grpc.rig.directory}/${name}`;
    await Promise.all([writeFile(at("ca"), grpc.ca.pem), writeFile(at("cert"), own.cert), writeFile(at("key"), own.key)]);
    await expect(open({ ca: at("ca"), cert: at("cert"), key: at("key") })).rejects.toThrow("subject alternative name");
  });

  test("configured by files it serves, and so does explicit plaintext on loopback", async () => {
    const own = await grpc.ca.issue("CN=node,OU=store-server", { names: ["localhost"] });
    const at = (name: string) => `${grpc.rig.directory}/served-${name}`;
    await Promise.all([writeFile(at("ca"), grpc.ca.pem), writeFile(at("cert"), own.cert), writeFile(at("key"), own.key)]);
    const secure = await open({ ca: at("ca"), cert: at("cert"), key: at("key"), crl: grpc.crlPath });
    const plain = await open({ insecure: true });
    const tls = { ca: grpc.ca.pem, ...(await grpc.ca.issue("CN=a,OU=tenant-alpha")) };
    const clients = [
      openObjectClient({ address: `localhost:${secure?.data.port}`, tls }),
      openObjectClient({ address: `127.0.0.1:${plain?.data.port}` }),
    ];
    for (const client of clients) {
      expect(await client.has({ ...object, tenant: "alpha" })).toBeUndefined();
      client.close();
    }
    await Promise.all([secure, plain].flatMap((ports) => [ports?.data.close(), ports?.peers.close()]));
  });

  test("behind a balancer that speaks the PROXY protocol, within mutual TLS: whom it names is who was refused; nodes need none", async () => {
    const own = await grpc.ca.issue("CN=node,OU=store-server", { names: ["localhost"] });
    const at = (name: string) => `${grpc.rig.directory}/behind-${name}`;
    await Promise.all([writeFile(at("ca"), grpc.ca.pem), writeFile(at("cert"), own.cert), writeFile(at("key"), own.key)]);
    const ports = await open({ ca: at("ca"), cert: at("cert"), key: at("key"), proxy_protocol: ["127.0.0.1"] });
    const balancer = createServer((client) => {
      const inner = createConnection(ports?.data.port ?? 0, "127.0.0.1");
      inner.write("PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n");
      client.on("error", () => inner.destroy()).pipe(inner);
      inner.on("error", () => client.destroy()).pipe(client);
    });
    await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
    const { port } = balancer.address() as AddressInfo;
    const shown = async (subject: string) => ({ ca: grpc.ca.pem, ...(await grpc.ca.issue(subject)) });
    const tenant = openObjectClient({ address: `localhost:${port}`, tls: await shown("CN=a,OU=tenant-alpha") });
    const stranger = openObjectClient({ address: `localhost:${port}`, tls: await shown("CN=x,OU=tenant-behind") });
    expect(await tenant.has({ ...object, tenant: "alpha" })).toBeUndefined();
    expect(await refusal(stranger.has(object))).toMatchObject({ code: "AuthenticationFailed" });
    const events = grpc.rig.node.events.query({ category: "security", since: 0, limit: 1000 });
    expect(events.map(({ details }) => details["peer"])).toContain("192.0.2.7");
    const peers = openDataChannel("seneschal.storage.v1.PeerService", {
      address: `localhost:${ports?.peers.port}`,
      tls: { ca: grpc.ca.pem, ...own },
    });
    expect(await peers.ask("Status", {})).toBeDefined();
    for (const client of [tenant, stranger, peers]) client.close();
    balancer.close();
    await Promise.all([ports?.data.close(), ports?.peers.close()]);
  });

  test("STORE_DATA_ADDR on a loopback address is reachable on that address only", async () => {
    const server = await open({ insecure: true }, { STORE_DATA_ADDR: "127.0.0.1:0" });
    const reach = (host: string) =>
      new Promise<string>((resolve) => {
        const socket = createConnection(server?.data.port ?? 0, host, () => {
          socket.destroy();
          resolve("connected");
        });
        socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
      });
    expect([await reach("127.0.0.1"), await reach("127.0.0.2")]).toEqual(["connected", "ECONNREFUSED"]);
    await Promise.all([server?.data.close(), server?.peers.close()]);
  });

  test("the environment's address and files win", () => {
    const env = {
      STORE_DATA_ADDR: "[::1]:9",
      STORE_CA_PATH: "1",
      STORE_CERT_PATH: "2",
      STORE_KEY_PATH: "3",
      STORE_CRL_PATH: "4",
    };
    const expected = {
      address: "[::1]:9",
      ca: "1",
      cert: "2",
      key: "3",
      crl: "4",
      idle_timeout: 60_000,
      proxy_protocol: [],
      insecure: false,
    };
    expect(settings({ ca: "x", cert: "x", key: "x", crl: "x" }, env)).toEqual(expected);
  });
});
