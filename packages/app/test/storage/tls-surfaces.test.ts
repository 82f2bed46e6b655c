import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { openLogger } from "@seneschal/adapters/logging";
import { systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { devStorageCertificates } from "../../src/compose/dev-storage-certificates.ts";
import { openDataPort } from "../../src/storage/grpc/open-grpc.ts";
import { type Certified, refusal, type StoreCa, storeCa } from "./grpc-rig.ts";
import { type Harness, startStorage } from "./harness.ts";
import { openRig, storageAuthorisation } from "./rig.ts";

const HOUR = 3_600_000;

describe("the admin interface takes certificates of the cluster's CA", () => {
  let ca: StoreCa;
  let harness: Harness;
  let directory: string;
  const at = (name: string) => join(directory, name);
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "seneschal-tls-"));
    ca = await storeCa("Cluster CA");
    const own = await ca.issue("CN=n1,OU=store-server", { names: ["localhost"] });
    await Promise.all([
      writeFile(at("ca.pem"), ca.pem),
      writeFile(at("cert.pem"), own.cert),
      writeFile(at("key.pem"), own.key),
      writeFile(at("crl.pem"), await ca.revocations(1, [])),
    ]);
    harness = await startStorage(
      serve,
      {
        grpc: { address: "127.0.0.1:0", ca: at("ca.pem"), cert: at("cert.pem"), key: at("key.pem"), crl: at("crl.pem") },
        cluster: { peer_address: "127.0.0.1:0" },
        s3: { port: 0, tls_cert: at("cert.pem"), tls_key: at("key.pem") },
      },
      { tls: { cert: own.cert, key: own.key, requestCert: true, ca: [ca.pem] } },
    );
  });
  afterAll(async () => {
    await harness.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Status of a request with this certificate. */
  const ask = (url: string, method: string, own?: Certified, body?: object) =>
    new Promise<number>((resolve, reject) => {
      const { port, pathname } = new URL(url);
      const call = request(
        { host: "localhost", port, path: pathname, method, ca: ca.pem, ...own, headers: { "content-type": "application/json" } },
        (reply) => {
          reply.resume();
          reply.on("end", () => resolve(reply.statusCode ?? 0));
        },
      );
      call.on("error", reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const maintain = (own?: Certified) => ask(`${harness.service.url}/ui/api/ops/maintenance`, "POST", own, { enabled: false });

  test("OU storage-admin may operate; a tenant, a node and no unit at all may not; nobody is 401", async () => {
    expect(await maintain(await ca.issue("CN=root,OU=storage-admin"))).toBe(200);
    for (const subject of ["CN=t,OU=tenant-alpha", "CN=n,OU=store-server", "CN=x"])
      expect(await maintain(await ca.issue(subject)), subject).toBe(403);
    expect(await maintain()).toBe(401);
  });

  test("another CA's and an expired certificate are 401 whatever they say", async () => {
    expect(await maintain(await (await storeCa("Other CA")).issue("CN=root,OU=storage-admin"))).toBe(401);
    expect(await maintain(await ca.issue("CN=root,OU=storage-admin", { from: -2 * HOUR, to: -HOUR }))).toBe(401);
  });

  test("a revoked certificate is 401 from the request after the list was replaced, and nobody gets in without a list", async () => {
    const admin = await ca.issue("CN=root,OU=storage-admin");
    expect(await maintain(admin)).toBe(200);
    await writeFile(at("crl.pem"), await ca.revocations(2, [admin.serial]));
    expect(await maintain(admin)).toBe(401);
    const other = await ca.issue("CN=other,OU=storage-admin");
    expect(await maintain(other)).toBe(200);
    await rm(at("crl.pem"));
    expect(await maintain(other)).toBe(401);
    await writeFile(at("crl.pem"), await ca.revocations(3, [admin.serial]));
    expect(await maintain(other)).toBe(200);
  });

  test("the S3 port speaks TLS when it has a certificate", async () => {
    const url = harness.storage.gateway()?.url ?? "";
    expect(url.startsWith("https://")).toBe(true);
    expect(await ask(`${url}/`, "GET")).toBe(403);
  });

  test("both ports of the node are open, and the peers' port is not the data path", async () => {
    const tls = { ca: ca.pem, ...(await ca.issue("CN=n2,OU=store-server")) };
    const { data, peers } = harness.storage.ports() ?? {};
    const status = openDataChannel("seneschal.storage.v1.PeerService", { address: `localhost:${peers?.port}`, tls });
    expect(await status.ask("Status", {})).toMatchObject({ node_id: "node-1", ready: true });
    status.close();
    const wrong = openDataChannel("seneschal.storage.v1.PeerService", { address: `localhost:${data?.port}`, tls });
    expect(await refusal(wrong.ask("Status", {}))).toMatchObject({ details: { status: 12 } });
    wrong.close();
  });
});

test("half of the S3 port's TLS does not start", async () => {
  await expect(startStorage(serve, { s3: { port: 0, tls_cert: "only.pem" } })).rejects.toThrow("tls_key");
});

test("a server that is called by its address is held to that address, not to a name", async () => {
  const own = await storeCa("Cluster CA");
  const admin = await own.issue("CN=ops,OU=storage-admin");
  const rig = await openRig();
  rig.clock.set(Date.now());
  const log = openLogger({ level: "silent" });
  const authorisation = await storageAuthorisation();
  for (const name of ["localhost", "address.invalid", "127.0.0.2"]) {
    const { cert, key } = await own.issue("CN=node-1,OU=store-server", { names: [name] });
    const tls = { ca: own.pem, cert, key };
    const server = await openDataPort({ serveGrpc, node: rig.node, authorisation, log, host: "127.0.0.1", port: 0, tls });
    const address = `127.0.0.1:${server.port}`;
    const channel = openDataChannel("seneschal.storage.v1.StorageAdminService", { address, tls: { ca: own.pem, ...admin } });
    expect(await refusal(channel.ask("ClusterStatus", {}))).toMatchObject({
      code: "AuthenticationFailed",
      details: { reason: "ERR_TLS_CERT_ALTNAME_INVALID" },
    });
    channel.close();
    await server.close();
  }
  await rig.dispose();
});

test("development certificates open the data path by name and by address, without a warning of the runtime", async () => {
  const warned: (string | undefined)[] = [];
  const onWarning = (warning: Error & { readonly code?: string }): void => void warned.push(warning.code);
  process.on("warning", onWarning);
  const rig = await openRig();
  rig.clock.set(Date.now());
  const { ca, node, admin } = await devStorageCertificates("node-1", { random: systemRandom, now: Date.now() });
  const log = openLogger({ level: "silent" });
  const authorisation = await storageAuthorisation();
  const server = await openDataPort({
    serveGrpc,
    node: rig.node,
    authorisation,
    log,
    host: "127.0.0.1",
    port: 0,
    tls: { ca, ...node },
  });
  for (const host of ["localhost", "127.0.0.1"]) {
    const address = `${host}:${server.port}`;
    const channel = openDataChannel("seneschal.storage.v1.StorageAdminService", { address, tls: { ca, ...admin } });
    expect((await channel.ask("ClusterStatus", {}))["health"]).toBe("healthy");
    channel.close();
  }
  process.off("warning", onWarning);
  expect(warned).not.toContain("DEP0123");
  await server.close();
  await rig.dispose();
});
