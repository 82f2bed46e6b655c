import { createHmac } from "node:crypto";
import type { Hooks, RateVerdict } from "@seneschal/contract";
import { clientKey } from "./client-key.ts";
import { type Rate, SlidingWindow, type Take } from "./sliding-window.ts";

/** The limits of a service. */
export interface RateLimits {
  /** Per principal. */
  readonly authenticated: Rate;
  /** Per address, for callers without a good credential. */
  readonly anonymous: Rate;
  /** Operation ids that are counted per address and path besides, such as enrolment. */
  readonly guarded?: { readonly routes: readonly string[]; readonly rate: Rate };
  /** Operation ids that are not counted, such as health. */
  readonly exempt?: readonly string[];
}

/**
 * The rate limit hook: `authenticated` callers by principal, others by address. Writes the headers of
 * draft-ietf-httpapi-ratelimit-headers-11 (`RateLimit-Policy`, `RateLimit`) and `X-RateLimit-*` for old clients; the reset there is
 * in seconds since the epoch. `salt` hides the partition key behind a keyed hash.
 */
export function rateLimiter(limits: RateLimits, now: () => number, salt: Uint8Array): NonNullable<Hooks["rateLimit"]> {
  const policies = {
    authenticated: policy("authenticated", limits.authenticated),
    anonymous: policy("anonymous", limits.anonymous),
    guarded: limits.guarded && policy("guarded", limits.guarded.rate),
  };
  const guarded = new Set(limits.guarded?.routes);
  const exempt = new Set(limits.exempt);

  function count({ name, rate, window }: Policy, key: string): RateVerdict {
    const at = now();
    return verdict(name, rate, window.take(key, at), at, createHmac("sha256", salt).update(key).digest().subarray(0, 12));
  }

  return (wire, { id }, principal) => {
    if (exempt.has(id)) return undefined;
    const address = clientKey(wire.remoteAddress);
    const general =
      principal === undefined || principal.type === "anonymous"
        ? count(policies.anonymous, address)
        : count(policies.authenticated, `${principal.org}/${principal.type}/${principal.id}`);
    if (!general.allowed || policies.guarded === undefined || !guarded.has(id)) return general;
    return count(policies.guarded, `${address} ${wire.path}`);
  };
}

interface Policy {
  readonly name: string;
  readonly rate: Rate;
  readonly window: SlidingWindow;
}

function policy(name: string, rate: Rate): Policy {
  return { name, rate, window: new SlidingWindow(rate) };
}

function verdict(name: string, { limit, windowMs }: Rate, take: Take, now: number, partition: Buffer): RateVerdict {
  const window = Math.ceil(windowMs / 1000);
  const reset = Math.ceil(take.resetMs / 1000);
  return {
    allowed: take.allowed,
    headers: {
      "ratelimit-policy": `"${name}";q=${limit};w=${window};pk=:${partition.toString("base64")}:`,
      ratelimit: `"${name}";r=${take.remaining};t=${reset}`,
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(take.remaining),
      "x-ratelimit-reset": String(Math.ceil(now / 1000) + reset),
    },
    details: take.allowed ? {} : { limit, window_seconds: window, retry_after: Math.ceil(take.retryMs / 1000) },
  };
}
