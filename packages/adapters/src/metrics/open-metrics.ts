import { checkOptions } from "@seneschal/kernel";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { boundedLabel } from "./bounded-label.ts";

/** The metrics of one service. A service adds its own to `registry`, under its prefix, with bounded labels only. */
export interface Metrics {
  readonly registry: Registry;
  /** What the names of the service's metrics begin with. */
  readonly prefix: string;
  /** `route` is an operation id, never a path. */
  request(method: string, route: string, status: number, seconds: number): void;
  /** A request of somebody of an organisation or a tenant, which has a value of its own, or shares one with others. */
  owner(id: string, status: number): void;
  error(code: string): void;
  /** `method`: how the caller tried to prove itself; `result`: `success` or `failure`. */
  authAttempt(method: string, result: "success" | "failure"): void;
  /** A run of a step of background work failed. */
  backgroundFailure(step: string): void;
  /** Whether the last run of a step of background work failed. */
  backgroundFailing(step: string, failing: boolean): void;
  /** When certificates end, by the setting that names their file; seconds since the epoch. What was shown before is forgotten. */
  certificateEnds(ends: Readonly<Record<string, number>>): void;
  /** Asks for the free space where the data is each time the metrics are read. */
  watchDisk(freeBytes: () => Promise<number>): void;
  /** Prometheus text. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** By whom requests are counted, and how many may have a series of their own. */
export interface Owners {
  readonly kind: "organization" | "tenant";
  /** These have one always. */
  readonly named: readonly string[];
  /** So many others have one, in the order in which they come. */
  readonly most: number;
}

const FEW: Owners = { kind: "organization", named: [], most: 50 };

/** Opens a registry with the HTTP metrics every service has and the process metrics. */
export function openMetrics(options: { readonly prefix: string; readonly version: string; readonly owners?: Owners }): Metrics {
  checkOptions("options", options, { prefix: "string", version: "string", owners: "object?" });
  const { prefix, version, owners = FEW } = options;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: `${prefix}_info`, help: "Always 1; the version is the label", labelNames: ["version"], registers }).set(
    { version },
    1,
  );
  const requests = new Counter({
    name: `${prefix}_http_requests_total`,
    help: "HTTP requests by operation",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: `${prefix}_http_request_duration_seconds`,
    help: "Time to answer, without sending the body",
    labelNames: ["method", "route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const { kind } = owners;
  const ownerOf = boundedLabel(owners.named, owners.most);
  const owned = new Counter({
    name: `${prefix}_${kind}_requests_total`,
    help: `HTTP requests of callers that were known, by ${kind}; the rest of them is "other"`,
    labelNames: [kind, "result"],
    registers,
  });
  const errors = new Counter({ name: `${prefix}_errors_total`, help: "Error answers by code", labelNames: ["code"], registers });
  const auths = new Counter({
    name: `${prefix}_auth_attempts_total`,
    help: "Credentials presented",
    labelNames: ["method", "result"],
    registers,
  });
  const failures = new Counter({
    name: `${prefix}_background_failures_total`,
    help: "Failed runs of background work by step",
    labelNames: ["step"],
    registers,
  });
  const failing = new Gauge({
    name: `${prefix}_background_failing`,
    help: "1 while the last run of a step of background work failed",
    labelNames: ["step"],
    registers,
  });
  const ends = new Gauge({
    name: `${prefix}_certificate_expiry_timestamp_seconds`,
    help: "When the first certificate of a file ends, by the setting that names the file",
    labelNames: ["setting"],
    registers,
  });
  let disk: (() => Promise<number>) | undefined;
  new Gauge({
    name: `${prefix}_disk_free_bytes`,
    help: "Free space where the data is, as an ordinary user sees it",
    registers,
    async collect() {
      this.set((await disk?.().catch(() => undefined)) ?? Number.NaN);
    },
  });
  return {
    registry,
    prefix,
    backgroundFailure: (step) => failures.inc({ step }),
    backgroundFailing: (step, now) => failing.set({ step }, now ? 1 : 0),
    certificateEnds(all) {
      ends.reset();
      for (const [setting, seconds] of Object.entries(all)) ends.set({ setting }, seconds);
    },
    watchDisk(freeBytes) {
      disk = freeBytes;
    },
    request(method, route, status, seconds) {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ method, route }, seconds);
    },
    owner: (id, status) => owned.inc({ [kind]: ownerOf(id), result: status < 400 ? "ok" : status < 500 ? "refused" : "failed" }),
    error: (code) => errors.inc({ code }),
    authAttempt: (method, result) => auths.inc({ method, result }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
