import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterEach, describe, expect, test } from "vitest";
import { collectGarbage } from "../../src/storage/jobs/collect-garbage.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { type ClusterRig, openCluster } from "./cluster-rig.ts";
import { servers, startStorage } from "./harness.ts";
import { collect, operator, pattern } from "./rig.ts";

/** A store that lets a test step in right before a listing. */
function interruptible(store: DocumentStore) {
  const steps = new Map<string, () => Promise<unknown>>();
  const list: DocumentStore["list"] = async (coll, index, prefix, options) => {
    const step = steps.get(`${coll}/${index}`);
    steps.delete(`${coll}/${index}`);
    await step?.();
    return store.list(coll, index, prefix, options);
  };
  /** Once, before the next listing. */
  const before = (coll: string, index: string, step: () => Promise<unknown>) => void steps.set(`${coll}/${index}`, step);
  return { store: { ...store, list }, before };
}

function memoryTarget(): BackupTarget {
  const files = new Map<string, Buffer>();
  return {
    async write(id, name, source) {
      files.set(`${id}/${name}`, await collect(source));
    },
    async *read(id, name) {
      const found = files.get(`${id}/${name}`);
      if (found === undefined) throw new CodedError("backup_file_absent", `${id} has no ${name}`);
      yield found;
    },
    list: async () => [...new Set([...files.keys()].map((k) => k.split("/")[0] ?? ""))],
    async remove(id) {
      for (const key of files.keys()) if (key.startsWith(`${id}/`)) files.delete(key);
    },
  };
}

const running = { code: "backup_running" };

let rig: ClusterRig;

/** Two nodes on one store, an object of one chunk; `during` runs once the backup has listed objects and not yet chunks. */
async function backUp(during: () => Promise<unknown>, early?: (before: ReturnType<typeof interruptible>["before"]) => void) {
  const { store, before } = interruptible(openMemoryStore(storageSchema));
  rig = await openCluster(["n1", "n2"], { store, backups: { fs: memoryTarget() }, plaintext: true });
  await rig.put("n1", "kept", pattern(50_000));
  before("storage_chunks", "by_id", during);
  early?.(before);
  const job = await rig.node("n1").backup({ include_data: true }, operator);
  await rig.node("n1").jobs.drain();
  return rig.node("n1").jobs.get(job.id);
}
const drop = () => deleteObject(rig.node("n2").objects, "alpha", "docs", "kept");
const runs = async (id: string) => (await rig.node(id).metrics.gcRuns.get()).values[0]?.value ?? 0;
const whole = { state: "succeeded", result: { chunk_count: 1 } };

describe("while a backup reads on one node", () => {
  afterEach(() => rig.dispose());

  test("no collection begins on any node: not the periodic one, not one by hand; afterwards both do", async () => {
    const made = await backUp(async () => {
      await drop();
      rig.clock.set(rig.clock.now() + 600_000);
      await rig.rounds(1);
      for (const id of ["n1", "n2"]) {
        expect(await runs(id)).toBe(0);
        await expect(rig.node(id).collectGarbage(operator)).rejects.toMatchObject({ code: "AlreadyExists" });
        await expect(collectGarbage(rig.node(id).parts)).rejects.toMatchObject(running);
      }
    });
    expect(made).toMatchObject(whole);
    await rig.rounds(1);
    expect((await runs("n1")) + (await runs("n2"))).toBe(1);
    expect(await rig.places()).toEqual([]);
    const by = await rig.node("n2").collectGarbage(operator);
    await rig.node("n1").jobs.drain();
    expect(await rig.node("n2").jobs.get(by.id)).toMatchObject({ state: "succeeded" });
  });
  test("a collection that another node had begun before deletes nothing more", async () => {
    let collection: Promise<unknown> = Promise.resolve();
    let release = (): void => undefined;
    const goOn = new Promise<void>((resolve) => {
      release = resolve;
    });
    const made = await backUp(
      async () => {
        await drop();
        release();
        expect(await collection).toMatchObject(running);
      },
      (before) => {
        // It waits before its first listing, with its right to delete already in hand.
        before("storage_staged", "by_time", () => goOn);
        collection = collectGarbage(rig.node("n2").parts).catch((error: unknown) => error);
      },
    );
    expect(made).toMatchObject(whole);
    expect(await rig.places()).toHaveLength(1);
    expect(await collectGarbage(rig.node("n2").parts)).toMatchObject({ chunks: 1 });
  });
  test("another backup does not: the job's record says which one reads", async () => {
    const made = await backUp(async () => {
      await expect(rig.node("n2").backup({}, operator)).rejects.toMatchObject({ code: "AlreadyExists" });
    });
    expect(made).toMatchObject(whole);
  });
});

test("a backup that is whole stays, whatever keeps older ones from being removed, and that is told", async () => {
  const target = memoryTarget();
  rig = await openCluster(["n1"], {
    backups: { fs: { ...target, list: () => Promise.reject(new Error("connection reset")) } },
    plaintext: true,
  });
  const job = await rig.node("n1").backup({ include_data: true, retention_days: 7 }, operator);
  await rig.node("n1").jobs.drain();
  expect(await rig.node("n1").jobs.get(job.id)).toMatchObject({ state: "succeeded" });
  expect(await target.list()).toHaveLength(1);
  const told = rig.node("n1").events.query({ severity: "error", since: 0, limit: 100 });
  expect(told.map(({ message }) => message)).toContain("expired backups could not be removed");
  await rig.dispose();
});

test.each(servers)(
  "over HTTP on %s a collection is 409 with the backup's job while it runs, and taken after it",
  async (_, serve) => {
    let arrived: (reply: ServerResponse) => void = () => undefined;
    const asked = new Promise<ServerResponse>((resolve) => {
      arrived = resolve;
    });
    // Where the backup goes: it takes its time, and then refuses.
    const destination = createServer((request, reply) => {
      request.resume();
      arrived(reply);
    });
    await new Promise<void>((resolve) => void destination.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(destination.address() as AddressInfo).port}`;
    const h = await startStorage(serve, { backup: { s3: { endpoint, bucket: "b", access_key: "a", secret_key: "s" } } });
    try {
      const { job_id } = (await h.call("root", "POST", "/ui/api/ops/backup")).body;
      const reply = await asked;
      expect(await h.call("root", "POST", "/ui/api/ops/gc")).toMatchObject({
        status: 409,
        body: { error: { code: "CONFLICT", message: expect.stringContaining("backup"), details: { job_id } } },
      });
      destination.removeAllListeners("request").on("request", (request, next: ServerResponse) => {
        request.resume();
        next.writeHead(403).end();
      });
      reply.writeHead(403).end();
      await h.storage.node.jobs.drain();
      expect((await h.call("root", "GET", `/ui/api/jobs/${job_id}`)).body.state).toBe("failed");
      expect((await h.call("root", "POST", "/ui/api/ops/gc")).status).toBe(200);
    } finally {
      destination.closeAllConnections();
      destination.close();
      await h.stop();
    }
  },
);
