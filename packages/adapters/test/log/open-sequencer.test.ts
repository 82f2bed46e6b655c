import { newId, openSequencer, type Sequencer, sha256 } from "@seneschal/adapters/log";
import { createMemoryLease, createMemoryLog, settableClock } from "@seneschal/adapters/memory";
import { openReplicated, type Replicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { describe, expect, test } from "vitest";
import { type AllotmentCommand, allotment, take } from "./allotment.ts";
import { leaseLaws } from "./lease-laws.ts";

type Replica = Replicated<typeof allotment.initial, AllotmentCommand, unknown>;
type Fault = "none" | "unreachable" | "reply lost";

describe("memory lease", () => {
  const clock = settableClock(0);
  const lease = createMemoryLease(clock);
  leaseLaws(
    async (self) => lease.candidate(self),
    async (ttlMs) => clock.advance(ttlMs),
  );
});

describe("sequencer", () => {
  /** Processes a and b on one log; what one forwards reaches the other unless `fault` says otherwise. */
  const twoProcesses = async (wrap: (log: ReplicatedLog) => ReplicatedLog = (log) => log) => {
    const clock = settableClock(0);
    const shared = createMemoryLog();
    const lease = createMemoryLease(clock);
    const replicas: Record<string, Replica> = {};
    const sequencers: Record<string, Sequencer<AllotmentCommand, unknown>> = {};
    const network: { fault: Fault; forwarded: number } = { fault: "none", forwarded: 0 };
    for (const id of ["a", "b"]) {
      const log = id === "a" ? wrap(shared.open()) : shared.open();
      const replicated: Replica = await openReplicated({ log, machine: allotment, clock, sha256, newId });
      const self = { id, address: `https://${id}` };
      replicas[id] = replicated;
      sequencers[id] = await openSequencer({
        replicated,
        self,
        lease: lease.candidate(self),
        every: () => ({ stop: async () => undefined }),
        forward: async (to, commands) => {
          network.forwarded += 1;
          if (network.fault === "unreachable") throw new Error("connection refused");
          const answers = await (replicas[to.id] as Replica).propose(commands);
          if (network.fault === "reply lost") throw new Error("connection reset");
          return answers;
        },
      });
    }
    const close = async (): Promise<void> => {
      for (const sequencer of Object.values(sequencers)) await sequencer.close();
    };
    return {
      a: sequencers["a"] as Sequencer<AllotmentCommand, unknown>,
      b: sequencers["b"] as Sequencer<AllotmentCommand, unknown>,
      replicas,
      network,
      shared,
      close,
    };
  };

  test("the holder proposes for everyone; without it everyone proposes directly", async () => {
    const { a, b, network, close } = await twoProcesses();
    expect([a.holder()?.id, b.holder()?.id]).toEqual(["a", "a"]);
    expect((await a.propose([take("1", "t", 1)]))[0]?.result).toBe("ok");
    expect(network.forwarded).toBe(0);
    expect((await b.propose([take("2", "t", 1)]))[0]?.result).toBe("ok");
    expect(network.forwarded).toBe(1);
    network.fault = "unreachable";
    expect((await b.propose([take("3", "t", 9)]))[0]?.result).toBe("rejected: current 2 requested 9 limit 10");
    expect(b.holder()).toBeUndefined();
    expect((await b.propose([take("4", "t", 8)]))[0]?.result).toBe("ok");
    expect(network.forwarded).toBe(2);
    await close();
  });

  test("a lost reply of the sequencer is answered by the same ids, not applied twice", async () => {
    const { b, network, replicas, shared, close } = await twoProcesses();
    network.fault = "reply lost";
    const [answer] = await b.propose([take("1", "t", 6)]);
    expect([answer?.result, answer?.accepted]).toEqual(["ok", false]);
    expect((await (replicas["b"] as Replica).read()).inner.used).toEqual({ t: 6 });
    expect((await shared.open().read(0, { limit: 9 })).entries.length).toBe(1);
    await close();
  });

  test("a sequencer that was held while another process committed cannot commit on what it saw", async () => {
    let hold: Promise<void> = Promise.resolve();
    let reached: () => void = () => {};
    const { a, b, network, close } = await twoProcesses((log) => ({
      ...log,
      append: async (head, entry) => {
        reached();
        await hold;
        return log.append(head, entry);
      },
    }));
    let release: () => void = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const held = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const pending = a.propose([take("a1", "t", 6)]);
    await held;
    network.fault = "unreachable";
    expect((await b.propose([take("b1", "t", 6)]))[0]?.result).toBe("ok");
    release();
    expect((await pending)[0]?.result).toBe("rejected: current 6 requested 6 limit 10");
    await close();
  });
});
