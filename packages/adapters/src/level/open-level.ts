import { CodedError } from "@seneschal/core";
import type { StoreErrorCode } from "@seneschal/core/ports";
import { Level } from "level";

/** A LevelDB with binary keys and text values. */
export type LevelDb = Level<Buffer, string>;

/**
 * Opens or creates a LevelDB directory. One process at a time.
 *
 * @throws CodedError `store_locked` when another process has it open, `store_unavailable` when it cannot be opened.
 */
export async function openLevel(path: string): Promise<LevelDb> {
  const db: LevelDb = new Level(path, { keyEncoding: "buffer", valueEncoding: "utf8" });
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
