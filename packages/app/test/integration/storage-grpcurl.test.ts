import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLUSTER_PROTO, HEALTH_PROTO, STORAGE_PROTO } from "@seneschal/adapters/grpc-storage";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certified, type GrpcRig, openGrpcRig, storeCa } from "../storage/grpc-rig.ts";
import { pattern } from "../storage/rig.ts";

const own = fileURLToPath(new URL("../../../../.peers/bin/grpcurl", import.meta.url));
const program = existsSync(own) ? own : "grpcurl";
const installed = spawnSync(program, ["-version"]).status === 0;
if (!installed)
  process.stderr.write("grpcurl is not installed (tools/install-peers.sh): the gRPC services are not tested by it\n");
const HOUR = 3_600_000;
/** grpcurl ends with 64 and the status code. */
const unauthenticated = 64 + 16;

describe.skipIf(!installed)("grpcurl, which knows the proto files and nothing else", () => {
  let grpc: GrpcRig;
  beforeAll(async () => {
    grpc = await openGrpcRig({ crl: true });
  });
  afterAll(() => grpc.dispose());

  const ask = async (
    certified: Certified | undefined,
    method: string,
    request: string,
    { host = "localhost", ca = grpc.ca.pem } = {},
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> => {
    const at = (name: string) => join(grpc.rig.directory, `grpcurl-${name}`);
    await writeFile(at("ca"), ca);
    const args = ["-cacert", at("ca"), "-max-time", "20", "-import-path", dirname(STORAGE_PROTO)];
    for (const path of [STORAGE_PROTO, CLUSTER_PROTO, HEALTH_PROTO]) args.push("-proto", path);
    if (certified !== undefined) {
      await Promise.all([writeFile(at("cert"), certified.cert), writeFile(at("key"), certified.key)]);
      args.push("-cert", at("cert"), "-key", at("key"));
    }
    const child = spawn(program, [...args, "-d", "@", `${host}:${grpc.server.port}`, method]);
    let out = "";
    let err = "";
    child.stdout.on("data", (bytes: Buffer) => {
      out += bytes.toString();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      err += bytes.toString();
    });
    child.stdin.end(request);
    const status = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
    return { status, out, err };
  };
  const objects = "seneschal.storage.v1.ObjectService";
  const admin = "seneschal.storage.v1.StorageAdminService";

  test("makes a bucket, puts, asks for, gets and deletes an object", async () => {
    const tenant = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    expect(JSON.parse((await ask(tenant, `${objects}/CreateBucket`, '{"bucket":"shelf"}')).out)).toEqual({ created: true });
    const name = { bucket: "shelf", key: "a/b" };
    const bytes = Buffer.from(pattern(200_000));
    const messages = [{ start: { name, size: bytes.length } }, { data: bytes.subarray(0, 150_000).toString("base64") }];
    const body = [...messages, { data: bytes.subarray(150_000).toString("base64") }].map((m) => JSON.stringify(m)).join("\n");
    expect(JSON.parse((await ask(tenant, `${objects}/Put`, body)).out)).toMatchObject({ size: "200000" });
    expect(JSON.parse((await ask(tenant, `${objects}/Has`, JSON.stringify(name))).out)).toMatchObject({ present: true });
    const got = (await ask(tenant, `${objects}/Get`, JSON.stringify({ name }))).out.match(/"data": "([^"]+)"/g) ?? [];
    const read = Buffer.concat(got.map((line) => Buffer.from(line.slice(9, -1), "base64")));
    expect(read.equals(bytes)).toBe(true);
    expect(JSON.parse((await ask(tenant, `${objects}/Delete`, JSON.stringify(name))).out)).toEqual({ deleted: true });
  });

  test("lists devices as an admin, asks for health, and is refused by name", async () => {
    const root = await grpc.ca.issue("CN=root,OU=storage-admin");
    expect(JSON.parse((await ask(root, `${admin}/ListDevices`, "{}")).out).devices).toHaveLength(7);
    expect(JSON.parse((await ask(root, "grpc.health.v1.Health/Check", "{}")).out)).toEqual({ status: "SERVING" });
    expect((await ask(root, `${admin}/RemoveDevice`, '{"device_id":"d0"}')).status).toBe(64 + 9);
    expect((await ask(root, `${admin}/EvacuateDevice`, '{"device_id":"none"}')).status).toBe(64 + 5);
  });

  test("meets UNAUTHENTICATED for every cause that a server can tell", async () => {
    const check = '{"service":""}';
    const health = "grpc.health.v1.Health/Check";
    const { ca } = grpc;
    expect((await ask(undefined, health, check)).status).toBe(unauthenticated);
    const expired = await ca.issue("CN=a,OU=tenant-alpha", { from: -2 * HOUR, to: -HOUR });
    expect((await ask(expired, health, check)).status).toBe(unauthenticated);
    const foreign = await (await storeCa("Other CA")).issue("CN=a,OU=tenant-alpha");
    expect((await ask(foreign, health, check)).status).toBe(unauthenticated);
    const revoked = await ca.issue("CN=a,OU=tenant-alpha");
    await writeFile(grpc.crlPath, await ca.revocations(2, [revoked.serial]));
    expect((await ask(revoked, health, check)).status).toBe(unauthenticated);
    for (const unit of ["tenant-nobody", "somebody"])
      expect((await ask(await ca.issue(`CN=a,OU=${unit}`), health, check)).status, unit).toBe(unauthenticated);
    const tenant = await ca.issue("CN=a,OU=tenant-alpha");
    expect((await ask(tenant, `${admin}/ListDevices`, "{}")).status).toBe(unauthenticated);
    const node = await ca.issue("CN=n,OU=store-server");
    expect((await ask(tenant, "seneschal.storage.v1.FragmentService/Usage", '{"device_id":"d0"}')).status).toBe(unauthenticated);
    expect((await ask(node, "seneschal.storage.v1.FragmentService/Usage", '{"device_id":"d0"}')).status).toBe(0);
  });

  test("itself refuses a server of another authority, and one whose certificate does not name it", async () => {
    const tenant = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    const other = await storeCa("Other CA");
    expect((await ask(tenant, "grpc.health.v1.Health/Check", "{}", { ca: other.pem })).err).toContain("unknown authority");
    expect((await ask(tenant, "grpc.health.v1.Health/Check", "{}", { host: "127.0.0.1" })).err).toContain("127.0.0.1");
  });
});
