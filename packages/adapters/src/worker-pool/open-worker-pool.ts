import { Worker } from "node:worker_threads";
import { CodedError, checkOptions } from "@seneschal/kernel";
import type { WorkerPool, WorkerPoolErrorCode, WorkerPoolState } from "@seneschal/kernel/ports";
import { leavesOne } from "./leaves-one.ts";
import { BEGUN, GENERATION, type SentMessage, type SentOutcome, type SentTask, type WorkerStart } from "./messages.ts";
import { OwnerCosts } from "./owner-costs.ts";
import { OwnerQueues } from "./owner-queues.ts";
import { StartBackoff } from "./start-backoff.ts";

export interface WorkerPoolOptions {
  /** In metrics and errors. */
  readonly name: string;
  /** The module of a worker: it calls `serveTasks`. Without an ending it has that of this package's own modules: `.js`, or `.ts` where they run from source. */
  readonly module: URL;
  /** For `workerSettings` there. Plain data. */
  readonly settings?: unknown;
  /** At most. The first starts with the first task, a further one when a task has waited for a while. */
  readonly workers: number;
  /** Milliseconds that one task may take. */
  readonly deadline: number;
  /** Tasks of one owner that may wait. */
  readonly waitingPerOwner: number;
  /** Tasks that may wait in all; default 16 owners' worth. */
  readonly waiting?: number;
  /** Tasks of one message: more than one for short tasks, as sending costs as much as they do. Default 1. */
  readonly batch?: number;
  /** Messages that a worker has in hand; with two it never waits for the next. Default 1. */
  readonly inHand?: number;
  /** Milliseconds without work after which a worker is ended; absent: it stays. */
  readonly idle?: number;
  /** MiB that the heap of a worker may have; one that needs more ends, and its task with it. Absent: what Node gives. */
  readonly heap?: number;
}

interface Task {
  readonly number: number;
  readonly owner: string;
  readonly input: unknown;
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
  /** How often it was sent. */
  sent: number;
}

interface Thread {
  readonly worker: Worker;
  readonly shared: Int32Array;
  /** Its module is loaded: until then it is given nothing, which a running thread might do first. */
  ready: boolean;
  /** Sent and not yet answered, in the order of sending; a message's tasks together. */
  inHand: Task[];
  /** The last task of each message that is not answered. */
  messages: number[];
  /** The task begun last at the last look, and for how many looks it has been that. */
  seen: number;
  looks: number;
  /** Looks without work. */
  idle: number;
  cause: unknown;
  late: boolean;
}

/** Milliseconds between looks at what the workers do. Looks are counted, not time: a process that was stopped for a while blames nobody. */
const LOOK = 50;
/** So many looks at one task, and what is behind it is taken back. */
const SLOW = 2;
/** A task that was sent so often and never answered is not sent again, even if another one was begun when the worker ended. */
const MOST_SENDS = 3;
/** Looks that a worker may take to load its module. */
const STARTING = 600;
const LARGEST = 0x7fffffff;

/**
 * A pool of worker threads. A task that is not done at the deadline is ended with its thread, as neither WebAssembly nor JavaScript can be interrupted; what else the thread
 * had in hand is done by another one. Threads hold the process only while they have work.
 *
 * Owners take turns, those first who cost less lately, and what is behind a task that takes long is taken back and done by another thread: a task may be done twice, so it
 * has no effect but its answer. Neither one owner nor all those together who cost much have the last thread.
 *
 * @example
 * ```ts
 * import { isMainThread } from "node:worker_threads";
 * import { openWorkerPool, serveTasks } from "@seneschal/adapters/worker-pool";
 * if (isMainThread) {
 *   const module = new URL(import.meta.url); // or a file that only serves
 *   const pool = openWorkerPool<number, number>({ name: "squares", module, workers: 2, deadline: 1000, waitingPerOwner: 100 });
 *   console.log(await pool.run(7, "acme")); // 49
 *   await pool.close();
 * } else serveTasks((n: number) => n * n);
 * ```
 */
export function openWorkerPool<Input, Output>(options: WorkerPoolOptions): WorkerPool<Input, Output> {
  checkOptions("options", options, {
    name: "string",
    module: "object",
    settings: "any",
    workers: "number",
    deadline: "number",
    waitingPerOwner: "number",
    waiting: "number?",
    batch: "number?",
    inHand: "number?",
    idle: "number?",
    heap: "number?",
  });
  const {
    name,
    module,
    settings,
    workers,
    deadline,
    waitingPerOwner,
    batch = 1,
    inHand: messagesInHand = 1,
    idle,
    heap,
  } = options;
  const most = options.waiting ?? waitingPerOwner * 16;
  // Where this runs from source, so do the workers.
  const file = /\.[cm]?[jt]s$/.test(module.pathname)
    ? module
    : new URL(`${module.href}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`);
  const patience = Math.max(1, Math.ceil(deadline / LOOK));
  const queues = new OwnerQueues<Task>();
  const costs = new OwnerCosts();
  const backoff = new StartBackoff();
  let threads: Thread[] = [];
  let number = 0;
  let due = false;
  let closed = false;
  let looking: NodeJS.Timeout | undefined;
  const counts = { done: 0, deadlines: 0, replaced: 0, refused: 0, unstarted: 0 };
  /** Looks since something was done, while something waits. */
  let still = 0;

  const failure = (code: WorkerPoolErrorCode, message: string, cause?: unknown): CodedError<WorkerPoolErrorCode> =>
    new CodedError(code, message, code === "service_unavailable" ? { retry_after: Math.ceil(deadline / 1000) } : {}, cause);

  /** What waits keeps the process, as what is in hand does. */
  const hold = (): void => {
    looking ??= setInterval(look, LOOK);
    looking.ref();
  };
  const putBack = (task: Task): void => {
    queues.putBack(task);
    hold();
  };

  const start = (): Thread => {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const workerData: WorkerStart = { settings, shared };
    const worker = new Worker(file, {
      workerData,
      ...(heap !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heap } }),
    });
    const thread: Thread = {
      worker,
      shared,
      ready: false,
      inHand: [],
      messages: [],
      seen: 0,
      looks: 0,
      idle: 0,
      cause: undefined,
      late: false,
    };
    worker
      .on("message", (outcomes: readonly SentOutcome[]) => take(thread, outcomes))
      .on("error", (error) => {
        thread.cause = error;
      })
      .on("exit", () => ended(thread));
    worker.unref();
    threads.push(thread);
    return thread;
  };

  const take = (thread: Thread, outcomes: readonly SentOutcome[]): void => {
    still = 0;
    if (!thread.ready) backoff.started();
    thread.looks = 0;
    thread.ready = true;
    for (const [at, output, failed] of outcomes) {
      const [task] = thread.inHand;
      if (task?.number !== at) {
        if (thread.inHand.some((other) => other.number === at))
          throw new Error(`${name}: a worker answered task ${at} out of order`);
        // It was taken back, too late: another thread answers it.
        continue;
      }
      thread.inHand.shift();
      counts.done++;
      if (thread.messages[0] === at) thread.messages.shift();
      if (failed === undefined) task.resolve(output as never);
      else task.reject(failure("worker_failed", `${name} failed`, failed));
    }
    if (thread.inHand.length === 0) thread.worker.unref();
    send();
  };

  const ended = (thread: Thread): void => {
    threads = threads.filter((other) => other !== thread);
    const tasks = thread.inHand;
    thread.inHand = [];
    if (tasks.length > 0) counts.replaced++;
    const guilty = Atomics.load(thread.shared, BEGUN);
    if (!thread.ready && !closed) unstarted(thread.cause);
    for (const task of tasks.reverse()) {
      if (closed || !thread.ready) task.reject(failure("worker_failed", `${name} failed`, closed ? "closed" : thread.cause));
      else if (task.number !== guilty && task.sent < MOST_SENDS) putBack(task);
      else if (thread.late) {
        counts.deadlines++;
        task.reject(failure("deadline_exceeded", `${name} took longer than ${deadline} ms`));
      } else task.reject(failure("worker_failed", `${name} failed`, thread.cause));
    }
    send();
  };

  /** One could not be started: the next one could not either, and has to wait. Where none runs, whoever waits is told. */
  const unstarted = (cause: unknown): void => {
    counts.unstarted++;
    backoff.failed(cause);
    looking ??= setInterval(look, LOOK);
    if (threads.some(({ ready }) => ready)) return;
    for (const task of queues.take(Number.POSITIVE_INFINITY, () => true))
      task.reject(failure("worker_failed", `${name} failed`, cause));
  };

  const ownersOf = ({ inHand }: Thread): readonly string[] => inHand.map(({ owner }) => owner);
  const mayUse = (owner: string, thread?: Thread): boolean => {
    const others = threads.filter((other) => other !== thread).map(ownersOf);
    return leavesOne(owner, thread === undefined ? [] : ownersOf(thread), others, workers, costs);
  };

  const send = (): void => {
    due = false;
    while (queues.size > 0 && !closed) {
      const free = threads.filter(
        ({ ready, messages, looks, late }) => ready && messages.length < messagesInHand && looks < SLOW && !late,
      );
      const [thread] = free.sort((one, other) => one.messages.length - other.messages.length);
      if (thread === undefined) {
        if (threads.length === 0) begin();
        return;
      }
      const tasks = queues.take(batch, (owner) => mayUse(owner, thread), costs);
      if (tasks.length === 0) return;
      try {
        for (const task of tasks) task.sent++;
        const message: SentMessage = {
          generation: Atomics.load(thread.shared, GENERATION),
          tasks: tasks.map(({ number: at, input }): SentTask => [at, input]),
        };
        thread.worker.postMessage(message);
        thread.worker.ref();
        thread.inHand.push(...tasks);
        thread.messages.push(tasks.at(-1)?.number ?? 0);
        thread.idle = 0;
      } catch (error) {
        // What cannot be sent costs these tasks; the service stays.
        for (const task of tasks) task.reject(failure("worker_failed", `${name} failed`, error));
      }
    }
  };

  /** Starts a thread. Where that cannot be, or could not lately and no other runs, whoever waits is told. */
  const begin = (): void => {
    if (!backoff.mayStart) {
      if (threads.length > 0) return;
      for (const task of queues.take(Number.POSITIVE_INFINITY, () => true))
        task.reject(failure("worker_failed", `${name} failed`, backoff.cause));
      return;
    }
    try {
      start();
    } catch (error) {
      unstarted(error);
    }
  };

  /** Takes back what a thread has in hand beside the task that it is slow with, what it did and has not answered included. */
  const takeBack = (thread: Thread, begun: number): void => {
    const others = thread.inHand.filter((task) => task.number !== begun);
    if (others.length === 0) return;
    Atomics.add(thread.shared, GENERATION, 1);
    thread.inHand = thread.inHand.filter((task) => task.number === begun);
    thread.messages = thread.inHand.map((task) => task.number);
    for (const task of others.reverse()) {
      task.sent--;
      putBack(task);
    }
  };

  const look = (): void => {
    still = queues.size > 0 && threads.some(({ ready }) => ready) ? still + 1 : 0;
    costs.look();
    backoff.look();
    for (const thread of threads) {
      const begun = Atomics.load(thread.shared, BEGUN);
      const working = thread.inHand.length > 0 || !thread.ready;
      thread.looks = working && begun === thread.seen ? thread.looks + 1 : 0;
      thread.seen = begun;
      const doing = thread.inHand.find((task) => task.number === begun);
      // Only long tasks cost: of short ones however many keep nobody waiting, as owners take turns.
      if (doing !== undefined && thread.looks > 0) costs.add(doing.owner);
      if (doing !== undefined && thread.looks >= SLOW) takeBack(thread, begun);
      thread.idle = working ? 0 : thread.idle + 1;
      const over = thread.looks > (thread.ready ? patience : STARTING) || (idle !== undefined && thread.idle > idle / LOOK);
      if (over && !thread.late) {
        thread.late = true;
        void thread.worker.terminate();
      }
    }
    // What has waited for a look gets a further thread, and while one takes long there is another for whoever comes.
    const wanted =
      threads.some(({ looks, ready }) => looks > 0 && ready) || (still > 0 && queues.hasOwner((owner) => mayUse(owner)));
    if (wanted && threads.filter(({ late }) => !late).length < workers) begin();
    send();
    if (queues.size === 0) looking?.unref();
    if (threads.length === 0 && queues.size === 0 && backoff.mayStart) {
      clearInterval(looking);
      looking = undefined;
    }
  };

  return {
    run(input, owner) {
      if (closed) return Promise.reject(failure("worker_failed", `${name} failed`, "closed"));
      if (queues.waiting(owner) >= waitingPerOwner || queues.size >= most) {
        counts.refused++;
        return Promise.reject(failure("service_unavailable", `too much work of ${name} is waiting: try again`));
      }
      return new Promise<Output>((resolve, reject) => {
        number = number === LARGEST ? 1 : number + 1;
        queues.add({ number, owner, input, resolve, reject, sent: 0 });
        hold();
        if (due) return;
        due = true;
        // What comes in one turn of the event loop goes as one message.
        setImmediate(send);
      });
    },
    state(): WorkerPoolState {
      const busy = threads.filter(({ inHand }) => inHand.length > 0).length;
      return {
        name,
        workers: threads.length,
        busy,
        waiting: queues.size,
        ...counts,
        stuck: still > patience + 1,
        failing: backoff.failing,
      };
    },
    async close() {
      closed = true;
      clearInterval(looking);
      for (const task of queues.take(Number.POSITIVE_INFINITY, () => true))
        task.reject(failure("worker_failed", `${name} failed`, "closed"));
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}
