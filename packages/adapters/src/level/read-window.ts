import { commitIdWindow } from "@seneschal/kernel/store";
import { CommitWindow } from "../commit-window.ts";
import { layout, rangeOf } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";

/** The window of commit ids as the disk holds it. */
export async function readWindow(db: LevelDb): Promise<CommitWindow> {
  const window = new CommitWindow(commitIdWindow);
  for await (const [key, value] of db.iterator(rangeOf(layout.batches)))
    window.add(Number(key.subarray(layout.batches.length).toString("latin1")), JSON.parse(value) as string[]);
  return window;
}
