import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";
import type { Mode } from "../enums.ts";
import type { Federation } from "../federation.ts";
import { milliseconds } from "../time.ts";

/**
 * The keys of a workspace that another instance owns are good while the federation is, and while that instance is heard now and then:
 * an owner that ended the federation and could not say so ends the access all the same. `lease`: so long may it be silent, milliseconds, 0 without an
 * end. What came by a bundle into an air gap is asked for no sign of life. Throws `FEDERATION_INACTIVE`.
 *
 * @example
 * ```ts
 * import { requireHeard } from "@seneschal/core/keys";
 * const federation = { status: "active", last_heard_at: "2026-01-01T00:00:00.000Z" } as const;
 * requireHeard(federation, { mode: "standard", lease: 86_400_000 }, Date.UTC(2026, 0, 1, 23)); // within the day
 * ```
 */
export function requireHeard(
  federation: Pick<Federation, "status" | "last_heard_at"> | undefined,
  of: { readonly mode: Mode; readonly lease: number },
  now: number,
): void {
  checkArgument("of", of, "object");
  checkArgument("now", now, "number");
  if (federation?.status !== "active")
    throw refusal("FEDERATION_INACTIVE", "the federation with the workspace's owner is not active");
  if (of.mode === "airgap" || of.lease === 0) return;
  const { last_heard_at } = federation;
  if (now - (last_heard_at === null ? 0 : milliseconds(last_heard_at)) <= of.lease) return;
  const reason = "the instance of the workspace's owner was not heard for too long";
  throw refusal("FEDERATION_INACTIVE", reason, { last_heard_at });
}
