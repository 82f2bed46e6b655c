import type { MaintenanceParts } from "./parts.ts";

/** Chunks looked at in one round. */
const roundLimit = 64;

/** Gives chunks the fragments that found no device when they were written. Tries again each round while devices are away. */
export async function repairUnderReplicated({ context, repair }: MaintenanceParts): Promise<void> {
  const page = await context.store.list("storage_chunks", "under_replicated", [], { limit: roundLimit });
  await Promise.all(page.items.map(({ id }) => repair.check(id, { trigger: "under_replication", repair: true })));
}
