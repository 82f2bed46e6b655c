import { type Lane, LaneTurns, timestamp } from "@seneschal/core/keys";
import type { Collection } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";

/** An outbox in which each partner has a lane of its own. */
export interface Lanes<T extends object> {
  readonly outbox: Collection<T>;
  /** What stands in the index `lanes` before the time of the next try. */
  readonly laneOf: (entry: T) => Lane;
  /** Tries one entry, and says whether the next of the same lane is worth trying now. */
  readonly deliver: (services: PartnerServices, id: string, entry: T, now: number) => Promise<boolean>;
}

/** Entries of one lane in a round. */
const BATCH = 100;
/** Behind every time. */
const LAST = "~";

/** Rounds over an outbox, lane by lane as {@link LaneTurns} says, each at its own pace; what fails in a lane ends there, logged. */
export function openLanes<T extends object>({
  outbox,
  laneOf,
  deliver,
}: Lanes<T>): (services: PartnerServices, now: number) => Promise<void> {
  const turns = new LaneTurns();

  const work = async (services: PartnerServices, lane: Lane, now: number): Promise<void> => {
    const { items } = await services.store.list(outbox.name, "lanes", lane, { to: [timestamp(now)], limit: BATCH });
    for (const { id, doc } of items) if (!(await deliver(services, id, doc as unknown as T, now))) return;
  };

  return async (services, now) => {
    const laneBehind = async (last: Lane | undefined): Promise<Lane | undefined> => {
      const behind = last === undefined ? {} : { from: [...last, LAST] };
      const { items } = await services.store.list(outbox.name, "lanes", [], { ...behind, limit: 1 });
      return items[0] && laneOf(items[0].doc as unknown as T);
    };
    const round: Promise<void>[] = [];
    for await (const lane of turns.round(laneBehind))
      round.push(
        work(services, lane, now)
          .catch((error: unknown) => services.log.error({ error, lane }, "a lane of the outbox failed"))
          .finally(() => turns.done(lane)),
      );
    await Promise.all(round);
  };
}
