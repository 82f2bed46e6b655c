import { openLevelLogMigratable, openLevelStoreMigratable } from "@seneschal/adapters/level";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { MigratedKeys } from "@seneschal/adapters/vault";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import type { Migratable } from "@seneschal/kernel/ports";
import { etcdOptions } from "../../platform/index.ts";
import { abortServiceVault, type BringShares, migrateServiceVault, serverName, type VaultService } from "../operate-vault.ts";
import { makePrivateDirectory } from "../private-files.ts";
import type { ProcessConfig, ServiceName } from "../process-settings.ts";
import { databasePlace, type MigrationPart, type Place, placeText, planMigration } from "./plan-migration.ts";
import { abortTransfer, type MigratedTable, type MigrationEnds, nextStep, transfer } from "./transfer.ts";

/** What became of one part. */
export interface MigratedPart {
  readonly service: ServiceName;
  readonly what: "database" | "log" | "vault";
  /** The places, in words. */
  readonly from: string;
  readonly to: string;
  /** `was_moved`: an earlier run had finished it. `not_aborted`: there was nothing unfinished. */
  readonly state: "moved" | "was_moved" | "aborted" | "not_aborted";
  /** Of what was moved, by table. */
  readonly tables?: Readonly<Record<string, MigratedTable>>;
  /** Of a vault. */
  readonly keys?: MigratedKeys;
}

export interface MigrateOptions {
  /** Whom to ask for the unseal key shares of an embedded vault; default: nobody. */
  readonly bring?: BringShares;
  readonly progress?: (part: MigrationPart, table: string, rows: number) => void;
}

const nobody: BringShares = () =>
  Promise.reject(new CodedError("vault_sealed", "the vault is sealed, and nobody here brings its shares"));

/**
 * Moves what the services of one configuration keep to where another one keeps it: LevelDB, PostgreSQL, of logs etcd, and the keys of embedded vaults to a vault
 * server. What was cut off goes on when it is run again. Nothing is begun unless every store and log can be; see `transfer`, `migrateServiceVault`.
 *
 * Throws `config_invalid`; `migration_refused`; `store_locked` where a directory is in use; what the engines and vaults throw.
 */
export async function migrate(
  now: ProcessConfig,
  next: ProcessConfig,
  options: MigrateOptions = {},
): Promise<readonly MigratedPart[]> {
  checkOptions("options", options, { bring: "function?", progress: "function?" });
  checkArgument("now", now, "object");
  checkArgument("next", next, "object");
  const { bring = nobody, progress } = options;
  const { parts, vaults } = planMigration(now, next);
  for (const part of parts) await withEnds(part, nextStep);
  for (const service of vaults) await refuseInUse(service, now);
  const done: MigratedPart[] = [];
  for (const service of vaults) {
    const keys = await migrateServiceVault(now, service, next, bring);
    done.push({ ...vaultPart(service, next), ...(keys === undefined ? { state: "was_moved" } : { state: "moved", keys }) });
  }
  for (const part of parts) {
    const tables = await withEnds(part, (ends) =>
      transfer(ends, {
        id: Buffer.from(systemRandom(16)).toString("hex"),
        now: systemClock.now(),
        progress: (table, rows) => progress?.(part, table, rows),
      }),
    );
    done.push({ ...placesOf(part), ...(tables === undefined ? { state: "was_moved" } : { state: "moved", tables }) });
  }
  return done;
}

/** Undoes what a `migrate` of the same configurations has begun and not finished. Throws `migration_refused` where there is nothing of that. */
export async function abortMigration(now: ProcessConfig, next: ProcessConfig): Promise<readonly MigratedPart[]> {
  checkArgument("now", now, "object");
  checkArgument("next", next, "object");
  const { parts, vaults } = planMigration(now, next);
  const done: MigratedPart[] = [];
  for (const service of vaults)
    done.push({ ...vaultPart(service, next), state: (await abortServiceVault(now, service)) ? "aborted" : "not_aborted" });
  for (const part of parts) {
    const state = await withEnds(part, abortTransfer).then(
      () => "aborted" as const,
      (error: unknown) => {
        if (error instanceof CodedError && error.details["reason"] === "nothing_to_abort") return "not_aborted" as const;
        throw error;
      },
    );
    done.push({ ...placesOf(part), state });
  }
  if (done.every(({ state }) => state === "not_aborted"))
    throw new CodedError("migration_refused", "no unfinished migration was found: what is complete is migrated back instead", {
      reason: "nothing_to_abort",
    });
  return done;
}

/** The keys of a vault that a running service could change meanwhile are not moved. A directory is locked. */
async function refuseInUse(service: VaultService, now: ProcessConfig): Promise<void> {
  const place = databasePlace(service, now);
  if (place.kind !== "postgres") return;
  const store = await open("database", place);
  const openedBy = await store.openedBy().finally(() => store.close());
  if (openedBy.length > 0)
    throw new CodedError(
      "migration_refused",
      `services that use ${placeText(place)} must be stopped first: ${openedBy.join(", ")}`,
      {
        reason: "in_use",
        from: placeText(place),
      },
    );
}

function placesOf({ service, what, from, to }: MigrationPart): Omit<MigratedPart, "state"> {
  return { service, what, from: placeText(from), to: placeText(to) };
}

function vaultPart(service: VaultService, next: ProcessConfig): Omit<MigratedPart, "state"> {
  return { service, what: "vault", from: "the embedded vault", to: serverName(next[service].vault) };
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
    case "level": {
      const { kind: _kind, ...at } = place;
      await makePrivateDirectory(at.path);
      return what === "log" ? openLevelLogMigratable(at) : openLevelStoreMigratable(at);
    }
    case "postgres": {
      // The clients of databases are loaded when they are wanted: each takes several megabytes.
      const { openPostgresLogMigratable, openPostgresStoreMigratable } = await import("@seneschal/adapters/postgres");
      const { kind: _kind, ...at } = place;
      return what === "log" ? openPostgresLogMigratable({ ...at, name: "scheduler" }) : openPostgresStoreMigratable(at);
    }
    case "etcd": {
      const { openEtcdLogMigratable } = await import("@seneschal/adapters/etcd");
      return openEtcdLogMigratable({ ...etcdOptions(place.settings), prefix: place.settings.prefix });
    }
  }
}
