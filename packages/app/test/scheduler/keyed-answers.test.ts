import { newId, sha256 } from "@seneschal/adapters/log";
import { createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { openReplicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { type Command, quotaMachine, type SubmitAllocation } from "@seneschal/quota";
import { expect, test } from "vitest";

test("a process that stood still while the client was told no elsewhere gives the client nothing when it goes on", async () => {
  const log = createMemoryLog();
  const clock = settableClock(1_700_000_000_000);
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let reached: () => void = () => {};
  const standing = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let stands = false;
  const slowLog = (inner: ReplicatedLog): ReplicatedLog => ({
    ...inner,
    append: async (head, entry) => {
      if (stands) {
        reached();
        await gate;
      }
      return inner.append(head, entry);
    },
  });
  const open = (on: ReplicatedLog) => openReplicated({ log: on, machine: quotaMachine, clock, sha256, newId });
  const [slow, quick] = [await open(slowLog(log.open())), await open(log.open())];
  const limit = (maxNodes: number): Command => ({
    kind: "tenant.update",
    id: newId(),
    by: "root",
    tenant: "physics",
    settings: { maxNodes },
  });
  await quick.propose([{ kind: "tenant.create", id: newId(), by: "root", tenant: "physics", settings: { maxNodes: 3 } }]);
  await slow.read();
  const ask: SubmitAllocation = {
    kind: "allocation.submit",
    id: "key:1",
    by: "ada",
    digest: "d",
    asked: clock.now(),
    allocation: "a",
    request: {
      tenant: "physics",
      user: "ada",
      project: null,
      vcluster: "default",
      entrypoint: "true",
      nodes: 3,
      minNodes: 3,
      walltimeHours: 1,
      lifecycle: "bounded",
      requeuePolicy: "never",
      maxRequeue: 0,
      image: null,
      sensitive: false,
      priorityClass: 5,
      checkpoint: "none",
      gpuType: null,
      gpusPerNode: null,
      datasets: [],
      labels: {},
    },
  };
  stands = true;
  const waiting = slow.propose([ask]);
  await standing;
  await quick.propose([limit(2)]);
  const [told] = await quick.propose([ask]);
  expect(told?.result).toMatchObject({ ok: false, code: "quota_exceeded" });
  await quick.propose([limit(3)]);
  stands = false;
  go();
  const [late] = await waiting;
  expect(late?.result).toMatchObject({ ok: false, code: "quota_exceeded" });
  expect([...(await quick.read()).allocations.keys()]).toEqual([]);
});
