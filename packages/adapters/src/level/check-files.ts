import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkLog } from "./check-log.ts";
import { checkTable } from "./check-table.ts";
import { Damage, Reader } from "./damage.ts";

/** A place in a directory that is not what was written. */
export interface DamagedPlace {
  readonly file: string;
  readonly offset: number;
  readonly what: string;
}

/** What the manifest says the database is made of. */
interface Manifest {
  /** By file number, the size. */
  readonly tables: ReadonlyMap<number, number>;
  /** Journals below are done with, but for `previous`. */
  readonly journal: number;
  readonly previous: number;
}

/** Files as LevelDB names them, by number. */
const tableName = /^(\d+)\.(?:ldb|sst)$/;
const journalName = /^(\d+)\.log$/;

/**
 * Reads all files that a LevelDB directory lives on and gives the places that are damaged: every record and block against its checksum. A
 * journal or manifest that ends torn is whole up to there: so it ends when its process is killed. `live`: a process has the directory open, and what
 * it writes to is left out.
 */
export async function damageOf(directory: string, { live = false } = {}): Promise<readonly DamagedPlace[]> {
  const places: DamagedPlace[] = [];
  const look = async <T>(file: string, check: (bytes: Buffer) => T): Promise<T | undefined> => {
    try {
      return check(await readFile(join(directory, file)));
    } catch (error) {
      const lost = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (lost && live) return undefined;
      if (lost) places.push({ file, offset: 0, what: "the file is missing" });
      else if (error instanceof Damage) places.push({ file, offset: error.offset, what: error.message });
      else if (error instanceof RangeError || (error as Error).message.startsWith("invalid snappy"))
        places.push({ file, offset: 0, what: "a block cannot be read" });
      else throw error;
      return undefined;
    }
  };
  const names = await readdir(directory).catch((): string[] => []);
  const written = names.filter((name) => tableName.test(name) || journalName.test(name) || name.startsWith("MANIFEST-"));
  if (written.length === 0 && !names.includes("CURRENT")) return [];
  const current = await look("CURRENT", currentOf);
  if (current === undefined) return places;
  const manifest = await look(current, manifestOf);
  if (manifest === undefined) return places;

  if (!live) {
    const journals = numbered(names, journalName).filter(([n]) => n >= manifest.journal || n === manifest.previous);
    const newest = journals.at(-1)?.[0];
    if (manifest.journal !== 0 && !journals.some(([n]) => n === manifest.journal))
      places.push({ file: `${String(manifest.journal).padStart(6, "0")}.log`, offset: 0, what: "the file is missing" });
    for (const [number, name] of journals)
      await look(name, (bytes) => {
        const { torn } = checkLog(bytes);
        // The next one is begun when this one is whole.
        if (torn !== undefined && number !== newest) throw new Damage(torn, "the file ends too early");
      });
  }
  const tables = new Map(numbered(names, tableName));
  for (const [number, size] of manifest.tables)
    await look(tables.get(number) ?? `${String(number).padStart(6, "0")}.ldb`, (bytes) => {
      if (bytes.length !== size) throw new Damage(bytes.length, "the file has another length than the manifest says");
      checkTable(bytes);
    });
  return places;
}

/** The files of a kind by number, in their order. */
function numbered(names: readonly string[], kind: RegExp): readonly (readonly [number, string])[] {
  return names.flatMap((name) => (kind.test(name) ? [[Number.parseInt(name, 10), name] as const] : [])).sort(([a], [b]) => a - b);
}

function currentOf(bytes: Buffer): string {
  const [, name] = /^(MANIFEST-\d+)\n$/.exec(bytes.toString("latin1")) ?? [];
  if (name === undefined) throw new Damage(0, "it names no manifest");
  return name;
}

const tags = {
  comparator: 1,
  journal: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deleted: 6,
  added: 7,
  previous: 9,
} as const;

function manifestOf(bytes: Buffer): Manifest {
  const tables = new Map<number, number>();
  let journal = 0;
  let previous = 0;
  for (const record of checkLog(bytes).records) {
    const edit = new Reader(record);
    while (!edit.done) {
      const tag = edit.number();
      if (tag === tags.comparator) edit.text();
      else if (tag === tags.journal) journal = edit.number();
      else if (tag === tags.previous) previous = edit.number();
      else if (tag === tags.nextFile || tag === tags.lastSequence) edit.number();
      else if (tag === tags.compactPointer) {
        edit.number();
        edit.text();
      } else if (tag === tags.deleted) {
        edit.number();
        tables.delete(edit.number());
      } else if (tag === tags.added) {
        edit.number();
        const number = edit.number();
        tables.set(number, edit.number());
        edit.text();
        edit.text();
      } else throw new Damage(0, "the manifest says something unknown");
    }
  }
  return { tables, journal, previous };
}
