import { checkArgument } from "@seneschal/kernel";

/** What happens to objects that a bucket can tell of (Amazon S3 User Guide, Event notification types and destinations). */
const objectEvents = [
  "ObjectCreated:Put",
  "ObjectCreated:Post",
  "ObjectCreated:Copy",
  "ObjectCreated:CompleteMultipartUpload",
  "ObjectRemoved:Delete",
  "ObjectRemoved:DeleteMarkerCreated",
  "LifecycleExpiration:Delete",
  "LifecycleExpiration:DeleteMarkerCreated",
] as const;
export type ObjectEventName = (typeof objectEvents)[number];

/** One rule of a bucket: which events of which keys go to which webhook. */
export interface NotificationRule {
  readonly id: string;
  readonly webhook: string;
  /** As they were given: `s3:` and the name of an event, or of a family with `*`. */
  readonly events: readonly string[];
  readonly prefix?: string;
  readonly suffix?: string;
}

/**
 * The events that a name of a rule stands for; empty for one that is none.
 *
 * @example
 * ```ts
 * import { eventsNamed } from "@seneschal/core/storage";
 * console.log(eventsNamed("s3:ObjectRemoved:*").length); // 2
 * ```
 */
export function eventsNamed(name: string): readonly ObjectEventName[] {
  const family = /^s3:\w+:\*$/.test(name) ? name.slice(0, -1) : undefined;
  return objectEvents.filter((event) => name === `s3:${event}` || (family !== undefined && `s3:${event}`.startsWith(family)));
}

/**
 * The rules that an event of a key is told by.
 *
 * @example
 * ```ts
 * import { rulesFor } from "@seneschal/core/storage";
 * const rule = { id: "r1", webhook: "audit", events: ["s3:ObjectCreated:*"], prefix: "a/" };
 * console.log(rulesFor([rule], "ObjectCreated:Put", "a/b").length, rulesFor([rule], "ObjectCreated:Put", "b").length); // 1 0
 * ```
 */
export function rulesFor(rules: readonly NotificationRule[], event: ObjectEventName, key: string): readonly NotificationRule[] {
  checkArgument("rules", rules, "array");
  checkArgument("event", event, "string");
  checkArgument("key", key, "string");
  return rules.filter(
    ({ events, prefix = "", suffix = "" }) =>
      key.startsWith(prefix) && key.endsWith(suffix) && events.some((name) => eventsNamed(name).includes(event)),
  );
}

/**
 * Whether some event of some key could be told by both: Amazon S3 takes no such rules of one bucket.
 *
 * @example
 * ```ts
 * import { rulesOverlap } from "@seneschal/core/storage";
 * const rule = { id: "a", webhook: "hook", events: ["s3:ObjectCreated:*"] };
 * console.log(rulesOverlap({ ...rule, prefix: "a/" }, { ...rule, prefix: "b/" })); // false
 * ```
 */
export function rulesOverlap(a: NotificationRule, b: NotificationRule): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  const [events, others] = [a.events.flatMap(eventsNamed), b.events.flatMap(eventsNamed)];
  const [prefix, prefix2, suffix, suffix2] = [a.prefix ?? "", b.prefix ?? "", a.suffix ?? "", b.suffix ?? ""];
  return (
    events.some((event) => others.includes(event)) &&
    (prefix.startsWith(prefix2) || prefix2.startsWith(prefix)) &&
    (suffix.endsWith(suffix2) || suffix2.endsWith(suffix))
  );
}

/** Something that happened to an object, as it waits to be told to a webhook. */
export interface ObjectNotice {
  readonly rule: string;
  readonly event: ObjectEventName;
  /** Milliseconds. */
  readonly at: number;
  readonly bucket: string;
  readonly tenant: string;
  readonly region: string;
  readonly key: string;
  /** Of an object that was made. */
  readonly size?: number;
  readonly etag?: string;
  readonly version_id?: string;
  /** Who asked for it, from where, and in which request; absent: the node itself, or the network file system. */
  readonly principal?: string;
  readonly address?: string;
  readonly request_id?: string;
}

/**
 * The message of a notice: one record of event version 2.1 (Amazon S3 User Guide, Event message structure). `sequence`: greater for what was
 * committed later; of one key the order of events is that of their sequencers.
 *
 * @example
 * ```ts
 * import { eventMessage } from "@seneschal/core/storage";
 * const notice = { rule: "r", event: "ObjectRemoved:Delete", at: 0, bucket: "b", tenant: "t", region: "us-east-1", key: "a b" } as const;
 * console.log(eventMessage(notice, 1).Records[0].s3.object.key); // a+b
 * ```
 */
export function eventMessage(notice: ObjectNotice, sequence: number) {
  checkArgument("notice", notice, "object");
  checkArgument("sequence", sequence, "number");
  const { rule, event, at, bucket, tenant, region, key, size, etag, version_id, principal, address, request_id } = notice;
  const record = {
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: region,
    eventTime: new Date(at).toISOString(),
    eventName: event,
    userIdentity: { principalId: principal ?? "seneschal" },
    requestParameters: { sourceIPAddress: address ?? "" },
    responseElements: { "x-amz-request-id": request_id ?? "" },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: rule,
      bucket: { name: bucket, ownerIdentity: { principalId: tenant }, arn: `arn:aws:s3:::${bucket}` },
      object: {
        key: formEncoded(key),
        ...(size !== undefined && { size }),
        ...(etag !== undefined && { eTag: etag }),
        ...(version_id !== undefined && { versionId: version_id }),
        sequencer: sequence.toString(16).toUpperCase().padStart(16, "0"),
      },
    },
  };
  return { Records: [record] as [typeof record] };
}

/** As forms encode a value, but for `/`: keys stand so in events. */
function formEncoded(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+")
    .replaceAll("%2F", "/");
}

/**
 * The name of a webhook as a destination, in the form of an ARN.
 *
 * @example
 * ```ts
 * import { webhookArn } from "@seneschal/core/storage";
 * console.log(webhookArn("audit")); // arn:seneschal:sqs::audit:webhook
 * ```
 */
export function webhookArn(name: string): string {
  return `arn:seneschal:sqs::${name}:webhook`;
}

/**
 * The webhook that a destination names; `undefined` for what is none.
 *
 * @example
 * ```ts
 * import { webhookArn, webhookOfArn } from "@seneschal/core/storage";
 * console.log(webhookOfArn(webhookArn("audit")), webhookOfArn("arn:aws:sns:::x")); // audit undefined
 * ```
 */
export function webhookOfArn(arn: string): string | undefined {
  return /^arn:(?:seneschal|minio):sqs:[a-z0-9-]*:([a-z0-9][a-z0-9-]{0,62}):webhook$/.exec(arn)?.[1];
}
