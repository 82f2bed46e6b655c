import { checkArgument } from "@seneschal/kernel";

/** What a try to say something to a partner came to. */
export type Delivery =
  | { readonly kind: "done" }
  /** `unreachable`: so would be all else for this partner. */
  | { readonly kind: "retry"; readonly detail: string; readonly unreachable?: true }
  /** The partner said no for good, with this code; `detail`: in more words. */
  | { readonly kind: "refused"; readonly code: string; readonly detail?: string };

/** An answer of a partner's gateway. */
export interface PartnerAnswer {
  readonly status: number;
  /** The error code of one that is no success, if it told one. */
  readonly code?: string | undefined;
}

/** What is wrong with what was sent stays wrong; what is wrong with the partner, or between the two, may pass (RFC 9110, section 15.5). */
const FOR_GOOD: readonly number[] = [400, 404, 409, 413, 422];

/**
 * What an answer means that is not the success that was expected: refused for good, or to be tried again.
 *
 * @example
 * ```ts
 * import { unsuccessful } from "@seneschal/core/keys";
 * console.log(unsuccessful({ status: 404, code: "NOT_FOUND" }).kind, unsuccessful({ status: 503 }).kind); // refused retry
 * ```
 */
export function unsuccessful(answer: PartnerAnswer): Exclude<Delivery, { readonly kind: "done" }> {
  checkArgument("answer", answer, "object");
  const { status, code } = answer;
  const detail = `the partner refused with ${code ?? `status ${status}`}`;
  return FOR_GOOD.includes(status) ? { kind: "refused", code: code ?? "STATE_CONFLICT", detail } : { kind: "retry", detail };
}

/**
 * Whether the next of the same partner is worth trying now.
 *
 * @example
 * ```ts
 * import { reachesPartner } from "@seneschal/core/keys";
 * console.log(reachesPartner({ kind: "retry", detail: "no connection", unreachable: true })); // false
 * ```
 */
export function reachesPartner(delivery: Delivery): boolean {
  checkArgument("delivery", delivery, "object");
  return !(delivery.kind === "retry" && delivery.unreachable === true);
}

const firstRetry = 5_000;
const lastRetry = 15 * 60_000;

/**
 * Milliseconds between a failed try, the `attempts`th, and the next: doubling from 5 s to 15 min.
 *
 * @example
 * ```ts
 * import { retryDelay } from "@seneschal/core/keys";
 * console.log([1, 2, 9].map(retryDelay)); // [ 5000, 10000, 900000 ]
 * ```
 */
export function retryDelay(attempts: number): number {
  return Math.min(firstRetry * 2 ** (attempts - 1), lastRetry);
}

/** The part of an outbox that one partner has, by what stands for it in the outbox's index. */
export type Lane = readonly string[];

/** Lanes that are worked on at once, and that a round looks at. */
const AT_ONCE = 32;
const LOOKED_AT = 256;

/**
 * Which lane of an outbox is next: each in its turn, round by round, begun where the last round ended. One that is still being worked on is left alone, so that a
 * partner that lets us wait keeps nobody waiting but itself.
 *
 * @example
 * ```ts
 * import { LaneTurns } from "@seneschal/core/keys";
 * const lanes = [["acme"], ["globex"]];
 * const behind = async (lane: readonly string[] | undefined) => lanes[lane === undefined ? 0 : lanes.findIndex(([name]) => name === lane[0]) + 1];
 * const turns = new LaneTurns();
 * // What a round gave is not given again before it is done.
 * const given: (string | undefined)[] = [];
 * for await (const lane of turns.round(behind)) given.push(lane[0]);
 * for await (const lane of turns.round(behind)) given.push(lane[0]);
 * turns.done(["globex"]);
 * for await (const lane of turns.round(behind)) given.push(lane[0]);
 * console.log(given); // [ 'acme', 'globex', 'globex' ]
 * ```
 */
export class LaneTurns {
  readonly #busy = new Set<string>();
  #last: Lane | undefined;

  /**
   * The lanes of a round, each to be worked on until it is {@link done}.
   *
   * @param behind the lane that follows one in the order of the index, the first for `undefined`; `undefined`: there is none
   */
  async *round(behind: (lane: Lane | undefined) => Promise<Lane | undefined>): AsyncGenerator<Lane> {
    const seen = new Set<string>();
    let turned = this.#last === undefined;
    let begun = 0;
    for (let looked = 0; looked < LOOKED_AT && begun < AT_ONCE; looked++) {
      const lane = await behind(this.#last);
      this.#last = lane;
      if (lane === undefined) {
        if (turned) return;
        turned = true;
        continue;
      }
      const key = keyOf(lane);
      if (seen.has(key)) return;
      seen.add(key);
      if (this.#busy.has(key)) continue;
      this.#busy.add(key);
      begun += 1;
      yield lane;
    }
  }

  /** Nobody works on a lane any more. */
  done(lane: Lane): void {
    this.#busy.delete(keyOf(lane));
  }
}

const keyOf = (lane: Lane): string => lane.join("\0");
