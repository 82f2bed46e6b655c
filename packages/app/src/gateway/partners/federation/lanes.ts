import { timestamp } from "@seneschal/core/keys";
import type { Collection } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";

/** An outbox in which each partner has a lane of its own. */
export interface Lanes<T extends object> {
  readonly outbox: Collection<T>;
  /** What stands in the index `lanes` before the time of the next try. */
  readonly laneOf: (entry: T) => readonly string[];
  /** Tries one entry, and says whether the next of the same lane is worth trying now. */
  readonly deliver: (services: PartnerServices, id: string, entry: T, now: number) => Promise<boolean>;
}

/** Lanes that are worked on at once, that a round looks at, and entries of one lane in a round. */
const AT_ONCE = 32;
const LOOKED_AT = 256;
const BATCH = 100;
/** Behind every time. */
const LAST = "~";

/**
 * Rounds over an outbox: lane by lane, each at its own pace, begun where the last round ended. A lane that is still being
 * worked on is left alone, so that a partner that lets us wait keeps nobody waiting but itself; what fails in a lane ends there, logged.
 */
export function openLanes<T extends object>({
  outbox,
  laneOf,
  deliver,
}: Lanes<T>): (services: PartnerServices, now: number) => Promise<void> {
  const busy = new Set<string>();
  let last: readonly string[] | undefined;

  const work = async (services: PartnerServices, lane: readonly string[], now: number): Promise<void> => {
    const { items } = await services.store.list(outbox.name, "lanes", lane, { to: [timestamp(now)], limit: BATCH });
    for (const { id, doc } of items) if (!(await deliver(services, id, doc as unknown as T, now))) return;
  };

  return async (services, now) => {
    const round: Promise<void>[] = [];
    const seen = new Set<string>();
    let turned = last === undefined;
    for (let looked = 0; looked < LOOKED_AT && round.length < AT_ONCE; looked++) {
      const behind = last === undefined ? {} : { from: [...last, LAST] };
      const { items } = await services.store.list(outbox.name, "lanes", [], { ...behind, limit: 1 });
      const lane = items[0] === undefined ? undefined : laneOf(items[0].doc as unknown as T);
      last = lane;
      if (lane === undefined) {
        if (turned) break;
        turned = true;
        continue;
      }
      const key = lane.join("\0");
      if (seen.has(key)) break;
      seen.add(key);
      if (busy.has(key)) continue;
      busy.add(key);
      round.push(
        work(services, lane, now)
          .catch((error: unknown) => services.log.error({ error, lane }, "a lane of the outbox failed"))
          .finally(() => busy.delete(key)),
      );
    }
    await Promise.all(round);
  };
}
