import { randomUUID } from "node:crypto";
import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import type { DataSource } from "@seneschal/adapters/sources";
import { isOver, type Job } from "@seneschal/core/jobs";
import type { ColumnClassifier, TierPolicy } from "@seneschal/governance";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { Clock, DocumentStore, Random } from "@seneschal/kernel/ports";
import { Gauge } from "prom-client";
import { type Background, openJobs, type Stoppable } from "../../platform/index.ts";
import { auditOf } from "../audit/event.ts";
import { ofOneMoment } from "../of-one-moment.ts";
import { type ScanResult, scanSource } from "./scan.ts";
import type { SourceSettings } from "./settings.ts";
import type { ScannedSource, Scans } from "./types.ts";

export interface ScansOptions {
  readonly sources: readonly ScannedSource[];
  readonly open: (settings: SourceSettings) => Promise<DataSource>;
  readonly store: DocumentStore;
  readonly classifier: ColumnClassifier;
  readonly tiers: TierPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly background: Background;
}

/** How often it is looked whether a scan is due. */
const LOOK_MS = 30_000;
/** Scans are remembered so long. */
const KEPT_MS = 90 * 86_400_000;

/** Whose jobs the scans of a source are. */
export function scanOwner({ org, name }: Pick<ScannedSource, "org" | "name">): string {
  return `${org}|${name}`;
}

/** Scans of a source, the newest first. */
export async function scansOf(store: DocumentStore, source: ScannedSource, limit: number, offset = 0): Promise<readonly Job[]> {
  const page = await store.list("jobs", "owner", [scanOwner(source)], { limit, offset, reverse: true });
  return page.items.map(({ doc }) => doc as unknown as Job);
}

/** What a scan that ended came to. */
export function scanResult(job: Job): ScanResult | undefined {
  return job.result === null ? undefined : (job.result as unknown as ScanResult);
}

/** Opens the scans; they begin with {@link Scans.start}. One process does them at a time, whichever holds the lease of the jobs. */
export function openScans(options: ScansOptions): Scans {
  const { sources, open, store, classifier, tiers, clock, random, log, metrics, background } = options;
  const running: Stoppable[] = [];
  const jobs = openJobs({
    // Not at every commit: each request makes one.
    store: { ...store, subscribe: () => () => undefined },
    clock,
    random,
    log,
    background,
    concurrency: 2,
    kinds: {
      async scan(context) {
        const source = sources.find((one) => scanOwner(one) === context.job.owner);
        if (source === undefined) throw gone();
        const { org, name, settings } = source;
        const parts = { store, classifier, tiers, now: () => clock.now() };
        try {
          return { ...(await scanSource(parts, { org, name, open: () => open(settings) }, context)) };
        } catch (error) {
          throw context.signal.aborted || isCoded(error, "source_unavailable", "back_end_missing", "job_interrupted")
            ? error
            : withoutValues(error);
        }
      },
    },
    audit: (job) => [scanAudit(job, clock.now())],
  });
  const draft: Scans["draft"] = (source, by) =>
    jobs.draft({ kind: "scan", params: { source: source.name }, created_by: by, owner: scanOwner(source) });

  const wake = (): void => void background.step("jobs", jobs.tick);

  async function schedule(): Promise<void> {
    for (const source of sources) {
      await ofOneMoment(store, async (seen) => {
        const [last] = await scansOf(seen, source, 1);
        const now = clock.now();
        if (last !== undefined && (!isOver(last) || last.created_at + source.settings.schedule > now)) return;
        const { job, put } = draft(source, "schedule");
        // Another process may have begun it: then what this one read does not hold.
        const { ok } = await seen.commit({ commitId: randomUUID(), puts: [put], audit: [scanAudit(job, now)] });
        if (ok) wake();
      });
    }
    await jobs.forget(clock.now() - KEPT_MS);
  }

  /** The newest scan of each source that ended, and whether all was read. */
  async function newest() {
    return Promise.all(
      sources.map(async (source) => {
        const last = (await scansOf(store, source, 10)).find((job) => job.state === "succeeded" || job.state === "failed");
        return { source, last, failing: last !== undefined && !isWhole(last) };
      }),
    );
  }
  measure(metrics, newest);
  return {
    sources,
    draft,
    wake,
    check: {
      name: "sources",
      required: false,
      async check() {
        const failing = (await newest()).filter((one) => one.failing).map(({ source }) => source.name);
        if (failing.length > 0) throw new Error(`not read whole: ${failing.join(", ")}`);
      },
    },
    start() {
      if (sources.length === 0) return;
      jobs.start();
      running.push(background.every("scan schedule", LOOK_MS, schedule));
      void background.step("scan schedule", schedule);
    },
    async stop() {
      await Promise.all(running.map((step) => step.stop()));
      if (sources.length > 0) await jobs.stop();
    },
  };
}

/** A scan that saw all that it was asked for. */
function isWhole(job: Job): boolean {
  const result = scanResult(job);
  return result !== undefined && result.failed === 0 && !result.truncated;
}

function scanAudit(job: Job, now: number) {
  const [org = "", ...name] = job.owner.split("|");
  return auditOf(
    { org, user: job.created_by, now },
    { operation: "SCAN", resource: `source:${name.join("|")}`, reasoning: `scan ${job.id} is ${job.state}` },
  );
}

/** What went wrong otherwise is told and logged by its code alone: a text of whoever looked at a value may hold it. */
function withoutValues(error: unknown): CodedError {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  const told = [code, name].find((one) => typeof one === "string" && /^[A-Za-z0-9_]{1,64}$/.test(one));
  return new CodedError("scan_failed", `the scan failed: ${told ?? "an inner fault"}`);
}

function gone(): Error {
  return new Error("the configuration does not have the source any more");
}

/** What is known of the newest scans, read when somebody looks. */
function measure(
  { registry, prefix }: Metrics,
  newest: () => Promise<readonly { readonly source: ScannedSource; readonly last: Job | undefined; readonly failing: boolean }[]>,
): void {
  const registers = [registry];
  // The gauges of one scrape are collected at once: the store is asked for them once.
  let asked: ReturnType<typeof newest> | undefined;
  const seen = () => {
    asked ??= newest()
      .catch(() => [])
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  const collected = (
    name: string,
    help: string,
    labelNames: readonly string[],
    set: (gauge: Gauge, one: Awaited<ReturnType<typeof newest>>[number]) => void,
  ) =>
    new Gauge({
      name: `${prefix}_source_${name}`,
      help,
      labelNames,
      registers,
      async collect() {
        for (const one of await seen()) set(this, one);
      },
    });
  collected("failing", "1 while the newest scan of a source did not read all of it", ["source"], (gauge, { source, failing }) =>
    gauge.set({ source: source.name }, failing ? 1 : 0),
  );
  collected("scanned_at_seconds", "When the newest scan of a source ended", ["source"], (gauge, { source, last }) => {
    if (last?.finished_at != null) gauge.set({ source: source.name }, last.finished_at / 1000);
  });
  collected(
    "schedule_seconds",
    "How long after one scan of a source began the next one begins",
    ["source"],
    (gauge, { source }) => gauge.set({ source: source.name }, source.settings.schedule / 1000),
  );
  collected("assets", "Tables and files of the newest scan of a source", ["source", "outcome"], (gauge, { source, last }) => {
    const result = last === undefined ? undefined : scanResult(last);
    for (const outcome of ["scanned", "unchanged", "failed", "skipped", "dropped"] as const)
      if (result !== undefined) gauge.set({ source: source.name, outcome }, result[outcome]);
  });
}
