import { createHmac } from "node:crypto";
import type { Principal, RateLimit, RateVerdict } from "@seneschal/contract";
import type { Rate, Take } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { RateCounter } from "@seneschal/kernel/ports";
import { clientKey } from "./client-key.ts";

/** The limits of a service, in milliseconds. */
export interface RateLimits {
  /** Per principal. */
  readonly authenticated: Rate;
  /** The same for principals of a type that has limits of its own. */
  readonly ofType?: Readonly<Record<string, Rate>>;
  /** Operation ids of batches: counted per principal by a rate of their own, and by no other. */
  readonly batch?: { readonly routes: readonly string[]; readonly rate: Rate };
  /** Told of a principal that was refused. */
  readonly onRefused?: (principal: Principal) => void;
  /** Per address, for callers without a good credential. */
  readonly anonymous: Rate;
  /** Operation ids that are counted per address and path besides, such as enrolment. */
  readonly guarded?: { readonly routes: readonly string[]; readonly rate: Rate };
}

/**
 * The rate limit hook of a service: `authenticated` callers by principal, others by address. Writes the headers of
 * draft-ietf-httpapi-ratelimit-headers-11 (`RateLimit-Policy`, `RateLimit`) and `X-RateLimit-*` for old clients; the reset there is
 * in seconds since the epoch. Whom it counts is known to the counter, and to the caller as `pk`, by a keyed hash only. Routes that are `uncounted` by their contract, such as health, are not.
 */
export function rateLimiter(service: string, limits: RateLimits, counter: RateCounter, now: () => number): RateLimit {
  checkArgument("service", service, "string");
  checkArgument("limits", limits, "object");
  checkArgument("counter", counter, "object");
  checkArgument("now", now, "function");
  const guarded = new Set(limits.guarded?.routes);
  const batches = new Set(limits.batch?.routes);

  const pseudonyms = new Map<string, Pseudonym>();

  const pseudonymOf = (policy: string, whom: string): Pseudonym => {
    const name = `${service}\0${policy}\0${whom}`;
    const known = pseudonyms.get(name);
    if (known !== undefined) return known;
    const hash = createHmac("sha256", counter.salt).update(name).digest();
    const fresh = { key: hash.toString("base64"), partition: hash.subarray(0, 12).toString("base64") };
    // A path may be as long as its sender likes: such names are not kept, and push out no others.
    if (name.length > 512) return fresh;
    if (pseudonyms.size === PSEUDONYMS) pseudonyms.clear();
    pseudonyms.set(name, fresh);
    return fresh;
  };

  async function count(policy: string, rate: Rate, whom: string): Promise<RateVerdict> {
    const at = now();
    const { key, partition } = pseudonymOf(policy, whom);
    return verdict(policy, rate, await counter.take(key, rate, at), at, partition);
  }

  function generally(id: string, principal: Principal | undefined, address: () => string): Promise<RateVerdict> {
    if (principal === undefined || principal.type === "anonymous") return count("anonymous", limits.anonymous, address());
    const { org, type } = principal;
    const whom = `${org}/${type}/${principal.id}`;
    if (limits.batch !== undefined && batches.has(id)) return count("batch", limits.batch.rate, whom);
    const special = limits.ofType !== undefined && Object.hasOwn(limits.ofType, type) ? limits.ofType[type] : undefined;
    return count(special === undefined ? "authenticated" : type, special ?? limits.authenticated, whom);
  }

  return async (wire, { id, route }, principal) => {
    if (route.uncounted === true) return undefined;
    const address = (): string => clientKey(wire.remoteAddress);
    const general = await generally(id, principal, address);
    if (!general.allowed && principal !== undefined) limits.onRefused?.(principal);
    if (!general.allowed || limits.guarded === undefined || !guarded.has(id)) return general;
    return count("guarded", limits.guarded.rate, `${address()} ${wire.path}`);
  };
}

/** Under which a caller is counted, and what the caller sees of it. */
interface Pseudonym {
  readonly key: string;
  readonly partition: string;
}

/** So many are kept: a keyed hash costs more than all else here. */
const PSEUDONYMS = 10_000;

function verdict(name: string, { limit, window }: Rate, take: Take, now: number, partition: string): RateVerdict {
  const seconds = Math.ceil(window / 1000);
  const reset = Math.ceil(take.resetMs / 1000);
  return {
    allowed: take.allowed,
    headers: {
      "ratelimit-policy": `"${name}";q=${limit};w=${seconds};pk=:${partition}:`,
      ratelimit: `"${name}";r=${take.remaining};t=${reset}`,
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(take.remaining),
      "x-ratelimit-reset": String(Math.ceil(now / 1000) + reset),
    },
    details: take.allowed ? {} : { limit, window_seconds: seconds, retry_after: Math.ceil(take.retryMs / 1000) },
  };
}
