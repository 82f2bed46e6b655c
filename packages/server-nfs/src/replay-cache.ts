import { createHash } from "node:crypto";

/** Answers to calls that must not be carried out twice, kept for a client that sends them again over a new connection. */
export interface ReplayCache {
  /** The answer to the same record from the same address, or what `run` answers. */
  answer(address: string, record: Uint8Array, run: () => Promise<readonly Uint8Array[]>): Promise<readonly Uint8Array[]>;
}

/** Keeps the newest 1024 answers. A record is the same with the same transaction id, credential and arguments. */
export function createReplayCache(limit = 1024): ReplayCache {
  const kept = new Map<string, Promise<readonly Uint8Array[]>>();
  return {
    answer(address, record, run) {
      const key = `${address} ${createHash("sha256").update(record).digest("base64")}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const made = run();
      kept.set(key, made);
      made.catch(() => kept.delete(key));
      if (kept.size > limit) kept.delete(kept.keys().next().value as string);
      return made;
    },
  };
}
