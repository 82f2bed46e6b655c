import { CodedError } from "@seneschal/kernel";
import type { StoreErrorCode } from "@seneschal/kernel/ports";
import type { StoreHead } from "@seneschal/kernel/store";
import { markedError, parseMark } from "../migration/mark.ts";
import { bytes, layout } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";
import { upgradeLayout } from "./upgrade-layout.ts";

const format = "2";

/**
 * Makes an empty directory a store, brings one of layout 1 to layout 2, and gives the sequences of what is there.
 *
 * @throws CodedError `store_moved`, `store_incomplete` at a migration's mark; `store_misconfigured` for a directory in another layout or with something else in it.
 */
export async function openLayout(db: LevelDb, path: string): Promise<StoreHead> {
  const found = await upgradeLayout(db, await db.get(bytes(layout.format)));
  if (found === undefined) {
    if ((await db.keys({ limit: 1 }).all()).length > 0)
      throw new CodedError<StoreErrorCode>("store_misconfigured", `${path} holds something that is not a document store`, {
        path,
      });
    const empty: StoreHead = { commit: 0, change: 0, audit: 0 };
    await db.batch(
      [
        { type: "put", key: bytes(layout.format), value: format },
        { type: "put", key: bytes(layout.head), value: JSON.stringify(empty) },
      ],
      { sync: true },
    );
    return empty;
  }
  const mark = parseMark(found);
  if (mark !== undefined) throw markedError("store", mark);
  const head = await db.get(bytes(layout.head));
  if (found !== format || head === undefined)
    throw new CodedError<StoreErrorCode>("store_misconfigured", `${path} has layout ${found}, this version reads ${format}`, {
      path,
    });
  return JSON.parse(head) as StoreHead;
}
