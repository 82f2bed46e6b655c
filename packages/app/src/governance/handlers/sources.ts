import { randomUUID } from "node:crypto";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { isOver, type Job, stepJob } from "@seneschal/core/jobs";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { auditOf } from "../audit/event.ts";
import { lostRace, notFound } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { scanOwner, scanResult, scansOf } from "../sources/scans.ts";
import type { ScannedSource } from "../sources/types.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "listSources" | "startScan" | "listScans" | "getScan" | "cancelScan">;

export const sourceHandlers: Handlers<Routes, GovernanceServices> = {
  async listSources({ scans, store }, { principal }) {
    const own = scans.sources.filter(({ org }) => org === principal.org);
    const sources = await Promise.all(
      own.map(async (source) => {
        const { name, settings } = source;
        const [last] = await scansOf(store, source, 1);
        const next = last === undefined ? null : iso(last.created_at + settings.schedule);
        return { name, kind: settings.kind, last_scan: last === undefined ? null : view(source, last), next_scan_at: next };
      }),
    );
    return { sources, count: sources.length };
  },

  async startScan({ scans, store }, input) {
    const source = sourceOf(scans.sources, input);
    const [last] = await scansOf(store, source, 1);
    if (last !== undefined && !isOver(last))
      throw new CodedError("conflict", "a scan of this source has not ended", { scan: last.id });
    const { job, put } = scans.draft(source, input.principal.id);
    const audit = auditOf(whoOf(input), {
      operation: "SCAN",
      resource: `source:${source.name}`,
      reasoning: `scan ${job.id} asked for`,
    });
    const result = await store.commit({ commitId: randomUUID(), puts: [put], audit: [audit] });
    if (!result.ok) throw lostRace();
    scans.wake();
    return view(source, job);
  },

  async listScans({ scans, store }, input) {
    const source = sourceOf(scans.sources, input);
    const { limit, offset } = input.query;
    const [total, found] = await Promise.all([
      store.count("jobs", "owner", [scanOwner(source)]),
      scansOf(store, source, limit, offset),
    ]);
    return { scans: found.map((job) => view(source, job)), count: found.length, total };
  },

  async getScan({ scans, store }, input) {
    const source = sourceOf(scans.sources, input);
    return view(source, (await scanIn(store, source, input.params.id)).job);
  },

  async cancelScan({ scans, store }, input) {
    const source = sourceOf(scans.sources, input);
    const { job, version } = await scanIn(store, source, input.params.id);
    const after = stepJob(job, { kind: "request-cancel" }, input.now);
    if (after === undefined) throw new CodedError("conflict", "the scan has ended");
    const audit = auditOf(whoOf(input), {
      operation: "SCAN",
      resource: `source:${source.name}`,
      reasoning: `scan ${job.id} is to end`,
    });
    const put = { coll: "jobs", id: job.id, doc: after as unknown as JsonObject, ifVersion: version };
    const result = await store.commit({ commitId: randomUUID(), puts: [put], audit: [audit] });
    if (!result.ok) throw lostRace();
    scans.wake();
    return view(source, after);
  },
};

interface Asked {
  readonly principal: { readonly org: string };
  readonly params: { readonly source: string };
}

/** A source of another organisation is none. */
function sourceOf(sources: readonly ScannedSource[], { principal, params }: Asked): ScannedSource {
  const found = sources.find(({ name, org }) => name === params.source && org === principal.org);
  if (found === undefined) throw notFound(params.source);
  return found;
}

async function scanIn(store: DocumentStore, source: ScannedSource, id: string) {
  const stored = await store.get("jobs", id);
  const job = stored?.doc as unknown as Job | undefined;
  if (stored === undefined || job?.owner !== scanOwner(source)) throw notFound(id);
  return { job, version: stored.version };
}

function view(source: ScannedSource, job: Job) {
  const result = scanResult(job);
  return {
    id: job.id,
    source: source.name,
    state: job.state,
    progress: job.progress,
    created_by: job.created_by,
    created_at: iso(job.created_at),
    started_at: job.started_at === null ? null : iso(job.started_at),
    finished_at: job.finished_at === null ? null : iso(job.finished_at),
    error: job.error?.message ?? null,
    result: result === undefined ? null : { ...result, failures: result.failures.map((failure) => ({ ...failure })) },
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
