import { openLevelLogMigratable, openLevelStoreMigratable } from "@seneschal/adapters/level";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { CodedError } from "@seneschal/kernel";
import type { Migratable } from "@seneschal/kernel/ports";
import { etcdOptions } from "../../platform/index.ts";
import { makePrivateDirectory } from "../private-files.ts";
import type { ProcessConfig } from "../process-settings.ts";
import { type MigrationPart, type Place, placeText, planMigration } from "./plan-migration.ts";
import { abortTransfer, type MigratedTable, type MigrationEnds, nextStep, transfer } from "./transfer.ts";

/** What became of one part. */
export interface MigratedPart extends Pick<MigrationPart, "service" | "what"> {
  /** The places, in words. */
  readonly from: string;
  readonly to: string;
  /** `was_moved`: an earlier run had finished it. `not_aborted`: there was nothing unfinished. */
  readonly state: "moved" | "was_moved" | "aborted" | "not_aborted";
  /** Of what was moved, by table. */
  readonly tables?: Readonly<Record<string, MigratedTable>>;
}

export interface MigrateOptions {
  /** So many rows travel at once; default 200. */
  readonly page?: number;
  readonly progress?: (part: MigrationPart, table: string, rows: number) => void;
}

/**
 * Moves what the services of one configuration keep to where another one keeps it: LevelDB, PostgreSQL, and of logs etcd. What was cut off goes on when it is run
 * again. Nothing is begun unless every part can be; see `transfer`.
 *
 * Throws `config_invalid`; `migration_refused`; `store_locked` where a directory is in use; what the engines throw.
 */
export async function migrate(
  now: ProcessConfig,
  next: ProcessConfig,
  { page, progress }: MigrateOptions = {},
): Promise<readonly MigratedPart[]> {
  const parts = planMigration(now, next);
  for (const part of parts) await withEnds(part, nextStep);
  return eachOf(parts, (part, ends) =>
    transfer(ends, {
      id: Buffer.from(systemRandom(16)).toString("hex"),
      now: systemClock.now(),
      ...(page === undefined ? {} : { page }),
      progress: (table, rows) => progress?.(part, table, rows),
    }).then((tables) => (tables === undefined ? { state: "was_moved" } : { state: "moved", tables })),
  );
}

/** Undoes what a `migrate` of the same configurations has begun and not finished. Throws `migration_refused` where there is nothing of that. */
export async function abortMigration(now: ProcessConfig, next: ProcessConfig): Promise<readonly MigratedPart[]> {
  let nothing: unknown;
  const parts = await eachOf(planMigration(now, next), async (_, ends) => {
    try {
      await abortTransfer(ends);
      return { state: "aborted" };
    } catch (error) {
      if (!(error instanceof CodedError) || error.details["reason"] !== "nothing_to_abort") throw error;
      nothing = error;
      return { state: "not_aborted" };
    }
  });
  if (parts.every(({ state }) => state === "not_aborted")) throw nothing;
  return parts;
}

async function eachOf(
  parts: readonly MigrationPart[],
  work: (part: MigrationPart, ends: MigrationEnds) => Promise<Pick<MigratedPart, "state" | "tables">>,
): Promise<readonly MigratedPart[]> {
  const done: MigratedPart[] = [];
  for (const part of parts) {
    const { service, what, from, to } = part;
    done.push({ service, what, from: placeText(from), to: placeText(to), ...(await withEnds(part, (ends) => work(part, ends))) });
  }
  return done;
}

async function withEnds<T>({ what, from, to }: MigrationPart, work: (ends: MigrationEnds) => Promise<T>): Promise<T> {
  const source = await open(what, from);
  try {
    const target = await open(what, to);
    try {
      return await work({ source, target, from: placeText(from), to: placeText(to) });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function open(what: MigrationPart["what"], place: Place): Promise<Migratable> {
  switch (place.kind) {
    case "level":
      await makePrivateDirectory(place.path);
      return what === "log" ? openLevelLogMigratable(place) : openLevelStoreMigratable(place);
    case "postgres": {
      // The clients of databases are loaded when they are wanted: each takes several megabytes.
      const { openPostgresLogMigratable, openPostgresStoreMigratable } = await import("@seneschal/adapters/postgres");
      return what === "log" ? openPostgresLogMigratable({ ...place, name: "scheduler" }) : openPostgresStoreMigratable(place);
    }
    case "etcd": {
      const { openEtcdLogMigratable } = await import("@seneschal/adapters/etcd");
      return openEtcdLogMigratable({ ...etcdOptions(place.settings), prefix: place.settings.prefix });
    }
  }
}
