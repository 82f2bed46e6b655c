import type { CommitResult } from "@seneschal/kernel/ports";
import type { PreparedCommit } from "@seneschal/kernel/store";
import { nextTurn } from "./system/next-turn.ts";

const maxCommits = 200;
const maxCharacters = 8 * 1024 * 1024;

interface Waiting {
  readonly commit: PreparedCommit;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: one batch is in flight at a time, everything that arrives meanwhile travels in the next one. A batch holds
 * at most 200 commits and about 8 MiB. When `process` rejects, every commit of that batch fails with its error.
 */
export class CommitQueue {
  readonly #process: (batch: readonly PreparedCommit[]) => Promise<readonly CommitResult[]>;
  #waiting: Waiting[] = [];
  #between: (() => void)[] = [];
  #running = false;

  constructor(process: (batch: readonly PreparedCommit[]) => Promise<readonly CommitResult[]>) {
    this.#process = process;
  }

  add(commit: PreparedCommit): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Calls `look` when no batch is in flight: what it sees at once is the state between two batches. */
  between<T>(look: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(look());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#running) this.#between.push(run);
      else run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Commits of requests that came in together travel together, also the first ones.
      await nextTurn();
      const batch = this.#take();
      try {
        const results = await this.#process(batch.map(({ commit }) => commit));
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as CommitResult);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      for (const look of this.#between.splice(0)) look();
    }
    this.#running = false;
  }

  #take(): Waiting[] {
    let count = 0;
    let characters = 0;
    for (const { commit } of this.#waiting) {
      characters += commit.size;
      if (count > 0 && (count === maxCommits || characters > maxCharacters)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}
