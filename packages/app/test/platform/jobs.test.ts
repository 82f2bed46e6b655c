import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, seededRandom, settableClock } from "@seneschal/adapters/memory";
import type { Job } from "@seneschal/core/jobs";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { describe, expect, test } from "vitest";
import { type JobRunner, type Jobs, jobCollections, openJobs } from "../../src/platform/index.ts";
import { strictBackground } from "./strict-background.ts";

const log = openLogger({ level: "silent" });
const background = strictBackground(log);
const request = { kind: "count", params: { to: 3 }, created_by: "ada", owner: "o1" };

function world(kinds: Readonly<Record<string, JobRunner>>, more: object = {}) {
  const store = openMemoryStore({ collections: jobCollections });
  const clock = settableClock(1_700_000_000_000);
  let seed = 0;
  const process = (): Jobs =>
    openJobs({ store, clock, random: seededRandom(++seed), log, background, kinds, leaseMs: 30_000, ...more });
  return { store, clock, process, jobs: process() };
}

/** A promise to be settled by the test. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const count: JobRunner = async ({ params, checkpoint, progress }) => {
  const to = params["to"] as number;
  for (let i = (checkpoint?.["at"] as number | undefined) ?? 0; i < to; i++) await progress((i + 1) / to, { at: i + 1 });
  return { counted: to };
};

describe("jobs", () => {
  test("a job runs to its result", async () => {
    const { jobs } = world({ count });
    const { id } = await jobs.submit(request);
    expect(await jobs.get(id)).toMatchObject({ state: "queued", progress: 0, result: null });
    await jobs.drain();
    expect(await jobs.get(id)).toMatchObject({ state: "succeeded", progress: 1, result: { counted: 3 }, error: null });
  });

  test("jobs that ended before a time are forgotten, a hundred of them at once; those that are not over, and later ones, never", async () => {
    const held = gate();
    const { jobs, clock, store } = world({ count, wait: () => held.opened.then(() => ({})) }, { concurrency: 200 });
    const waiting = await jobs.submit({ ...request, kind: "wait" });
    for (let i = 0; i < 103; i++) await jobs.submit(request);
    await jobs.tick();
    await expect.poll(() => store.count("jobs", "state", ["succeeded"])).toBe(103);
    const before = clock.now() + 1;
    clock.advance(1000);
    const later = await jobs.submit(request);
    await jobs.tick();
    await expect.poll(() => store.count("jobs", "state", ["succeeded"])).toBe(104);
    await jobs.forget(before);
    expect(await store.count("jobs", "created", [])).toBe(5);
    await jobs.forget(before);
    const left = await jobs.list({ limit: 10 });
    expect(left.map(({ id }) => id).sort()).toEqual([waiting.id, later.id].sort());
    held.open();
    await jobs.stop();
  });

  test("a failure keeps its code; an unknown error is opaque", async () => {
    const { jobs } = world({
      coded: async () => {
        throw new CodedError("device_full", "no room left");
      },
      bug: async () => {
        throw new Error("hunter2");
      },
    });
    const coded = await jobs.submit({ ...request, kind: "coded" });
    const bug = await jobs.submit({ ...request, kind: "bug" });
    const unknown = await jobs.submit({ ...request, kind: "nobody-knows" });
    await jobs.drain();
    expect(await jobs.get(coded.id)).toMatchObject({ state: "failed", error: { code: "device_full", message: "no room left" } });
    expect(await jobs.get(bug.id)).toMatchObject({
      state: "failed",
      error: { code: "internal_error", message: "internal error" },
    });
    expect(await jobs.get(unknown.id)).toMatchObject({ state: "failed", error: { code: "job_unknown" } });
  });

  test("a queued job is cancelled at once, a running one when its work hears of it, a finished one never", async () => {
    const started = gate();
    const { jobs } = world({
      wait: async ({ signal }) => {
        started.open();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return {};
      },
    });
    const running = await jobs.submit({ ...request, kind: "wait" });
    await jobs.tick();
    await started.opened;
    const queued = await jobs.submit({ ...request, kind: "wait" });
    expect((await jobs.cancel(queued.id)).state).toBe("cancelled");
    expect(await jobs.cancel(running.id)).toMatchObject({ state: "running", cancel_requested: true });
    await jobs.drain();
    expect((await jobs.get(running.id))?.state).toBe("cancelled");
    await expect(jobs.cancel(running.id)).rejects.toMatchObject({ code: "conflict" });
    await expect(jobs.cancel("none")).rejects.toMatchObject({ code: "not_found" });
  });

  test("work that a process leaves behind goes on from its checkpoint in the next one", async () => {
    const half = gate();
    const seen: (JsonObject | null)[] = [];
    const { process, jobs } = world({
      slow: async ({ checkpoint, progress, signal }) => {
        seen.push(checkpoint);
        if (checkpoint !== null) return { from: checkpoint };
        await progress(0.5, { at: "half" });
        half.open();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return {};
      },
    });
    const { id } = await jobs.submit({ ...request, kind: "slow" });
    await jobs.tick();
    await half.opened;
    await jobs.stop();
    expect(await jobs.get(id)).toMatchObject({ state: "running", progress: 0.5, checkpoint: { at: "half" } });

    const next = process();
    await next.drain();
    expect(await next.get(id)).toMatchObject({ state: "succeeded", result: { from: { at: "half" } } });
    expect(seen).toEqual([null, { at: "half" }]);
  });

  test("one process runs jobs at a time; after its lease ran out another takes over and the first cannot write", async () => {
    const started = gate();
    const goOn = gate();
    let runs = 0;
    const { clock, process, jobs } = world({
      slow: async ({ progress }) => {
        if (++runs > 1) return { by: "second" };
        started.open();
        await goOn.opened;
        await progress(0.9, { by: "first" });
        return { by: "first" };
      },
    });
    const { id } = await jobs.submit({ ...request, kind: "slow" });
    await jobs.tick();
    await started.opened;

    const second = process();
    await second.drain();
    expect(runs).toBe(1);

    clock.set(clock.now() + 30_001);
    await second.drain();
    goOn.open();
    await jobs.drain();
    expect(await jobs.get(id)).toMatchObject({ state: "succeeded", result: { by: "second" }, checkpoint: null });
  });

  test("a job that gets nowhere is given up", async () => {
    const { clock, store, process } = world({ crash: async () => new Promise<JsonObject>(() => {}) }, { maxAttempts: 2 });
    const { id } = await process().submit({ ...request, kind: "crash" });
    // Each process begins the job and dies without a word.
    for (let i = 0; i < 3; i++) {
      await process().tick();
      await untilAttempt(store, id, i + 1);
      clock.set(clock.now() + 30_001);
    }
    await process().drain();
    expect(await process().get(id)).toMatchObject({ state: "failed", error: { code: "job_abandoned" } });
  });

  test("a job can be part of a commit of its service, and its changes are audited with it", async () => {
    const { store, jobs } = world(
      { count },
      { audit: (job: Job) => [{ stream: job.owner, event: { type: `job.${job.state}` } }] },
    );
    const { job, put } = jobs.draft(request);
    await store.commit({ commitId: "c1", puts: [put], audit: [{ stream: "o1", event: { type: "asked" } }] });
    await jobs.drain();
    expect((await jobs.get(job.id))?.state).toBe("succeeded");
    const events = (await store.auditRead(0, 100)).map(({ event }) => event["type"]);
    expect(events).toEqual(["asked", "job.running", "job.succeeded"]);
  });

  test("lists are filtered and newest first", async () => {
    const { clock, jobs } = world({ count });
    const ids: string[] = [];
    for (const owner of ["o1", "o2", "o1"]) {
      clock.set(clock.now() + 1);
      ids.push((await jobs.submit({ ...request, owner })).id);
    }
    await jobs.cancel(ids[2] ?? "");
    const list = async (filter: object) => (await jobs.list({ limit: 10, ...filter })).map((job) => ids.indexOf(job.id));
    expect(await list({})).toEqual([2, 1, 0]);
    expect(await list({ owner: "o1" })).toEqual([2, 0]);
    expect(await list({ owner: "o1", state: "queued" })).toEqual([0]);
    expect(await list({ state: "queued" })).toEqual([1, 0]);
    expect(await list({ limit: 1, offset: 1 })).toEqual([1]);
  });
});

async function untilAttempt(store: DocumentStore, id: string, attempts: number): Promise<void> {
  while (((await store.get("jobs", id))?.doc["attempts"] as number) < attempts) await new Promise(setImmediate);
}
