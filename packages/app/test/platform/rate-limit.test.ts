import type { Principal, WireRequest } from "@seneschal/contract";
import fc from "fast-check";
import { parseRateLimit } from "ratelimit-header-parser";
import { describe, expect, test } from "vitest";
import { rateLimiter } from "../../src/platform/index.ts";
import { clientKey } from "../../src/platform/rate-limit/client-key.ts";
import { SlidingWindow } from "../../src/platform/rate-limit/sliding-window.ts";

describe("the sliding window", () => {
  const arrivals = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 300 });

  test("no span of the window's length holds more than the limit", () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 100, max: 3000 }), (gaps, limit, windowMs) => {
        const window = new SlidingWindow({ limit, windowMs });
        const admitted: number[] = [];
        let now = 1_700_000_000_123;
        for (const gap of gaps) {
          now += gap;
          if (window.take("k", now).allowed) admitted.push(now);
        }
        for (const [i, at] of admitted.entries()) {
          const inSpan = admitted.slice(i).filter((other) => other < at + windowMs);
          expect(inSpan.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test("waiting as long as it says lets the next one in", () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 10 }), (gaps, limit) => {
        const window = new SlidingWindow({ limit, windowMs: 1000 });
        let now = 1_700_000_000_000;
        for (const gap of gaps) {
          now += gap;
          const take = window.take("k", now);
          if (take.allowed) continue;
          now += Math.ceil(take.retryMs);
          expect(window.take("k", now).allowed).toBe(true);
        }
      }),
    );
  });

  test("after the reset the whole limit is free", () => {
    const window = new SlidingWindow({ limit: 3, windowMs: 1000 });
    const last = [1, 2, 3].map(() => window.take("k", 5000)).at(-1);
    expect(last?.remaining).toBe(0);
    expect(window.take("k", 5000 + Math.ceil(last?.resetMs ?? 0)).remaining).toBe(2);
  });

  test("one caller's refusals do not touch another's places", () => {
    const window = new SlidingWindow({ limit: 1, windowMs: 1000 });
    expect(["a", "a", "b"].map((key) => window.take(key, 1).allowed)).toEqual([true, false, true]);
  });

  test("a clock that jumps back opens nothing", () => {
    const window = new SlidingWindow({ limit: 1, windowMs: 1000 });
    expect(window.take("k", 10_000).allowed).toBe(true);
    expect(window.take("k", 1).allowed).toBe(false);
  });

  test("keys are bounded, the least recently seen goes first", () => {
    const window = new SlidingWindow({ limit: 1, windowMs: 1000 }, 2);
    for (const key of ["a", "b", "a", "c"]) window.take(key, 1);
    expect(window.take("a", 1).allowed).toBe(false);
    expect(window.take("b", 1).allowed).toBe(true);
  });
});

describe("the rate limit hook", () => {
  const rate = (limit: number) => ({ limit, windowMs: 3_600_000 });
  const wire = (remoteAddress: string, path = "/x") => ({ remoteAddress, path }) as unknown as WireRequest;
  const ref = (id: string) => ({ id, route: {} as never });
  const ada: Principal = { id: "ada", type: "apikey", org: "o", roles: [], scopes: [], method: "apikey" };
  const hook = (now = 1_700_000_000_000) =>
    rateLimiter(
      {
        authenticated: rate(3),
        anonymous: rate(1),
        guarded: { routes: ["enroll"], rate: rate(2) },
        exempt: ["health"],
      },
      () => now,
      new Uint8Array(32),
    );

  test("a principal is counted wherever it comes from, anybody else by address", async () => {
    const limit = hook();
    const verdicts = [
      await limit(wire("10.0.0.1"), ref("r"), ada),
      await limit(wire("10.0.0.2"), ref("r"), ada),
      await limit(wire("10.0.0.1"), ref("r"), undefined),
      await limit(wire("10.0.0.1"), ref("r"), undefined),
      await limit(wire("10.0.0.3"), ref("r"), ada),
      await limit(wire("10.0.0.4"), ref("r"), ada),
    ];
    expect(verdicts.map((verdict) => verdict?.allowed)).toEqual([true, true, true, false, true, false]);
    expect(verdicts[3]?.details).toMatchObject({ limit: 1, window_seconds: 3600, retry_after: expect.any(Number) });
  });

  test("a guarded route is counted per address and path besides", async () => {
    const limit = hook();
    const answers: boolean[] = [];
    for (const path of ["/a", "/a", "/a"])
      answers.push((await limit(wire("1.1.1.1", path), ref("enroll"), ada))?.allowed ?? false);
    expect(answers).toEqual([true, true, false]);
  });

  test("an exempt route is not counted and carries no headers", async () => {
    expect(await hook()(wire("1.1.1.1"), ref("health"), undefined)).toBeUndefined();
  });

  test("the headers are those of the draft, and of old clients; the key is hidden", async () => {
    const headers = (await hook()(wire("192.0.2.7"), ref("r"), ada))?.headers ?? {};
    expect(headers["ratelimit-policy"]).toMatch(/^"authenticated";q=3;w=3600;pk=:[A-Za-z0-9+/]{16}:$/);
    expect(headers["ratelimit"]).toMatch(/^"authenticated";r=2;t=\d+$/);
    expect(JSON.stringify(headers)).not.toContain("ada");
    const { ratelimit, "ratelimit-policy": policy, ...old } = headers;
    expect(parseRateLimit(new Headers(old), { reset: "unix" })).toMatchObject({ limit: 3, remaining: 2 });
    expect(ratelimit).toBeDefined();
    expect(policy).toBeDefined();
  });

  test.each([
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["10.1.2.3", "10.1.2.3"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["", "unknown"],
  ])("%s is counted as %s", (address, key) => {
    expect(clientKey(address)).toBe(key);
  });
});
