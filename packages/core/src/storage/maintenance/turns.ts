import { checkArgument } from "@seneschal/kernel";

/** When work that is due once in a while had its last two turns, milliseconds. */
export interface Turns {
  readonly last: number;
  readonly before: number;
}

/**
 * Work that begins now has its first turn when the time between two is over.
 *
 * @example
 * ```ts
 * import { beginTurns, takeTurn } from "@seneschal/core/storage";
 * console.log(takeTurn(beginTurns(5), 14, 10)); // undefined
 * ```
 */
export function beginTurns(now: number): Turns {
  checkArgument("now", now, "number");
  return { last: now, before: now };
}

/**
 * The turns once one is taken now; `undefined`: none is due. A clock that was put back waits for its time to come again.
 *
 * @example
 * ```ts
 * import { beginTurns, giveTurnBack, takeTurn } from "@seneschal/core/storage";
 * const taken = takeTurn(beginTurns(0), 10, 10);
 * console.log(taken && takeTurn(taken, 19, 10)); // undefined
 * console.log(taken && takeTurn(giveTurnBack(taken), 19, 10)); // { last: 19, before: 0 }
 * ```
 */
export function takeTurn(turns: Turns, now: number, everyMs: number): Turns | undefined {
  checkArgument("turns", turns, "object");
  checkArgument("now", now, "number");
  checkArgument("everyMs", everyMs, "number");
  return now - turns.last < everyMs ? undefined : { last: now, before: turns.last };
}

/**
 * The turns where the last one came to nothing: the work is as due as it was before.
 *
 * @example
 * ```ts
 * import { giveTurnBack } from "@seneschal/core/storage";
 * console.log(giveTurnBack({ last: 20, before: 10 })); // { last: 10, before: 10 }
 * ```
 */
export function giveTurnBack(turns: Turns): Turns {
  checkArgument("turns", turns, "object");
  return { last: turns.before, before: turns.before };
}
