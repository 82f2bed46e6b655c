import type { CompiledSchema } from "@seneschal/kernel/store";
import { AbsentDocuments } from "./absent-documents.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { type KeptValue, KeptValues } from "./kept-values.ts";
import { layout, rangeOf } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";

/**
 * What the one process that writes knows of a key without asking the engine. Asking costs more than the time it takes: LevelDB
 * counts every look-up that comes past a file in vain, and merges a file after some hundred of them, whether it is time
 * or not. For look-ups of new ids that was a third of all the processor's time.
 */
export class KnownKeys {
  readonly #values = new KeptValues();
  readonly #documents: AbsentDocuments;
  readonly #owners: AbsentOwners;

  private constructor(documents: AbsentDocuments, owners: AbsentOwners) {
    this.#documents = documents;
    this.#owners = owners;
  }

  /** `complete` ends when all is known that can be; it ends early, without an error, when the database is closed. */
  static async of(db: LevelDb, schema: CompiledSchema): Promise<{ readonly known: KnownKeys; readonly complete: Promise<void> }> {
    const greatest = new Map<string, string>();
    const uniques: string[] = [];
    for (const { name, uniques: indexes } of schema.collections.values()) {
      const place = layout.documents(name);
      const [last] = await db.keys({ ...rangeOf(place), reverse: true, limit: 1 }).all();
      greatest.set(place, last?.toString("latin1") ?? place);
      for (const index of indexes) uniques.push(layout.index(name, index));
    }
    const owners = new AbsentOwners(uniques);
    const complete = owners.read(db).catch(() => undefined);
    return { known: new KnownKeys(new AbsentDocuments(greatest), owners), complete };
  }

  /** What is committed under the key of a document or stream; `undefined` when only the engine knows. */
  get(key: string): KeptValue | undefined {
    const value = this.#values.get(key);
    return value === undefined && this.#documents.has(key) ? null : value;
  }

  /** The same of a unique key. */
  owner(key: string): null | undefined {
    return this.#owners.has(key) ? null : undefined;
  }

  /** The engine was asked for the key of a document or stream, and answered at once. */
  read(key: string, value: KeptValue): void {
    this.#values.read(key, value);
  }

  /** A write of the key of a document or stream begins. */
  writing(key: string): void {
    this.#documents.writing(key);
    this.#values.writing(key);
  }

  /** A write of an index entry begins: the place of the index, and the rest of the key. */
  writingEntry(index: string, key: string): void {
    this.#owners.writing(index, key);
  }

  /** The write of the key of a document or stream is committed. */
  wrote(key: string, value: KeptValue): void {
    this.#values.wrote(key, value);
  }

  /** What was being written is unknown: no value is kept any more. */
  clear(): void {
    this.#values.clear();
  }
}
