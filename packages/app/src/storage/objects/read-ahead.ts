import type { StorageMetrics } from "../metrics.ts";

/**
 * How much may be read ahead of a tenant's readers. Reading ahead is a favour: without room it is left out and the reader
 * waits for each chunk, so that no tenant fills the node's memory.
 */
export interface ReadAhead {
  /** Room for `bytes`, or `undefined` when the tenant has none left. Calling the result gives the room back, once. */
  take(tenant: string, bytes: number): (() => void) | undefined;
}

/** A budget of `limitBytes` for every tenant, default 64 MiB, shown in the advisory metrics. */
export function createReadAhead(
  metrics: Pick<StorageMetrics, "advisoryUsed" | "advisoryLimit">,
  limitBytes = 64 << 20,
): ReadAhead {
  const used = new Map<string, number>();
  const change = (tenant: string, bytes: number) => {
    const now = (used.get(tenant) ?? 0) + bytes;
    used.set(tenant, now);
    metrics.advisoryUsed.set({ tenant, budget: "prefetch_bytes" }, now);
    metrics.advisoryLimit.set({ tenant, budget: "prefetch_bytes" }, limitBytes);
  };
  return {
    take(tenant, bytes) {
      if ((used.get(tenant) ?? 0) + bytes > limitBytes) return undefined;
      change(tenant, bytes);
      let held = true;
      return () => {
        if (held) change(tenant, -bytes);
        held = false;
      };
    },
  };
}
