import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import type { S3Server, S3Settings, ServeS3 } from "@seneschal/core/storage";
import { checkOptions, isCoded } from "@seneschal/kernel";
import type { PolicyEngine } from "@seneschal/kernel/ports";
import type { Authorisation } from "../platform/index.ts";
import type { StorageContext } from "./context.ts";
import type { Credentials } from "./keys/credentials.ts";
import type { StorageNode } from "./node.ts";
import { objectStore } from "./objects/object-store.ts";

/** Serves the buckets of a node by S3, counted and logged as its other gateways are. */
export function openS3(options: {
  readonly settings: S3Settings;
  readonly node: Pick<StorageNode, "context" | "objects" | "connections">;
  readonly credentials: Pick<Credentials, "lookUp">;
  /** Decides what callers may do. */
  readonly authorisation: Authorisation;
  readonly engine: PolicyEngine;
  readonly log: Logger;
  /** Counts requests by the tenants that have signed them. */
  readonly requests: Pick<Metrics, "owner">;
  readonly serveS3: ServeS3;
}): Promise<S3Server> {
  checkOptions("options", options, {
    settings: "object",
    node: "object",
    credentials: "object",
    authorisation: "object",
    engine: "object",
    log: "object",
    requests: "object",
    serveS3: "function",
  });
  const { settings, node, credentials, authorisation, engine, log, requests, serveS3 } = options;
  const { context, connections } = node;
  const { metrics, clock, random } = context;
  const labels = { transport: "http" };
  const quiet = openQuiet(context, 10_000);
  const alarm = (reason: string): void =>
    quiet(reason, () => context.emit("warning", "security", "an S3 request was refused", { reason }));
  return serveS3({
    ...settings,
    objects: (origin) => objectStore(node.objects, origin),
    lookUp: (accessKey) => credentials.lookUp(accessKey),
    engine,
    authorise: ({ caller, owner, action, resource, method, operation }, now) =>
      authorisation.decide(
        {
          subject: { id: caller, type: "tenant", org: owner, roles: ["tenant"], scopes: [], permissions: [] },
          action,
          resource: { type: "objects", id: resource, org: owner, workspace: "" },
          context: { method, path: operation },
        },
        now,
      ),
    clock,
    random,
    onRequest({ operation, status, seconds, tenant }) {
      if (tenant !== undefined) requests.owner(tenant, status);
      metrics.gatewayRequests.inc({ protocol: "s3", method: operation, status: String(status) });
      metrics.gatewayDuration.observe({ protocol: "s3", method: operation }, seconds);
    },
    onRefusal(reason) {
      metrics.authFailures.inc({ surface: "s3", reason });
      alarm(reason);
    },
    onAccessLog({ bucket, outcome, records, error }) {
      metrics.accessLogRecords.inc({ outcome }, records);
      if (outcome === "delivered") return;
      const reason = isCoded(error) ? error.code : error === undefined ? "full" : "error";
      quiet(`${bucket} ${outcome}`, () =>
        context.emit("warning", "node", `access logs of a bucket are ${outcome === "failed" ? "not delivered" : "lost"}`, {
          bucket,
          reason,
        }),
      );
    },
    onFailure: (error, { operation, requestId }) => log.error({ error, operation, request_id: requestId }, "s3 request failed"),
    onConnections({ open, idle }) {
      connections.set("s3", open);
      metrics.transportIdle.set(labels, idle);
      metrics.transportActive.set(labels, open - idle);
    },
    onTraffic({ received, sent }) {
      metrics.transportBytes.inc({ ...labels, direction: "rx" }, received);
      metrics.transportBytes.inc({ ...labels, direction: "tx" }, sent);
    },
    onConnectionError: (kind) => metrics.transportErrors.inc({ ...labels, kind }),
  });
}

/** Names that are remembered before those of long ago are forgotten. */
const maxNames = 1000;

/** Does something for each name once in so many milliseconds: an attacker must not flush the event log. */
function openQuiet({ clock }: StorageContext, ms: number): (name: string, work: () => void) => void {
  const last = new Map<string, number>();
  return (name, work) => {
    const now = clock.now();
    if (now - (last.get(name) ?? Number.NEGATIVE_INFINITY) < ms) return;
    if (last.size >= maxNames) for (const [old, at] of last) if (now - at >= ms) last.delete(old);
    last.set(name, now);
    work();
  };
}
