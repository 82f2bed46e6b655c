import { afterAll, beforeAll, expect, test } from "vitest";
import { openGrpcRig, refusal } from "./grpc-rig.ts";
import { type Harness, servers, startStorage } from "./harness.ts";
import { mountData, openNfsRig, statusName } from "./nfs-rig.ts";

/** An authorisation policy that is never decided: its budget is over each time. */
const dear = "package storage.authz\n\nallow if count(numbers.range(1, 1000000000)) > 0\n";

test("an authorisation policy that is not decided is UNAVAILABLE by gRPC: neither leave nor a refusal", async () => {
  const grpc = await openGrpcRig({ policy: dear });
  const alpha = await grpc.as("CN=a,OU=tenant-alpha");
  const made = await refusal(alpha.createBucket("shelf"));
  expect(made).toMatchObject({ code: "service_unavailable" });
  const own = await grpc.ca.issue("CN=o,OU=storage-admin");
  const { error } = await grpc.ask(own, "seneschal.storage.v1.StorageAdminService", "ListDevices");
  expect([error?.code, error?.metadata.get("error-retriable"), error?.metadata.get("error-retry-after")]).toEqual([
    14,
    ["true"],
    ["1"],
  ]);
  for (const reason of ["not_storage_admin", "not_store_server"]) expect(await grpc.failures(reason)).toBe(0);
  await grpc.dispose();
});

test("and JUKEBOX by NFS, whose clients ask again; to a mount, which has no such word, it is a fault of the server", async () => {
  const nfs = await openNfsRig();
  const { handle } = await mountData(nfs);
  const undecided = await openNfsRig({ rig: nfs.rig, policy: dear });
  const client = await undecided.client();
  for (const procedure of ["GETATTR", "ACCESS", "READ", "FSSTAT"] as const) {
    const args = { handle, access: 1, offset: 0n, count: 1 };
    expect([procedure, statusName((await client.call(procedure, args as never)).status)]).toEqual([procedure, "JUKEBOX"]);
  }
  expect((await client.mount("/data")).status).toBe(10_006);
  await undecided.leave();
  await nfs.dispose();
});

let h: Harness;
beforeAll(async () => {
  const [, serve] = servers[0] ?? expect.fail("there are servers");
  h = await startStorage(serve, { authorization_policy: dear });
});
afterAll(() => h.stop());

test("and 503 with Retry-After by the admin interface; who has no credential is refused before it is asked", async () => {
  const asked = await h.call("root", "GET", "/ui/api/ops/backups");
  const code = asked.body.error?.code ?? asked.body.code;
  expect([asked.status, asked.headers.get("retry-after"), code]).toEqual([503, "1", "SERVICE_UNAVAILABLE"]);
  expect((await h.call(undefined, "GET", "/ui/api/ops/backups")).status).toBe(401);
});
