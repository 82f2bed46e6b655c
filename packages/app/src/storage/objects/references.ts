import { randomUUID } from "node:crypto";
import { type Body, type Mentions, referencedBy, type Trash, trashOf } from "@seneschal/core/storage";
import type { Put } from "@seneschal/kernel/ports";
import type { StorageContext } from "../context.ts";
import type { ChunkDoc } from "../schema.ts";

/** The record that lets garbage collection take something back. */
export function trashPut({ clock }: Pick<StorageContext, "clock">, body: Trash): Put {
  return { coll: "storage_trash", id: randomUUID(), doc: { body, due: clock.now() }, ifVersion: 0 };
}

/** The same of a body that is replaced or deleted, where there is something to take back. */
export function trashPuts(context: Pick<StorageContext, "clock">, body: Body): readonly Put[] {
  const trash = trashOf(body);
  return trash === undefined ? [] : [trashPut(context, trash)];
}

/** What gives chunks so many more references, or less (`-1`). Throws `ChunkLost` for more of one that is not there any more. */
export async function referencePuts(
  { store }: Pick<StorageContext, "store">,
  mentions: Mentions,
  sign: 1 | -1 = 1,
): Promise<readonly Put[]> {
  const ids = [...mentions.keys()];
  const found = await store.getMany("storage_chunks", ids);
  return ids.flatMap((id, i): Put[] => {
    const doc = referencedBy(found[i]?.doc as ChunkDoc | undefined, id, sign * (mentions.get(id) ?? 0));
    return doc === undefined ? [] : [{ coll: "storage_chunks", id, doc, ifVersion: found[i]?.version ?? 0 }];
  });
}
