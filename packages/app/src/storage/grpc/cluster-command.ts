import { deviceClasses, tuningTable } from "@seneschal/core/storage";
import * as z from "zod";

const id = z.string().min(1).max(128);
const durability = z.union([
  z.strictObject({ kind: z.literal("ec"), data: z.int(), parity: z.int() }),
  z.strictObject({ kind: z.literal("replication"), copies: z.int() }),
]);
const kind = <K extends string>(name: K) => ({ kind: z.literal(name) });

/**
 * A command that may come from outside: what operators decide. What nodes decide from their own measurements (devices, leaders,
 * migrations) is not among them. The state machine judges the values.
 */
export const clusterCommand = z.discriminatedUnion("kind", [
  z.strictObject({ ...kind("maintenance.set"), enabled: z.boolean(), shard: id.optional() }),
  z.strictObject({
    ...kind("tuning.set"),
    values: z.partialRecord(z.enum(Object.keys(tuningTable) as [keyof typeof tuningTable]), z.number()),
  }),
  z.strictObject({ ...kind("node.state"), id, state: z.enum(["Active", "Draining", "Evicted"]) }),
  z.strictObject({ ...kind("pool.create"), id, class: z.enum(deviceClasses), durability: durability.optional() }),
  z.strictObject({ ...kind("shard.split"), id }),
  z.strictObject({ ...kind("shard.migrate"), id, to: id, from: id.optional() }),
]);
