import { randomUUID } from "node:crypto";
import type { Put } from "@seneschal/kernel/ports";
import type { ObjectDoc } from "../documents.ts";
import type { ObjectServices } from "./services.ts";

/** The record that lets garbage collection take back what a replaced or deleted object held. */
export function trashPuts({ context }: ObjectServices, object: ObjectDoc | undefined): readonly Put[] {
  if (object === undefined || object.body.kind === "inline" || object.body.kind === "none") return [];
  const doc = { body: object.body, due: context.clock.now() };
  return [{ coll: "storage_trash", id: randomUUID(), doc, ifVersion: 0 }];
}
