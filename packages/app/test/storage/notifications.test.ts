import type { PutBucketNotificationConfigurationCommandInput } from "@aws-sdk/client-s3";
import { nextTurn } from "@seneschal/adapters/system";
import { type NotificationRule, webhookArn } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { storageInForce } from "../../src/storage/environment.ts";
import { storageSettings } from "../../src/storage/index.ts";
import { expireVersions } from "../../src/storage/jobs/expire-versions.ts";
import { placeWebhook } from "../../src/storage/notify/notices.ts";
import type { BucketWebhook } from "../../src/storage/notify/open-notifications.ts";
import { changeBucket, createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { createFileRun } from "./file-run.ts";
import { bytesOf, openRig, operator, pattern, type Rig } from "./rig.ts";
import { openS3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";
import { openReceiver, type Receiver } from "./webhook-receiver.ts";

const Bucket = "docs";
const tenant = "alpha";
const everything = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:LifecycleExpiration:*"];
const receivers: Receiver[] = [];
const receiver = async () => {
  const opened = await openReceiver();
  receivers.push(opened);
  return opened;
};
afterEach(async () => {
  for (const one of receivers.splice(0)) await one.close();
});

/** A webhook that buckets of these tenants may name. */
const of = ({ post }: Receiver, ...tenants: string[]): BucketWebhook => ({
  post: post(),
  tenants: new Set(tenants.length === 0 ? [tenant] : tenants),
});
/** Tells a bucket's events to webhooks, as PutBucketNotificationConfiguration does. */
async function tell(rig: Rig, rules: readonly Partial<NotificationRule>[]) {
  const whole = rules.map((rule, i) => ({ id: `r${i}`, webhook: "hook", events: everything, ...rule }));
  for (const { webhook } of whole) await placeWebhook(rig.store, webhook);
  await changeBucket(rig.node.objects, tenant, Bucket, "notifications", (b) => ({ ...b, notifications: whole }));
}
async function openTelling(webhooks: ReadonlyMap<string, BucketWebhook>) {
  const rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: [tenant], extra: { webhooks } });
  await createBucket(rig.node.objects, tenant, Bucket, "us-east-1");
  return rig;
}
const put = (rig: Rig, key: string, bytes = pattern(10)) =>
  putObject(rig.node.objects, { tenant, bucket: Bucket, key, body: bytesOf(bytes), contentType: "", headers: {}, meta: {} });
const named = ({ heard }: Receiver) => heard.map(({ record }) => `${record.eventName} ${record.s3.object.key}`);
const waiting = (rig: Rig) => rig.store.count("storage_notices", "by_webhook", []);

test("an SDK's bucket tells its webhook of what is made and removed, in the records of S3, signed, and of nothing that its filters leave out", async () => {
  const hook = await receiver();
  const s3 = await openS3Rig({ tenants: [tenant], extra: { webhooks: new Map([["hook", of(hook)]]) } });
  const client = s3.client();
  await client.send(new sdk.CreateBucketCommand({ Bucket }));
  await client.send(new sdk.PutObjectCommand({ Bucket, Key: "in/before.jpg", Body: "x" }));
  const QueueArn = webhookArn("hook");
  const FilterRules = [
    { Name: "prefix" as const, Value: "in/" },
    { Name: "suffix" as const, Value: ".jpg" },
  ];
  const configuration: PutBucketNotificationConfigurationCommandInput["NotificationConfiguration"] = {
    QueueConfigurations: [
      { Id: "pictures", QueueArn, Events: ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"], Filter: { Key: { FilterRules } } },
      {
        QueueArn,
        Events: ["s3:ObjectCreated:CompleteMultipartUpload"],
        Filter: { Key: { FilterRules: [{ Name: "prefix", Value: "parts" }] } },
      },
    ],
  };
  const { QueueConfigurations: none } = await client.send(new sdk.GetBucketNotificationConfigurationCommand({ Bucket }));
  expect(none).toBeUndefined();
  await client.send(new sdk.PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: configuration }));
  const { QueueConfigurations: read } = await client.send(new sdk.GetBucketNotificationConfigurationCommand({ Bucket }));
  expect(read?.[0]).toEqual({
    ...configuration.QueueConfigurations?.[0],
    Filter: {
      Key: { FilterRules: FilterRules.map(({ Name, Value }) => ({ Name: Name === "prefix" ? "Prefix" : "Suffix", Value })) },
    },
  });
  expect(read?.[1]).toMatchObject({ QueueArn, Events: ["s3:ObjectCreated:CompleteMultipartUpload"] });
  s3.rig.node.notifications.start();
  const Key = "in/a photo+ü.jpg";
  const { ETag } = await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "first" }));
  await client.send(new sdk.PutObjectCommand({ Bucket, Key: "in/text", Body: "x" }));
  await client.send(new sdk.PutObjectCommand({ Bucket, Key: "out/a.jpg", Body: "x" }));
  await client.send(new sdk.CopyObjectCommand({ Bucket, Key: "in/copy.jpg", CopySource: `${Bucket}/in/text` }));
  const upload = { Bucket, Key: "parts", ...(await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "parts" }))) };
  const part = await client.send(
    new sdk.UploadPartCommand({ Bucket, Key: "parts", UploadId: upload.UploadId, PartNumber: 1, Body: "p" }),
  );
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: part.ETag }] };
  await client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key: "parts", UploadId: upload.UploadId, MultipartUpload }));
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key }));
  await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "in/none.jpg" }));
  await client.send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  const { VersionId } = await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: "in/copy.jpg" }));
  await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "in/copy.jpg", VersionId }] } }));
  await hook.came(6);
  const encoded = "in/a+photo%2B%C3%BC.jpg";
  expect(named(hook)).toEqual([
    `ObjectCreated:Put ${encoded}`,
    "ObjectCreated:Copy in/copy.jpg",
    "ObjectCreated:CompleteMultipartUpload parts",
    `ObjectRemoved:Delete ${encoded}`,
    "ObjectRemoved:DeleteMarkerCreated in/copy.jpg",
    "ObjectRemoved:Delete in/copy.jpg",
  ]);
  const [made, , , , marker, last] = hook.heard.map(({ record }) => record);
  expect(made).toEqual({
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "us-east-1",
    eventName: "ObjectCreated:Put",
    eventTime: new Date(s3.rig.clock.now()).toISOString(),
    userIdentity: { principalId: tenant },
    requestParameters: { sourceIPAddress: "127.0.0.1" },
    responseElements: { "x-amz-request-id": expect.stringMatching(/^[0-9A-F]{16}$/) },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: "pictures",
      bucket: { name: Bucket, ownerIdentity: { principalId: tenant }, arn: `arn:aws:s3:::${Bucket}` },
      object: { key: encoded, size: 5, eTag: ETag?.replaceAll('"', ""), sequencer: expect.stringMatching(/^[0-9A-F]{16}$/) },
    },
  });
  expect([marker?.s3.object.versionId, last?.s3.object.versionId]).toEqual([VersionId, VersionId]);
  const sequencers = hook.heard.map(({ record }) => record.s3.object.sequencer);
  expect(sequencers).toEqual([...sequencers].sort());
  // An empty configuration ends it.
  await client.send(new sdk.PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: {} }));
  await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "unheard" }));
  expect(await client.send(new sdk.GetBucketNotificationConfigurationCommand({ Bucket }))).not.toHaveProperty(
    "QueueConfigurations",
  );
  expect(await s3.rig.store.count("storage_notices", "by_webhook", ["hook"])).toBe(0);
  await s3.dispose();
});

describe("a configuration that says what is not known", () => {
  const queue = (inner: string, arn = webhookArn("hook")) =>
    `<QueueConfiguration><Queue>${arn}</Queue>${inner}</QueueConfiguration>`;
  const event = "<Event>s3:ObjectCreated:*</Event>";
  const rule = (name: string, value = "a") => `<FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule>`;
  const filter = (...rules: string[]) => `<Filter><S3Key>${rules.join("")}</S3Key></Filter>`;
  test.each([
    ["an event that is none", queue("<Event>s3:ObjectCreated:Pat</Event>"), "400 InvalidArgument"],
    ["a family that is none", queue("<Event>s3:*</Event>"), "400 InvalidArgument"],
    ["an event of S3 that nothing tells of here", queue("<Event>s3:ObjectTagging:Put</Event>"), "501 NotImplemented"],
    ["no event", queue(""), "400 MalformedXML"],
    ["a filter by another name", queue(event + filter(rule("middle"))), "400 InvalidArgument"],
    [
      "a filter without a value",
      queue(`${event}<Filter><S3Key><FilterRule><Name>prefix</Name></FilterRule></S3Key></Filter>`),
      "400 MalformedXML",
    ],
    [
      "a filter without a name",
      queue(`${event}<Filter><S3Key><FilterRule><Value>a</Value></FilterRule></S3Key></Filter>`),
      "400 MalformedXML",
    ],
    ["a filter twice", queue(event + filter(rule("prefix"), rule("Prefix", "b"))), "400 InvalidArgument"],
    ["a filter too long", queue(event + filter(rule("prefix", "x".repeat(1025)))), "400 InvalidArgument"],
    ["a destination that is no ARN", queue(event, "hook"), "400 InvalidArgument"],
    ["a queue of another service", queue(event, "arn:aws:sqs:us-east-1:1:hook"), "400 InvalidArgument"],
    ["a webhook that is not configured", queue(event, webhookArn("other")), "400 InvalidArgument"],
    ["a topic", "<TopicConfiguration><Topic>t</Topic></TopicConfiguration>", "501 NotImplemented"],
    ["an element that is none", queue(`${event}<Retry>1</Retry>`), "400 MalformedXML"],
    ["an id too long", queue(`<Id>${"i".repeat(256)}</Id>${event}`), "400 InvalidArgument"],
    ["an id twice", queue(`<Id>i</Id>${event}`) + queue("<Id>i</Id><Event>s3:ObjectRemoved:*</Event>"), "400 InvalidArgument"],
    [
      "rules that tell of one event twice",
      queue(event + filter(rule("prefix", "a"))) + queue(event + filter(rule("suffix", "b"))),
      "400 InvalidArgument",
    ],
  ])("as %s, is refused before anything changes", async (_, inner, expected) => {
    const s3 = await openS3Rig({ tenants: [tenant], extra: { webhooks: new Map([["hook", of(await receiver())]]) } });
    await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
    const before = (await s3.rig.store.changes(0, 10_000)).length;
    const send = (body: string) =>
      signedFetch(s3, {
        method: "PUT",
        path: `/${Bucket}`,
        query: { notification: "" },
        headers: {},
        body: Buffer.from(`<NotificationConfiguration>${body}</NotificationConfiguration>`),
      });
    const { status, text } = await send(inner);
    expect(`${status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1]}`).toBe(expected);
    // Which of what was sent it is, and what it says.
    if (expected === "400 InvalidArgument")
      expect(text).toMatch(/<ArgumentName>.+<\/ArgumentName><ArgumentValue>.+<\/ArgumentValue>/);
    expect((await s3.rig.store.changes(0, 10_000)).length).toBe(before);
    // Rules that no event has in common, and MinIO's name for a webhook, are taken.
    const apart =
      queue(event + filter(rule("prefix", "a/"))) + queue(event + filter(rule("prefix", "b/")), "arn:minio:sqs::hook:webhook");
    expect((await send(apart)).status).toBe(200);
    await s3.dispose();
  });
  test("in maintenance, however good, changes nothing", async () => {
    const s3 = await openS3Rig({ tenants: [tenant], extra: { webhooks: new Map([["hook", of(await receiver())]]) } });
    await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
    await s3.rig.node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
    const before = (await s3.rig.store.changes(0, 10_000)).length;
    const { status } = await signedFetch(s3, {
      method: "PUT",
      path: `/${Bucket}`,
      query: { notification: "" },
      headers: {},
      body: Buffer.from(`<NotificationConfiguration>${queue(event)}</NotificationConfiguration>`),
    });
    expect([status, (await s3.rig.store.changes(0, 10_000)).length]).toEqual([503, before]);
    await s3.dispose();
  });
});

const key = fc.constantFrom("a", "b", "c/d");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("put", "delete"), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("Enabled", "restart", "lost place", "fill") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("deliver"), answer: fc.constantFrom(204, 204, 500, 301) }) },
);
type Step = { readonly do: string; readonly key?: string; readonly answer?: number };

test("whatever fails on the way, a webhook hears of every change once it answers, in the order of the changes, each under an id of its own", async () => {
  const hook = await receiver();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30, size: "max" }) as fc.Arbitrary<Step[]>, async (steps) => {
      let rig = await openTelling(new Map([["hook", of(hook)]]));
      const from = hook.heard.length;
      const expected: string[] = [];
      try {
        await tell(rig, [{}]);
        for (const s of steps) {
          if (s.do === "put") {
            await put(rig, s.key ?? "");
            expected.push(`ObjectCreated:Put ${s.key}`);
          } else if (s.do === "delete") {
            const done = await deleteObject(rig.node.objects, tenant, Bucket, s.key ?? "");
            if (done.marker) expected.push(`ObjectRemoved:DeleteMarkerCreated ${s.key}`);
            else if (done.deleted) expected.push(`ObjectRemoved:Delete ${s.key}`);
          } else if (s.do === "Enabled")
            await changeBucket(rig.node.objects, tenant, Bucket, "versioning", (b) => ({ ...b, versioning: "Enabled" }));
          else if (s.do === "restart") {
            await rig.node.jobs.stop();
            rig = await rig.restart();
          } else if (s.do === "fill") {
            // More than a page of changes that tell nothing.
            for (let i = 0; i < 600; i++)
              await rig.store.commit({
                commitId: `${from}.${expected.length}.${i}`,
                puts: [{ coll: "storage_counters", id: "f", doc: {} }],
              });
          } else {
            hook.answer = s.answer ?? 204;
            // What was heard is not written down: the node ends before it could.
            const dies = s.do === "lost place" ? new CodedError("ShardUnavailable", "gone") : undefined;
            const held = dies && vi.spyOn(rig.node.context.store, "commit").mockRejectedValueOnce(dies);
            await rig.node.notifications.deliver().catch((error: unknown) => expect(error).toBe(dies));
            held?.mockRestore();
            rig.clock.set(rig.clock.now() + 60_000);
          }
        }
        hook.answer = 204;
        await rig.node.notifications.deliver();
        const acknowledged = hook.heard.slice(from).filter((one) => one.acknowledged);
        const first = new Map(acknowledged.map((heard) => [heard.id, heard] as const));
        expect([...first.values()].map(({ record }) => `${record.eventName} ${record.s3.object.key}`)).toEqual(expected);
        const order = [...first.values()].map(({ record }) => record.s3.object.sequencer);
        expect(order).toEqual([...new Set(order)].sort());
        expect(await waiting(rig)).toBe(0);
      } finally {
        await rig.dispose();
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 30) },
  );
});

test("a webhook that takes its time, or gives no answer, holds up no write and no other webhook", async () => {
  const [slow, quick] = [await receiver(), await receiver()];
  const rig = await openTelling(
    new Map([
      ["slow", of(slow)],
      ["quick", of(quick)],
    ]),
  );
  await tell(rig, [
    { webhook: "slow", prefix: "a" },
    { webhook: "quick", prefix: "b" },
  ]);
  slow.answer = "silence";
  rig.node.notifications.start();
  await put(rig, "a1");
  await slow.came(1);
  for (const name of ["b1", "b2", "b3"]) {
    await put(rig, name);
    await put(rig, `a${name}`);
  }
  await quick.came(3);
  expect([named(quick), named(slow)]).toEqual([
    ["b1", "b2", "b3"].map((name) => `ObjectCreated:Put ${name}`),
    ["ObjectCreated:Put a1"],
  ]);
  slow.answer = 204;
  await slow.came(4);
  expect(named(slow)).toEqual(["a1", "ab1", "ab2", "ab3"].map((name) => `ObjectCreated:Put ${name}`));
  await rig.dispose();
});

test("a webhook that is not reached is a metric, an event and an alert until it is, and is tried again ever later", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  const { node, clock } = rig;
  await tell(rig, [{}]);
  hook.answer = 503;
  await put(rig, "k");
  for (const waits of [1000, 2000, 4000]) {
    await node.notifications.deliver();
    // Nobody is asked before it is time.
    const before = hook.heard.length;
    clock.set(clock.now() + waits - 1);
    await node.notifications.deliver();
    expect(hook.heard.length).toBe(before);
    clock.set(clock.now() + 1);
  }
  await node.tick();
  const said = { severity: "warning", subject: "hook", message: "webhook not reached: its notifications wait" };
  expect([node.monitor.alerts(), node.monitor.health(), node.background.failing()]).toEqual([[said], "healthy", []]);
  const metrics = await node.metrics.registry.metrics();
  expect(metrics).toContain('store_notifications_total{webhook="hook",outcome="failed"} 3');
  expect(metrics).toContain('store_notifications_waiting{webhook="hook"} 1');
  hook.answer = 200;
  await node.notifications.deliver();
  await node.tick();
  expect([node.monitor.alerts(), await waiting(rig)]).toEqual([[], 0]);
  expect(await node.metrics.registry.metrics()).toContain('store_notifications_total{webhook="hook",outcome="delivered"} 1');
  const told = node.events.query({ since: 0, limit: 100 }).map(({ message }) => message);
  for (const message of ["a webhook is not reached: its notifications wait", "a webhook is reached again"])
    expect(told.filter((one) => one === message)).toHaveLength(1);
  expect(new Set(hook.heard.map(({ id }) => id)).size).toBe(1);
  await rig.dispose();
});

test("a webhook whose changes cannot be read is a failing step of its own, and hears of the next change as soon as they can", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  const { node } = rig;
  await tell(rig, [{}]);
  let failed = (): void => undefined;
  const failure = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const held = vi.spyOn(node.context.store, "changes").mockImplementation(async () => {
    failed();
    throw new CodedError("ShardUnavailable", "gone");
  });
  node.notifications.start();
  await failure;
  await nextTurn();
  await node.tick();
  expect(node.background.failing()).toEqual(["notifications to hook"]);
  held.mockRestore();
  await put(rig, "k");
  await hook.came(1);
  await rig.dispose();
  expect([named(hook), node.background.failing()]).toEqual([["ObjectCreated:Put k"], []]);
});

test("why a webhook is not reached is told by the code of what failed", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  await tell(rig, [{}]);
  await hook.close();
  await put(rig, "k");
  await rig.node.notifications.deliver();
  expect(rig.node.events.query({ since: 0, limit: 100 })).toContainEqual(
    expect.objectContaining({
      message: "a webhook is not reached: its notifications wait",
      details: { webhook: "hook", error: "the webhook's receiver does not answer", code: "ECONNREFUSED" },
    }),
  );
  await rig.dispose();
});

test("of more than may wait for a webhook the oldest are dropped, counted and told, and what is left is heard in its order", async () => {
  const [hook, other] = [await receiver(), await receiver()];
  const webhooks = new Map([
    ["hook", of(hook)],
    ["other", of(other)],
  ]);
  const extra = { webhooks, maxWaitingNotifications: 3 };
  const rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: [tenant], extra });
  await createBucket(rig.node.objects, tenant, Bucket, "us-east-1");
  await tell(rig, [{ prefix: "k" }, { prefix: "o", webhook: "other" }]);
  hook.answer = 503;
  for (const one of ["k1", "o1", "k2", "k3", "k4", "o2", "k5"]) await put(rig, one);
  await rig.node.notifications.deliver();
  await rig.node.tick();
  await put(rig, "k6");
  await rig.node.tick();
  expect(await rig.store.count("storage_notices", "by_webhook", ["hook"])).toBe(3);
  expect(await rig.node.metrics.registry.metrics()).toContain('store_notifications_total{webhook="hook",outcome="dropped"} 3');
  const told = rig.node.events.query({ since: 0, limit: 100 }).map(({ message }) => message);
  expect(told.filter((one) => one === "too many notifications wait for a webhook: the oldest are dropped")).toHaveLength(1);
  hook.answer = 204;
  rig.clock.set(rig.clock.now() + 60_000);
  await rig.node.notifications.deliver();
  expect(named(hook).slice(1)).toEqual(["k4", "k5", "k6"].map((one) => `ObjectCreated:Put ${one}`));
  expect(named(other)).toEqual(["o1", "o2"].map((one) => `ObjectCreated:Put ${one}`));
  await rig.dispose();
});

test("a notification that its webhook definitely refuses is skipped after ten times, and blocks none behind it; any other answer skips nothing", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  await tell(rig, [{}]);
  await put(rig, "bad");
  await put(rig, "good");
  const turns = async (answer: number, count: number) => {
    hook.answer = answer;
    for (let i = 0; i < count; i++) {
      rig.clock.set(rig.clock.now() + 60_000);
      await rig.node.notifications.deliver();
    }
  };
  for (const answer of [408, 429, 500, 301]) await turns(answer, 11);
  await turns(422, 9);
  expect(await waiting(rig)).toBe(2);
  await turns(422, 1);
  expect(await waiting(rig)).toBe(1);
  expect(await rig.node.metrics.registry.metrics()).toContain('store_notifications_total{webhook="hook",outcome="skipped"} 1');
  expect(rig.node.events.query({ since: 0, limit: 100 })).toContainEqual(
    expect.objectContaining({ message: "a webhook refuses a notification: it is skipped" }),
  );
  await turns(204, 1);
  await rig.node.tick();
  expect([named(hook).at(-1), await waiting(rig), rig.node.monitor.alerts()]).toEqual(["ObjectCreated:Put good", 0, []]);
  await rig.dispose();
});

test("what waits for a webhook that is not configured any more is kept for an hour with an alert, and then dropped", async () => {
  const hook = await receiver();
  const webhooks = new Map([
    ["hook", of(hook)],
    ["gone", of(hook)],
  ]);
  let rig = await openTelling(webhooks);
  await tell(rig, [{ webhook: "gone" }]);
  await put(rig, "k");
  await rig.node.jobs.stop();
  webhooks.delete("gone");
  rig = await rig.restart();
  await rig.node.tick();
  await rig.node.tick();
  expect(rig.node.monitor.alerts()).toMatchObject([{ severity: "warning", subject: "gone" }]);
  rig.clock.set(rig.clock.now() + 3_599_999);
  await rig.node.tick();
  expect(await waiting(rig)).toBe(1);
  rig.clock.set(rig.clock.now() + 1);
  await rig.node.notifications.watch();
  expect(await waiting(rig)).toBe(0);
  expect(await rig.node.metrics.registry.metrics()).toContain('store_notifications_total{webhook="gone",outcome="dropped"} 1');
  expect(rig.node.events.query({ since: 0, limit: 100 })).toContainEqual(
    expect.objectContaining({ message: "notifications are dropped: their webhook is not configured" }),
  );
  await rig.node.notifications.watch();
  expect((await rig.store.get("storage_webhooks", "gone"))?.doc).toEqual({ seq: expect.any(Number) });
  await rig.dispose();
});

test("a webhook is there for its tenants alone: another is told that it does not exist, and one that is its tenant no more tells it nothing", async () => {
  const hook = await receiver();
  const s3 = await openS3Rig({ tenants: [tenant, "beta"], extra: { webhooks: new Map([["hook", of(hook, "beta")]]) } });
  const theirs = await s3.credentials.create("beta", operator);
  const configure = async (keys: typeof theirs, bucket: string, name: string) => {
    const client = s3.client(keys);
    await client.send(new sdk.CreateBucketCommand({ Bucket: bucket }));
    const QueueConfigurations = [{ QueueArn: webhookArn(name), Events: ["s3:ObjectCreated:*" as const] }];
    const NotificationConfiguration = { QueueConfigurations };
    return client.send(new sdk.PutBucketNotificationConfigurationCommand({ Bucket: bucket, NotificationConfiguration })).then(
      () => "taken",
      ({ name: code, message }: Error) => `${code} ${message}`,
    );
  };
  const unknown = await configure(s3.keys, Bucket, "none");
  expect(unknown).toMatch(/^InvalidArgument /);
  expect(await configure(s3.keys, Bucket, "hook")).toBe(unknown);
  expect(await configure(theirs, "theirs", "hook")).toBe("taken");
  // As a bucket is whose tenant the operator took the webhook from.
  await tell(s3.rig, [{}]);
  await put(s3.rig, "k");
  expect(await waiting(s3.rig)).toBe(0);
  await s3.client(theirs).send(new sdk.PutObjectCommand({ Bucket: "theirs", Key: "k", Body: "x" }));
  await s3.rig.node.notifications.deliver();
  expect(hook.heard.map(({ record }) => record.s3.bucket.name)).toEqual(["theirs"]);
  await s3.dispose();
});

test("files tell of themselves as objects do, and a lifecycle by its own events", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  await tell(rig, [{}]);
  const files = await createFileRun(rig, Bucket);
  for (const done of [
    { do: "write", name: "a", offset: 0, size: 10 },
    { do: "rename", name: "a", to: "e" },
    { do: "unlink", name: "e" },
  ] as const)
    expect(await files.step(done)).toBe("OK");
  await files.close();
  await put(rig, "old");
  const rule = { id: "all", enabled: true, form: "prefix" as const, filter: {}, expiration: { date: 0 } };
  await changeBucket(rig.node.objects, tenant, Bucket, "lifecycle", (b) => ({ ...b, lifecycle: [rule] }));
  await expireVersions(rig.node.parts);
  await rig.node.notifications.deliver();
  expect(named(hook)).toEqual([
    ...["ObjectCreated:Put a", "ObjectCreated:Put a", "ObjectCreated:Copy e", "ObjectRemoved:Delete a", "ObjectRemoved:Delete e"],
    ...["ObjectCreated:Put old", "LifecycleExpiration:Delete old"],
  ]);
  expect(hook.heard[0]?.record.userIdentity.principalId).toBe("seneschal");
  await rig.dispose();
});

test("a webhook at a private address is refused at the start unless it is allowed; so are names twice and secrets of another form", () => {
  const secret = `whsec_${Buffer.alloc(24).toString("base64")}`;
  const settings = (url: string, allowed: readonly string[] = []) =>
    storageSettings.parse({
      notifications: { webhooks: [{ name: "hook", url, secret, tenants: [tenant] }], allowed_targets: allowed },
    });
  for (const url of [
    "http://127.0.0.1/",
    "http://localhost:8080/",
    "http://[::1]/",
    "https://10.0.0.1/",
    "http://169.254.169.254/",
  ])
    expect(() => storageInForce(settings(url), {})).toThrow(
      expect.objectContaining({ code: "config_invalid", details: { field: "storage.notifications.webhooks.0.url" } }),
    );
  for (const config of [settings("https://hooks.example.org/"), settings("http://10.0.0.1/", ["10.0.0.0/8"])])
    expect(storageInForce(config, {}).notifications.webhooks).toHaveLength(1);
  const hook = { name: "hook", url: "https://hooks.example.org/", secret, tenants: [tenant] };
  expect(storageSettings.safeParse({ notifications: { webhooks: [hook] } }).success).toBe(true);
  for (const timeout of ["100ms", "5m"])
    expect(storageSettings.safeParse({ notifications: { webhooks: [{ ...hook, timeout }] } }).success).toBe(true);
  for (const webhooks of [
    [hook, hook],
    [{ ...hook, secret: "short" }],
    [{ ...hook, url: "ftp://x/" }],
    // Nothing that is called may carry them.
    [{ ...hook, url: "https://u:p@hooks.example.org/" }],
    [{ ...hook, url: "https://u@hooks.example.org/" }],
    [{ ...hook, timeout: "0s" }],
    [{ ...hook, timeout: "99ms" }],
    [{ ...hook, timeout: "301s" }],
    [{ ...hook, name: "A B" }],
    [{ ...hook, tenants: [] }],
    [{ ...hook, tenants: undefined }],
  ])
    expect(storageSettings.safeParse({ notifications: { webhooks } }).success).toBe(false);
});

test("changes are forgotten as far as every webhook has heard them: each is told all, once, and one that comes back goes on", async () => {
  const hook = await receiver();
  const rig = await openTelling(new Map([["hook", of(hook)]]));
  await tell(rig, [{}]);
  const forget = async () => {
    await rig.node.notifications.forget(1);
    return (await rig.store.changes(0, 1).catch((error: CodedError) => [{ seq: Number(error.details["first"]) }]))[0]?.seq ?? 0;
  };
  for (const key of ["a", "b"]) await put(rig, key);
  const held = await forget();
  await rig.node.notifications.deliver();
  expect(named(hook)).toEqual(["ObjectCreated:Put a", "ObjectCreated:Put b"]);
  expect(await forget()).toBeGreaterThan(held);
  await put(rig, "c");
  await forget();
  await rig.node.notifications.deliver();
  expect(named(hook)).toEqual(["ObjectCreated:Put a", "ObjectCreated:Put b", "ObjectCreated:Put c"]);
  // A place from before what is left, as of a webhook that was not configured for long.
  const place = await rig.store.get("storage_webhooks", "hook");
  await rig.store.commit({ commitId: "back", puts: [{ coll: "storage_webhooks", id: "hook", doc: { ...place?.doc, seq: 0 } }] });
  await rig.store.compact({ changes: Number.MAX_SAFE_INTEGER });
  await put(rig, "d");
  await rig.node.notifications.deliver();
  expect(named(hook).at(-1)).toBe("ObjectCreated:Put d");
  expect(hook.heard).toHaveLength(4);
  await rig.dispose();
});
