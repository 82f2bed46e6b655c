import { CodedError } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import type { ClassicLevel } from "classic-level";
import { backEnd } from "../back-end.ts";
import { type DamagedPlace, damageOf } from "./check-files.ts";
import { holdFiles } from "./hold-files.ts";
import { lowerMerges } from "./lower-merges.ts";

const classicLevel = backEnd<typeof import("classic-level")>("classic-level");

/** A LevelDB with binary keys and text values. */
export type LevelDb = ClassicLevel<Buffer, string>;

/**
 * Bytes that are gathered in memory before they are written as a file; LevelDB holds up to three times as much. With its own 4 MiB there is a file every second under load, and each costs
 * a merge with the ones before, during which requests share the processor with it. With 32 MiB there are fewer merges, but longer ones.
 */
const writeBufferSize = 16 * 1024 * 1024;

/** Both ends of a range that no key lies in. */
const nothing = Buffer.alloc(1);

/** So few keys are read faster here than by another thread, which costs five times the read. */
const fewKeys = 16;

/** Those of every key and value. Options that lack them are cloned by each call. */
const encodings = { keyEncoding: "buffer", valueEncoding: "utf8" } as const;

/** The values of keys, in order. */
export async function readValues(
  db: LevelDb,
  keys: readonly Buffer[],
  reading?: { readonly snapshot: ReturnType<LevelDb["snapshot"]> },
): Promise<readonly (string | undefined)[]> {
  const options = reading === undefined ? undefined : { snapshot: reading.snapshot, ...encodings };
  if (keys.length > fewKeys) return db.getMany([...keys], options ?? encodings);
  return keys.map((key) => (options === undefined ? db.getSync(key) : db.getSync(key, options)));
}

/** What must be closed before its database. */
interface Resource {
  close(): Promise<void>;
}

/**
 * Keeps its open iterators and batches in a list instead of abstract-level's set. The set is rewritten at each second entry, and V8 chains each table of a set to the next: garbage in
 * one that is dead but old keeps the iterators and batches of all later calls until the next full collection.
 */
let ListingLevel: (new (path: string, options: object) => LevelDb) | undefined;

function listingLevel(): NonNullable<typeof ListingLevel> {
  const { ClassicLevel } = classicLevel();
  return class extends ClassicLevel<Buffer, string> {
    readonly #open: Resource[] = [];
    #opened: Promise<void> | undefined;
    #release: (() => Promise<void>) | undefined;

    override attachResource(resource: Resource): void {
      this.#open.push(resource);
    }

    override detachResource(resource: Resource): void {
      const at = this.#open.indexOf(resource);
      if (at < 0) return;
      const last = this.#open.pop() as Resource;
      if (last !== resource) this.#open[at] = last;
    }

    /** Once: abstract-level calls it as well, soon after the database is made. */
    override open(): Promise<void> {
      this.#opened ??= this.#openAndHold();
      return this.#opened;
    }

    async #openAndHold(): Promise<void> {
      await lowerMerges(
        () => super.open(),
        () => this.compactRange(nothing, nothing),
      );
      this.#release = await holdFiles(this.location);
    }

    override async close(): Promise<void> {
      await this.#release?.();
      while (this.#open.length > 0) await Promise.all(this.#open.map((resource) => resource.close()));
      await super.close();
    }
  };
}

/** So often damage is looked at again before it is believed: another process may have the directory open, and its files come and go. */
const looks = 3;

/**
 * Opens or creates a LevelDB directory. One process at a time. All of it is checked first: LevelDB would leave out what it cannot read,
 * and go on without it.
 *
 * @throws CodedError `store_damaged`, with the places, when the files are not what was written: they stay as they are;
 *   `store_locked` when another process has the directory open, `store_unavailable` when it cannot be opened.
 */
export async function openLevel(path: string): Promise<LevelDb> {
  ListingLevel ??= listingLevel();
  let places = await damageOf(path);
  for (let look = 1; look < looks && places.length > 0; look += 1) places = await damageOf(path);
  if (places.length > 0)
    throw new CodedError<StoreErrorCode>(
      "store_damaged",
      `the data directory ${path} is damaged: ${places.map(placeText).join("; ")}. Nothing was changed; restore it from a backup`,
      { path, places },
    );
  const db = new ListingLevel(path, { ...encodings, writeBufferSize });
  try {
    await db.open();
    return db;
  } catch (error) {
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    if (cause?.code === "LEVEL_LOCKED")
      throw new CodedError<StoreErrorCode>(
        "store_locked",
        `the data directory ${path} is in use by another process; stop it or choose another directory`,
        { path },
        error,
      );
    throw new CodedError<StoreErrorCode>(
      "store_unavailable",
      `cannot open the data directory ${path}: ${cause?.message ?? (error as Error).message}`,
      { path },
      error,
    );
  }
}

/**
 * Rewrites every table, so that nothing deleted or overwritten before is left in any file. A table is only rewritten when one above it
 * overlaps it: markers of deletion at both ends of all keys do.
 */
export async function expungeLevel(db: LevelDb): Promise<void> {
  const [first, last] = [Buffer.alloc(1), Buffer.alloc(1, 0xff)];
  await db.compactRange(first, last);
  await db.batch().del(first).del(last).write({ sync: true });
  await db.compactRange(first, last);
}

/** What is damaged in the directory of an open database, but for the journal that is being written. */
export async function inspectLevel({ location }: LevelDb): Promise<readonly string[]> {
  return (await damageOf(location, { live: true })).map(placeText);
}

function placeText({ file, offset, what }: DamagedPlace): string {
  return `${file} at ${offset}: ${what}`;
}
