import { checkArgument } from "@seneschal/kernel";
import { milliseconds, type Timestamp, timestamp } from "./time.ts";

/** Why a log does not go on. `other_log`: another instance's, or another key's; `unfounded`: a witness refuses, and nothing shows why. */
export const witnessTroubles = ["put_back", "forked", "unproven", "other_log", "unfounded"] as const;
export type WitnessTrouble = (typeof witnessTroubles)[number];

/** An organisation's audit log as one side of a federation has witnessed it. */
export interface LogWitness {
  readonly federation_id: string;
  readonly org_id: string;
  readonly partner_org_id: string;
  /** Of the checkpoint that was cosigned last; 0 and `null` before the first. */
  readonly size: number;
  readonly note: string | null;
  readonly cosigned_at: Timestamp | null;
  /** The two signed checkpoints that do not agree. */
  readonly trouble: {
    readonly growth: WitnessTrouble;
    readonly before: string;
    readonly now: string;
    readonly since: Timestamp;
  } | null;
}

/** A partner's log as we have witnessed it. */
export interface WitnessedLog extends LogWitness {
  /** Verifier key of the log, as it was first said over the partner's channel. */
  readonly log_key: string;
  /** When the organisation's log was last told of it. */
  readonly told_at: Timestamp;
}

type Parties = Pick<LogWitness, "federation_id" | "org_id" | "partner_org_id">;

/** How an offered checkpoint stands to the one that was cosigned last. `other_size`: it was offered as following another size than that. */
export const offeredGrowths = ["first", "same", "grown", "put_back", "forked", "unproven", "other_log", "other_size"] as const;
export type OfferedGrowth = (typeof offeredGrowths)[number];

/** A checkpoint that a partner's gateway asks us to cosign, its signature verified. */
export interface OfferedCheckpoint {
  readonly growth: OfferedGrowth;
  readonly size: number;
  readonly note: string;
  readonly log_key: string;
}

/** What a witness does. `tell`: the organisation's log hears of it. */
export type WitnessStep =
  | { readonly kind: "other_size"; readonly size: number; readonly note: string }
  | {
      readonly kind: "refused";
      readonly growth: Exclude<WitnessTrouble, "unfounded">;
      readonly size: number;
      readonly note: string;
      /** Absent: nothing new. */
      readonly log?: WitnessedLog;
      readonly tell: boolean;
    }
  /** `log` is kept with the cosigned note. */
  | { readonly kind: "cosigned"; readonly log: WitnessedLog; readonly tell: boolean };

/** A partner that goes back and forth fills no log: of one federation an event a minute. */
const TELL_MS = 60_000;

/**
 * What a witness makes of an offered checkpoint, by what it cosigned before: it signs only a log that is seen first, is the same or has grown,
 * and keeps the evidence of one that does not go on. Each look is no event: that a log is followed, does not go on, or goes on again, is one.
 *
 * @example
 * ```ts
 * import { stepWitnessedLog } from "@seneschal/core/keys";
 * const parties = { federation_id: "f1", org_id: "acme", partner_org_id: "globex" };
 * const step = stepWitnessedLog(undefined, { growth: "grown", size: 3, note: "note", log_key: "key" }, parties, 0);
 * console.log(step.kind); // cosigned
 * ```
 */
export function stepWitnessedLog(
  kept: WitnessedLog | undefined,
  offered: OfferedCheckpoint,
  parties: Parties,
  now: number,
): WitnessStep {
  checkArgument("offered", offered, "object");
  checkArgument("parties", parties, "object");
  checkArgument("now", now, "number");
  const { growth, note } = offered;
  const [size, before] = [kept?.size ?? 0, kept?.note ?? ""];
  if (growth === "other_size") return { kind: growth, size, note: before };
  const due = kept === undefined || now - milliseconds(kept.told_at) >= TELL_MS;
  const at = timestamp(now);
  if (growth !== "first" && growth !== "same" && growth !== "grown") {
    const refused = { kind: "refused" as const, growth, size, note: before };
    if (kept === undefined || kept.trouble?.growth === growth) return { ...refused, tell: false };
    const trouble = { growth, before, now: note, since: at };
    return { ...refused, log: { ...kept, told_at: due ? at : kept.told_at, trouble }, tell: due };
  }
  const tell = kept === undefined || (kept.trouble !== null && due);
  const log: WitnessedLog = {
    ...partiesOf(parties),
    log_key: offered.log_key,
    size: offered.size,
    note,
    cosigned_at: at,
    trouble: null,
    told_at: tell ? at : kept.told_at,
  };
  return { kind: "cosigned", log, tell };
}

/** What a partner made of our own log: it cosigned a checkpoint, or says of two that they do not agree. */
export type WitnessFound =
  | Pick<LogWitness, "size" | "note" | "cosigned_at">
  | { readonly growth: WitnessTrouble; readonly before: string; readonly note: string };

/**
 * Our log as a partner has witnessed it, after what was found; `undefined`: nothing new. `tell`: what our log hears of it.
 *
 * @example
 * ```ts
 * import { stepLogWitness } from "@seneschal/core/keys";
 * const parties = { federation_id: "f1", org_id: "acme", partner_org_id: "globex" };
 * const found = { size: 3, note: "note", cosigned_at: "1970-01-01T00:00:00.000Z" };
 * console.log(stepLogWitness(undefined, found, parties, 0)?.log.size); // 3
 * ```
 */
export function stepLogWitness(
  known: LogWitness | undefined,
  found: WitnessFound,
  parties: Parties,
  now: number,
): { readonly log: LogWitness; readonly tell?: WitnessTrouble | "grown" } | undefined {
  checkArgument("found", found, "object");
  checkArgument("parties", parties, "object");
  checkArgument("now", now, "number");
  const none = { ...partiesOf(parties), size: 0, note: null, cosigned_at: null, trouble: null };
  if (!("growth" in found)) {
    // Who was slower says less.
    if (known !== undefined && known.size > found.size && known.trouble === null) return undefined;
    return { log: { ...none, ...found }, ...(known?.trouble != null && { tell: "grown" as const }) };
  }
  const { growth, before, note } = found;
  if (known?.trouble?.growth === growth) return undefined;
  return { log: { ...none, ...known, trouble: { growth, before, now: note, since: timestamp(now) } }, tell: growth };
}

/** What one signed checkpoint says of a log. */
interface SignedLog {
  readonly origin: string;
  readonly size: number;
}

/**
 * What a witness's refusal comes to, by what our own key has signed: what it says is believed so far and no further. `shown`: the checkpoint of
 * our key that it shows; `own`: the one that we can prove up to the shown size; `sameRoot`: both are of one log at that size. Without a word of
 * ours there is nothing to hold against it but that another key or instance has signed before.
 *
 * @example
 * ```ts
 * import { foundationOf } from "@seneschal/core/keys";
 * console.log(foundationOf("forked", { sameRoot: false })); // unfounded
 * ```
 */
export function foundationOf(
  said: Exclude<WitnessTrouble, "unfounded">,
  signed: { readonly shown?: SignedLog | undefined; readonly own?: SignedLog | undefined; readonly sameRoot: boolean },
): WitnessTrouble {
  checkArgument("said", said, "string");
  checkArgument("signed", signed, "object");
  const { shown, own, sameRoot } = signed;
  if (shown === undefined) return said === "other_log" ? said : "unfounded";
  if (own === undefined) return "unproven";
  if (shown.origin !== own.origin) return "unfounded";
  if (shown.size > own.size) return "put_back";
  return sameRoot ? "unfounded" : "forked";
}

function partiesOf({ federation_id, org_id, partner_org_id }: Parties): Parties {
  return { federation_id, org_id, partner_org_id };
}
