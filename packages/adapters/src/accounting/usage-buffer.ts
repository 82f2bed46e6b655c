import { checkOptions } from "@seneschal/kernel";
import type { UsageEvent } from "@seneschal/kernel/ports";
import { type LevelDb, openLevel } from "../level/open-level.ts";

/** Usage events that the accounting system has not taken yet, oldest first. */
export interface UsageBuffer {
  add(events: readonly UsageEvent[]): Promise<void>;
  /** Hands the oldest events to `push`, in batches, and forgets each batch that it took. A failure keeps the rest. */
  flush(push: (events: readonly UsageEvent[]) => Promise<void>): Promise<void>;
  size(): number;
  close(): Promise<void>;
}

export interface UsageBufferOptions {
  /** Directory; without one the buffer is in memory. */
  readonly path?: string;
  /** The oldest go when there are more; default 100,000 on disk, 10,000 in memory. */
  readonly limit?: number;
  readonly onDrop?: (count: number) => void;
}

const BATCH = 500;

/** Opens a buffer. On disk it survives `kill -9`; a batch whose answer was lost is sent again, under the same event ids. */
export async function openUsageBuffer(options: UsageBufferOptions): Promise<UsageBuffer> {
  checkOptions("options", options, { path: "string?", limit: "number?", onDrop: "function?" });
  return options.path === undefined ? inMemory(options) : onDisk(options.path, options);
}

function inMemory({ limit = 10_000, onDrop }: UsageBufferOptions): UsageBuffer {
  let events: UsageEvent[] = [];
  return {
    async add(more) {
      events.push(...more);
      const over = events.length - limit;
      if (over <= 0) return;
      events = events.slice(over);
      onDrop?.(over);
    },
    async flush(push) {
      while (events.length > 0) {
        const batch = events.slice(0, BATCH);
        await push(batch);
        const sent = new Set(batch);
        events = events.filter((event) => !sent.has(event));
      }
    },
    size: () => events.length,
    close: async () => undefined,
  };
}

async function onDisk(path: string, { limit = 100_000, onDrop }: UsageBufferOptions): Promise<UsageBuffer> {
  const db: LevelDb = await openLevel(path);
  const keys = await db.keys().all();
  let first = keys.length === 0 ? 0 : numberOf(keys[0] as Buffer);
  let next = keys.length === 0 ? 0 : numberOf(keys.at(-1) as Buffer) + 1;
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
  const forget = async (through: number): Promise<void> => {
    const gone = Array.from({ length: through - first }, (_, i) => ({ type: "del" as const, key: keyOf(first + i) }));
    await db.batch(gone, { sync: true });
    first = through;
  };
  return {
    add: (events) =>
      inTurn(async () => {
        await db.batch(
          events.map((event, i) => ({ type: "put" as const, key: keyOf(next + i), value: JSON.stringify(event) })),
          { sync: true },
        );
        next += events.length;
        const over = next - first - limit;
        if (over <= 0) return;
        await forget(first + over);
        onDrop?.(over);
      }),
    async flush(push) {
      for (;;) {
        const batch = await inTurn(() => db.iterator({ gte: keyOf(first), limit: BATCH }).all());
        const last = batch.at(-1);
        if (last === undefined) return;
        await push(batch.map(([, value]) => JSON.parse(value) as UsageEvent));
        await inTurn(async () => {
          const through = numberOf(last[0]) + 1;
          if (through > first) await forget(through);
        });
      }
    },
    size: () => next - first,
    async close() {
      await turn;
      await db.close();
    },
  };
}

function keyOf(n: number): Buffer {
  const key = Buffer.alloc(6);
  key.writeUIntBE(n, 0, 6);
  return key;
}

function numberOf(key: Buffer): number {
  return key.readUIntBE(0, 6);
}
