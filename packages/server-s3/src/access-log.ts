import {
  type AccessRecord,
  accessLogLimits,
  accessLogLine,
  type Bucket,
  type BucketLogging,
  keepsLine,
  logBatch,
  loggingService,
  logObjectKey,
  maxLogDeliveries,
  type ObjectStore,
  type S3ServerOptions,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { authoriseS3, type BucketPolicies } from "./authorise.ts";
import { s3Failure } from "./errors.ts";

/** The requests of buckets that have them logged, until they lie in objects of the buckets that these name. */
export interface AccessLogs {
  /** What is about to be noted is waited for by a delivery. */
  afterNoting(work: Promise<void>): Promise<void>;
  /** Keeps a request to a bucket that has its requests logged; what there is no room for is lost. */
  note(bucket: Bucket, logging: BucketLogging, record: AccessRecord): void;
  /**
   * Writes what has waited long enough, `all`: all that waits. Rejects when a store does not answer; what a bucket or its policy refuses is
   * told as failed, and both are tried again.
   */
  deliver(all?: boolean): Promise<void>;
  /** Whether the bucket that is named takes the logs: it is there, is the same tenant's, and its policy lets the service put them. */
  mayDeliver(objects: ObjectStore, bucket: Bucket, logging: BucketLogging): Promise<boolean>;
}

/** Lines that will lie in one object. */
interface Batch {
  readonly bucket: Bucket;
  readonly logging: BucketLogging;
  readonly since: number;
  readonly lines: string[];
  bytes: number;
  tries: number;
  /** It is not tried before, milliseconds. */
  next: number;
  /** Once it is due: a delivery that is tried again writes the same object. */
  key?: string;
}

type LogOptions = Pick<S3ServerOptions, "objects" | "authorise" | "clock" | "random" | "accessLogDelayMs" | "onAccessLog">;

export function openAccessLogs(options: LogOptions, policies: BucketPolicies): AccessLogs {
  const { clock, random, accessLogDelayMs = 300_000, onAccessLog } = options;
  /** Those that take more lines, by what these have in common. */
  const open = new Map<string, Batch>();
  const due = new Set<Batch>();
  const noting = new Set<Promise<void>>();
  const waiting = new Map<string, number>();
  let all = 0;
  let turn: Promise<void> = Promise.resolve();

  const takes = (tenant: string, bytes: number): void => {
    all += bytes;
    const left = (waiting.get(tenant) ?? 0) + bytes;
    if (left > 0) waiting.set(tenant, left);
    else waiting.delete(tenant);
  };
  const tell = (batch: Batch, outcome: "delivered" | "failed" | "dropped", error?: unknown): void =>
    onAccessLog?.({ bucket: batch.bucket.name, outcome, records: batch.lines.length, error });
  const end = (batch: Batch, outcome: "delivered" | "dropped", error?: unknown): void => {
    due.delete(batch);
    takes(batch.bucket.tenant, -batch.bytes);
    tell(batch, outcome, error);
  };
  const keyFor = ({ bucket, logging, since }: Pick<Batch, "bucket" | "logging" | "since">): string =>
    logObjectKey(logging, {
      tenant: bucket.tenant,
      region: bucket.region,
      bucket: bucket.name,
      at: clock.now(),
      since,
      unique: Buffer.from(random(8)).toString("hex").toUpperCase(),
    });

  /** Throws `AccessDenied` where the policy of the bucket that is named does not let the service put the object. */
  const permit = async (objects: ObjectStore, { name, tenant }: Bucket, target: string, key: string): Promise<void> => {
    const reach = authoriseS3(
      { objects, policies, authorise: options.authorise },
      {
        caller: "",
        service: { name: loggingService, source: `arn:aws:s3:::${name}`, account: tenant },
        access: undefined,
        method: "PUT",
        operation: { name: "PutObject", on: "object" },
        bucket: target,
        key,
        query: new Map<string, string>(),
        headers: {},
        // It comes over no network.
        address: "",
        secure: true,
        now: clock.now(),
      },
    );
    await reach({ bucket: target, key, actions: ["s3:PutObject"] });
  };

  const write = async ({ bucket, logging, lines }: Batch, key: string): Promise<void> => {
    const requestId = Buffer.from(random(8)).toString("hex").toUpperCase();
    const objects = options.objects({ principal: loggingService, address: "", request_id: requestId });
    // Another tenant may have a bucket of that name by now.
    const { encryption } = await objects.openBucket(bucket.tenant, logging.target);
    await permit(objects, bucket, logging.target, key);
    const text = Buffer.from(`${lines.join("\n")}\n`, "latin1");
    await objects.putObject({
      tenant: bucket.tenant,
      bucket: logging.target,
      key,
      length: text.length,
      contentType: "text/plain",
      body: (async function* () {
        yield text;
      })(),
      headers: {},
      meta: {},
      conditions: { ifNoneMatch: ["*"] },
      ...(encryption && { attributes: { encryption } }),
    });
  };

  /** What the store does not take waits as long as there is room for it; what a bucket refuses is given up in the end. */
  const undelivered = (batch: Batch, error: unknown): unknown => {
    batch.next = clock.now() + accessLogDelayMs;
    // Then everything waits, and nothing is wrong.
    if (isCoded(error, "MaintenanceMode")) return undefined;
    const refused = s3Failure(error).status < 500;
    if (refused) batch.tries += 1;
    if (batch.tries >= maxLogDeliveries) end(batch, "dropped", error);
    else tell(batch, "failed", error);
    return refused ? undefined : error;
  };

  const deliver = async (batch: Batch): Promise<unknown> => {
    batch.key ??= keyFor(batch);
    try {
      await write(batch, batch.key);
    } catch (error) {
      // It is there: an answer before was lost.
      if (!isCoded(error, "PreconditionFailed")) return undelivered(batch, error);
    }
    end(batch, "delivered");
    return undefined;
  };

  const run = async (everything: boolean): Promise<void> => {
    await Promise.all(noting);
    const now = clock.now();
    for (const [id, batch] of open)
      if (everything || now - batch.since >= accessLogDelayMs) {
        open.delete(id);
        due.add(batch);
      }
    const errors: unknown[] = [];
    for (const batch of [...due].filter(({ next }) => everything || next <= now)) {
      const error = await deliver(batch);
      if (error !== undefined) errors.push(error);
    }
    if (errors.length > 0) throw errors[0];
  };

  return {
    async afterNoting(work) {
      noting.add(work);
      await work.finally(() => noting.delete(work));
    },
    note(bucket, logging, record) {
      const line = accessLogLine(record);
      const bytes = line.length + 1;
      if (!keepsLine(bytes, { all, tenant: waiting.get(bucket.tenant) ?? 0 })) {
        onAccessLog?.({ bucket: bucket.name, outcome: "dropped", records: 1 });
        return;
      }
      const id = logBatch(bucket.name, logging, record.at);
      let batch = open.get(id);
      if (batch === undefined || batch.bucket.tenant !== bucket.tenant) {
        if (batch !== undefined) due.add(batch);
        batch = { bucket, logging, since: record.at, lines: [], bytes: 0, tries: 0, next: 0 };
        open.set(id, batch);
      }
      batch.lines.push(line);
      batch.bytes += bytes;
      takes(bucket.tenant, bytes);
      if (batch.bytes < accessLogLimits.object) return;
      open.delete(id);
      due.add(batch);
    },
    deliver(everything = false) {
      // One after another: nothing is written twice.
      const next = turn.catch(() => undefined).then(() => run(everything));
      turn = next;
      return next;
    },
    async mayDeliver(objects, bucket, logging) {
      const target = await objects.findBucket(logging.target);
      if (target === undefined || target.deleting || target.tenant !== bucket.tenant) return false;
      return permit(objects, bucket, logging.target, keyFor({ bucket, logging, since: clock.now() })).then(
        () => true,
        (error: unknown) => {
          if (isCoded(error, "AccessDenied")) return false;
          throw error;
        },
      );
    },
  };
}
