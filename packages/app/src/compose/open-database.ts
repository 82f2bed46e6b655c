import { openLevelStore } from "@seneschal/adapters/level";
import type { Logger } from "@seneschal/adapters/logging";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { spanned } from "@seneschal/adapters/telemetry";
import { CodedError } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { StoreSchema } from "@seneschal/kernel/store";
import { makePrivateDirectory } from "./private-files.ts";
import type { DatabaseSettings } from "./storage-settings.ts";

/** Opens the configured store with a service's collections. `fallbackPath` is where `level` goes when no path is configured; `log` is told what takes a while. */
export async function openDatabase(
  settings: DatabaseSettings,
  schema: StoreSchema,
  fallbackPath: string,
  log?: Logger,
): Promise<DocumentStore> {
  return spanned(await openStore(settings, schema, { fallbackPath, log }), "store", ["commit"]);
}

async function openPrivateLevel(schema: StoreSchema, path: string): Promise<DocumentStore> {
  await makePrivateDirectory(path);
  return openLevelStore({ ...schema, path });
}

async function openStore(
  settings: DatabaseSettings,
  schema: StoreSchema,
  { fallbackPath, log }: { readonly fallbackPath: string; readonly log: Logger | undefined },
): Promise<DocumentStore> {
  switch (settings.kind) {
    case "memory":
      return openMemoryStore(schema);
    case "level":
      return openPrivateLevel(schema, settings.path ?? fallbackPath);
    case "postgres": {
      const { url, namespace } = settings;
      if (url === undefined) throw new CodedError("config_invalid", "database.url is missing");
      // Loaded when it is wanted: a client of several megabytes.
      const { openPostgresStore } = await import("@seneschal/adapters/postgres");
      return openPostgresStore({
        ...schema,
        url,
        ...(namespace === undefined ? {} : { namespace }),
        onSharedKey: (shared) =>
          log?.error(shared, "documents share a key of a unique index: a process of the release before wrote one of them"),
        onIndexBuild: (built) => log?.info(built, "indexes are built: the service is ready when they are"),
      });
    }
  }
}
