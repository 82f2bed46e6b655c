import type { WaitingCopy } from "@seneschal/core/storage";
import type { StorageContext } from "../context.ts";

/** How often operators hear of the versions of one bucket that one destination does not take, milliseconds. */
const everyMs = 60_000;

const messages = {
  versions: "versions are not taken where they are to be copied: they stay here alone",
  descriptions: "tags or locks of versions are not taken where their copies are",
} as const;

/** What was not taken since it was told last, with the first of it. */
interface Untaken {
  versions: number;
  first?: Readonly<Record<string, string>>;
  toldAt: number;
}

/** Tells operators of versions that have failed: at once, and then those of one bucket and destination together. */
export interface UntakenVersions {
  add(entry: WaitingCopy, what: keyof typeof messages, error: Error): void;
  /** Emits the events that are due. */
  tell(): void;
}

export function announceUntaken({ clock, emit }: Pick<StorageContext, "clock" | "emit">): UntakenVersions {
  const untaken = new Map<string, Untaken & { readonly what: keyof typeof messages }>();
  return {
    add({ destination, bucket, into, key, version }, what, { message: error }) {
      const id = `${what} ${bucket} ${into}`;
      const one = untaken.get(id) ?? { what, versions: 0, toldAt: Number.NEGATIVE_INFINITY };
      one.versions += 1;
      one.first ??= { destination, bucket, into, key, version, error };
      untaken.set(id, one);
    },
    tell() {
      for (const [id, one] of untaken) {
        if (clock.now() - one.toldAt < everyMs) continue;
        if (one.first === undefined) untaken.delete(id);
        else emit("warning", "node", messages[one.what], { ...one.first, versions: one.versions });
        one.versions = 0;
        delete one.first;
        one.toldAt = clock.now();
      }
    },
  };
}
