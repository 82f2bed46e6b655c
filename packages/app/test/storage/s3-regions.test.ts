import type { BucketLocationConstraint } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig({ tenants: ["alpha", "beta"] });
});
afterAll(() => s3.dispose());

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { name: string; $metadata: { httpStatusCode?: number } }) => `${error.$metadata.httpStatusCode} ${error.name}`,
  );
const create = (Bucket: string, region?: string, client = s3.client()) =>
  outcome(
    client.send(
      new sdk.CreateBucketCommand({
        Bucket,
        ...(region && { CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint } }),
      }),
    ),
  );
const regionOf = async (Bucket: string) => (await s3.client().send(new sdk.HeadBucketCommand({ Bucket }))).BucketRegion;

test("an own bucket asked for again is there where it is as asked for, and already one's own in any other region", async () => {
  const owned = "409 BucketAlreadyOwnedByYou";
  const regions = [undefined, "us-east-1", "eu-west-1", "EU", "garage"];
  for (const [i, first] of regions.entries()) {
    const Bucket = `made-${i}`;
    expect(await create(Bucket, first)).toBe("done");
    for (const again of regions) {
      const same = again === undefined || again === (first ?? "us-east-1");
      expect([first, again, await create(Bucket, again)]).toEqual([first, again, same ? "done" : owned]);
      expect(await regionOf(Bucket)).toBe(first ?? "us-east-1");
    }
    const { LocationConstraint } = await s3.client().send(new sdk.GetBucketLocationCommand({ Bucket }));
    expect(LocationConstraint).toBe(first === "us-east-1" ? undefined : first);
    const beta = s3.client(await s3.credentials.create("beta", operator));
    for (const region of regions) expect(await create(Bucket, region, beta)).toBe("409 BucketAlreadyExists");
  }
});

test("a constraint that no header can tell is no region, and makes no bucket", async () => {
  const put = (constraint: string) =>
    signedFetch(s3, {
      method: "PUT",
      path: "/none",
      body: Buffer.from(
        `<CreateBucketConfiguration><LocationConstraint>${constraint}</LocationConstraint></CreateBucketConfiguration>`,
      ),
    });
  for (const constraint of ["&lt;b&gt;", "a b", "é", "a&#10;b", "-a", "a/b", "x".repeat(64), "🙂"]) {
    const { status, text } = await put(constraint);
    expect([constraint, status, text]).toEqual([constraint, 400, expect.stringContaining("<Code>InvalidLocationConstraint<")]);
  }
  expect(await outcome(s3.client().send(new sdk.HeadBucketCommand({ Bucket: "none" })))).toBe("404 NotFound");
  expect((await put("")).status).toBe(200);
  expect(await regionOf("none")).toBe("us-east-1");
});
