import { checkArgument } from "@seneschal/kernel";

/** What a scrub covers. */
export type ScrubScope =
  | { readonly kind: "cluster" }
  | { readonly kind: "pool"; readonly id: string }
  | { readonly kind: "device"; readonly id: string };

/** `cluster`, `pool:fast`, `device:d1`: the key under which two scrubs are the same. */
export function scopeKey(scope: ScrubScope): string {
  checkArgument("scope", scope, "object");
  return scope.kind === "cluster" ? "cluster" : `${scope.kind}:${scope.id}`;
}

/** True when the chunk has a fragment in scope. */
export function inScope(scope: ScrubScope, chunk: { readonly pool: string; readonly devices: readonly string[] }): boolean {
  checkArgument("scope", scope, "object");
  checkArgument("chunk", chunk, "object");
  switch (scope.kind) {
    case "cluster":
      return true;
    case "pool":
      return chunk.pool === scope.id;
    case "device":
      return chunk.devices.includes(scope.id);
    default:
      return scope satisfies never;
  }
}

/**
 * When the next periodic scrub is due. Only periodic runs count, so a manual one does not shift the schedule; a node
 * that was down past the time scrubs at once.
 */
export function nextScrubAt(lastPeriodicAt: number, intervalHours: number): number {
  return lastPeriodicAt + intervalHours * 3_600_000;
}

/** Whether an orphaned extent may go: 24 h after its first sighting, which is persisted and not restarted by a pass. */
export function orphanExpired(firstSeenAt: number, now: number): boolean {
  return now - firstSeenAt >= 24 * 3_600_000;
}
