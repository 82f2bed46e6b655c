/** A rate counter of all processes that share a Redis: one key for each caller, one script for each take, gone when its window is. */

import { createClient } from "@redis/client";
import { CodedError, judgeTake, RATE_SLICES, sliceOf } from "@seneschal/kernel";
import type { Random, RateCounter } from "@seneschal/kernel/ports";

// What `takeFrom` of @seneschal/kernel does, where the counts are: Redis runs one script at a time.
const TAKE = `
local slices, slice, limit = ${RATE_SLICES}, tonumber(ARGV[1]), tonumber(ARGV[2])
local known = redis.call("GET", KEYS[1])
local window = known and cjson.decode(known) or { slice = 0, counts = {} }
slice = math.max(slice, window.slice)
local counts, used = {}, 0
for i = 1, math.min(slice - window.slice, slices + 1) do counts[i] = 0 end
for _, count in ipairs(window.counts) do
  if #counts <= slices then counts[#counts + 1] = count end
end
for _, count in ipairs(counts) do used = used + count end
local allowed = used < limit
if allowed then counts[1] = (counts[1] or 0) + 1 end
redis.call("SET", KEYS[1], cjson.encode({ slice = slice, counts = counts }), "PX", ARGV[3])
return { allowed and 1 or 0, slice, unpack(counts) }`;

export interface RedisRatesOptions {
  /** `redis://10.0.0.1:6379`, `rediss://` with TLS, or the path of a socket. */
  readonly url: string;
  /** Before every key. Default `rates:`. */
  readonly prefix?: string;
}

/** Throws what connecting throws; a take throws `service_unavailable` while Redis does not answer. */
export async function openRedisRates({ url, prefix = "rates:" }: RedisRatesOptions, random: Random): Promise<RateCounter> {
  const client = createClient({
    ...(url.startsWith("/") ? { socket: { path: url, tls: false } } : { url }),
    disableOfflineQueue: true, // nothing is let in unseen, and nobody waits for a server that is away
    commandOptions: { timeout: 1000 },
  });
  client.on("error", () => {}); // each take says so itself
  await client.connect();
  await client.set(`${prefix}salt`, Buffer.from(random(32)).toString("base64"), { condition: "NX" });
  const salt = await client.get(`${prefix}salt`);
  return {
    salt: Buffer.from(String(salt), "base64"),
    async take(key, rate, now) {
      const ttl = Math.ceil((rate.window * (RATE_SLICES + 1)) / RATE_SLICES);
      const values = [sliceOf(rate, now), rate.limit, ttl].map(String);
      let answer: unknown;
      try {
        answer = await client.eval(TAKE, { keys: [prefix + key], arguments: values });
      } catch (cause) {
        throw new CodedError("service_unavailable", "requests cannot be counted", {}, cause);
      }
      const [allowed, slice = 0, ...counts] = answer as number[];
      return judgeTake({ slice, counts }, allowed === 1, rate, now);
    },
    close: async () => client.destroy(),
  };
}
