import { openMemoryRates } from "@seneschal/adapters/memory";
import type { Principal, WireRequest } from "@seneschal/contract";
import { parseRateLimit } from "ratelimit-header-parser";
import { describe, expect, test } from "vitest";
import { rateLimiter } from "../../src/platform/index.ts";
import { clientKey } from "../../src/platform/rate-limit/client-key.ts";

describe("the rate limit hook", () => {
  const rate = (limit: number) => ({ limit, window: 3_600_000 });
  const wire = (remoteAddress: string, path = "/x") => ({ remoteAddress, path }) as unknown as WireRequest;
  const ref = (id: string, uncounted = false) => ({ id, route: { uncounted } as never });
  const ada: Principal = { id: "ada", type: "apikey", org: "o", roles: [], scopes: [], method: "apikey" };
  const hook = (now = 1_700_000_000_000) =>
    rateLimiter(
      "demo",
      {
        authenticated: rate(3),
        anonymous: rate(1),
        guarded: { routes: ["enroll"], rate: rate(2) },
      },
      openMemoryRates(() => new Uint8Array(32)),
      () => now,
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

  test("a type of principal with limits of its own, and batches of all, are counted by these and take nothing from others", async () => {
    const limit = rateLimiter(
      "demo",
      {
        authenticated: rate(1),
        anonymous: rate(1),
        ofType: { service: rate(3) },
        batch: { routes: ["encryptBatch"], rate: rate(2) },
      },
      openMemoryRates(() => new Uint8Array(32)),
      () => 1_700_000_000_000,
    );
    const mailer: Principal = { ...ada, id: "mailer", type: "service" };
    const allowed = async (id: string, principal: Principal | undefined, times: number) => {
      let count = 0;
      for (let at = 0; at < times; at += 1) if ((await limit(wire("10.0.0.1"), ref(id), principal))?.allowed) count += 1;
      return count;
    };
    expect(await allowed("encryptBatch", ada, 4)).toBe(2);
    expect(await allowed("encrypt", ada, 4)).toBe(1);
    expect(await allowed("encrypt", mailer, 5)).toBe(3);
    expect(await allowed("encryptBatch", mailer, 4)).toBe(2);
    // Without a credential a batch is a request like any other.
    expect(await allowed("encryptBatch", undefined, 3)).toBe(1);
    expect((await limit(wire("10.0.0.1"), ref("encryptBatch"), mailer))?.headers?.["ratelimit-policy"]).toMatch(/^"batch";q=2;/);
  });

  test("an uncounted route is not counted and carries no headers", async () => {
    expect(await hook()(wire("1.1.1.1"), ref("health", true), undefined)).toBeUndefined();
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
