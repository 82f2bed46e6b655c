import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig({ most: 1 });
});
afterAll(() => s3.dispose());

/** Counts of requests by tenant and result. */
async function counted(): Promise<Readonly<Record<string, number>>> {
  const lines = (await s3.metrics.text()).matchAll(
    /^storage_tenant_requests_total\{tenant="([^"]*)",result="([^"]*)"\} (\d+)$/gm,
  );
  return Object.fromEntries([...lines].map(([, tenant, result, count]) => [`${tenant} ${result}`, Number(count)]));
}

test("requests of S3 are counted by the tenant that has signed them, in so many series and no more; what nobody has signed is nobody's", async () => {
  const alpha = s3.client();
  await alpha.send(new sdk.CreateBucketCommand({ Bucket: "shelf" }));
  await alpha.send(new sdk.PutObjectCommand({ Bucket: "shelf", Key: "a", Body: "x" }));
  await expect(alpha.send(new sdk.GetObjectCommand({ Bucket: "shelf", Key: "none" }))).rejects.toThrow();
  await expect.poll(counted).toEqual({ "alpha ok": 2, "alpha refused": 1 });

  await fetch(`${s3.gateway.url}/shelf/a`);
  const list = new sdk.ListBucketsCommand({});
  // Somebody else's name with a secret of their own, and a name that nobody has.
  await expect(s3.client({ ...s3.keys, secret_key: "guessed" }).send(list)).rejects.toThrow();
  await expect(s3.client({ access_key: "beta", secret_key: "guessed" }).send(list)).rejects.toThrow();
  await expect.poll(counted).toEqual({ "alpha ok": 2, "alpha refused": 1 });

  for (const _ of [1, 2]) await s3.client(await s3.credentials.create("beta", operator)).send(list);
  await expect.poll(counted).toEqual({ "alpha ok": 2, "alpha refused": 1, "other ok": 2 });
});
