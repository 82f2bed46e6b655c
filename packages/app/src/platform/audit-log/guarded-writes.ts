import type { Collection } from "../collection.ts";

/** Writes that are committed together, if what was read before them is still so. */
export interface GuardedWrites {
  get<T extends object>(from: Collection<T>, id: string): Promise<T | undefined>;
  put<T extends object>(into: Collection<T>, id: string, doc: T): void;
}
