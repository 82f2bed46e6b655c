import { CodedError } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import type pg from "pg";

/** Throws CodedError `store_misconfigured` when the server could lose or garble what it acknowledges. */
export async function checkServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('server_encoding', 'fsync', 'synchronous_commit')",
  );
  const setting = (name: string): string | undefined => rows.find((row) => row.name === name)?.setting;
  if (setting("server_encoding") !== "UTF8")
    throw misconfigured(`the database has encoding ${setting("server_encoding")}; it must be UTF8`);
  if (setting("fsync") !== "on") throw misconfigured("the server runs with fsync off: it may lose what it acknowledged");
  if (setting("synchronous_commit") === "off") throw misconfigured("synchronous_commit is off: acknowledged commits may be lost");
}

function misconfigured(message: string): CodedError<StoreErrorCode> {
  return new CodedError("store_misconfigured", message);
}
