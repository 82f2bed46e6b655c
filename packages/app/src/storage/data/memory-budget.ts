import { storageError } from "@seneschal/core/storage";

/** Bytes of a chunk that is sealed and cut into fragments, or put together again, for each byte of it. */
const codingFactor = 3;

/**
 * The memory that bodies of clients may take, over all of them, in two shares. `take` is for bytes that come from or go to a
 * client; `code` is for what sealing and fragments take beside them. Who codes waits for nobody who takes, so that both go on.
 */
export interface MemoryBudget {
  /**
   * Room for bytes of a body, until the result is called. A body that begins waits its turn for a while, behind those that are
   * under way (`begun`), which hold nothing while they wait. Throws `MemoryExhausted`.
   */
  take(bytes: number, begun?: boolean): Promise<() => void>;
  /** Room that is free and that nobody waits for, or nothing. */
  spare(bytes: number): (() => void) | undefined;
  /** Seals or opens a chunk of so many bytes once there is room for it. */
  code<T>(bytes: number, work: () => Promise<T>): Promise<T>;
  readonly limitBytes: number;
  usedBytes(): number;
  waiting(): number;
}

export interface MemoryBudgetOptions {
  readonly limitBytes?: number;
  /** How long a body may wait before its first byte; one under way waits six times as long. */
  readonly waitMs?: number;
  /** How many may wait before their first byte. */
  readonly maxWaiting?: number;
  readonly onChange?: (usedBytes: number, waiting: number) => void;
  readonly onRefused?: () => void;
}

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Room of a fixed size, given in order: first to those under way, then to those that begin. */
interface Share {
  readonly queues: { readonly begun: Waiter[]; readonly fresh: Waiter[] };
  readonly used: number;
  /** Room at once, unless somebody waits for it. */
  now(bytes: number, begun: boolean): (() => void) | undefined;
  /** Room in its turn; `stop` ends the wait. */
  wait(bytes: number, begun: boolean): { readonly room: Promise<() => void>; stop(): void };
}

/** By default 256 MiB, a wait of 10 s and 256 that wait. A body larger than the budget takes all of it. */
export function createMemoryBudget(options: MemoryBudgetOptions = {}): MemoryBudget {
  const { limitBytes = 256 << 20, waitMs = 10_000, maxWaiting = 256, onChange, onRefused } = options;
  const changed = (): void => onChange?.(bodies.used + coding.used, waiting());
  const codingBytes = Math.floor(limitBytes / 4);
  const bodies = createShare(limitBytes - codingBytes, changed);
  const coding = createShare(codingBytes, changed);
  const waiting = (): number => bodies.queues.begun.length + bodies.queues.fresh.length;
  const refuse = () => {
    onRefused?.();
    return storageError("MemoryExhausted", "the node's memory for bodies is in use, send the request again later");
  };
  return {
    limitBytes,
    usedBytes: () => bodies.used + coding.used,
    waiting,
    spare: (bytes) => bodies.now(bytes, false),
    async take(bytes, begun = false) {
      const free = bodies.now(bytes, begun);
      if (free !== undefined) return free;
      if (!begun && bodies.queues.fresh.length >= maxWaiting) throw refuse();
      const turn = bodies.wait(bytes, begun);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), begun ? 6 * waitMs : waitMs);
      });
      const room = await Promise.race([turn.room, late]);
      clearTimeout(timer);
      if (room !== undefined) return room;
      turn.stop();
      throw refuse();
    },
    async code(bytes, work) {
      const needed = codingFactor * bytes;
      const release = coding.now(needed, false) ?? (await coding.wait(needed, false).room);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

function createShare(size: number, changed: () => void): Share {
  const queues = { begun: [] as Waiter[], fresh: [] as Waiter[] };
  let used = 0;
  const fits = (bytes: number): boolean => used + bytes <= size;
  /** INVARIANT: what is taken is given back once. */
  const hold = (bytes: number): (() => void) => {
    used += bytes;
    changed();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      used -= bytes;
      next();
      changed();
    };
  };
  const next = (): void => {
    for (;;) {
      const queue = queues.begun.length > 0 ? queues.begun : queues.fresh;
      const first = queue[0];
      if (first === undefined || !fits(first.bytes)) return;
      queue.shift();
      first.admit();
    }
  };
  return {
    queues,
    get used() {
      return used;
    },
    now(wanted, begun) {
      const bytes = Math.min(wanted, size);
      const behind = queues.begun.length + (begun ? 0 : queues.fresh.length);
      return behind === 0 && fits(bytes) ? hold(bytes) : undefined;
    },
    wait(wanted, begun) {
      const bytes = Math.min(wanted, size);
      const queue = begun ? queues.begun : queues.fresh;
      let admit: (room: () => void) => void = () => undefined;
      const room = new Promise<() => void>((resolve) => {
        admit = resolve;
      });
      const waiter: Waiter = { bytes, admit: () => admit(hold(bytes)) };
      queue.push(waiter);
      changed();
      return {
        room,
        stop() {
          const at = queue.indexOf(waiter);
          if (at >= 0) queue.splice(at, 1);
          // It may have been given room in the moment of its end.
          else void room.then((release) => release());
          next();
          changed();
        },
      };
    },
  };
}
