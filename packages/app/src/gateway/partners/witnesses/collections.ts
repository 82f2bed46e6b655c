import type { Growth } from "@seneschal/crypto/merkle";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** Why a log does not go on. `other_log`: another instance's, or another key's; `unfounded`: a witness refuses, and nothing shows why. */
export type WitnessTrouble = Extract<Growth, "put_back" | "forked" | "unproven"> | "other_log" | "unfounded";

interface Witnessing {
  readonly federation_id: string;
  readonly org_id: string;
  readonly partner_org_id: string;
  /** Of the checkpoint that was cosigned last; 0 and `null` before the first. */
  readonly size: number;
  readonly note: string | null;
  readonly cosigned_at: string | null;
  /** The two signed checkpoints that do not agree. */
  readonly trouble: {
    readonly growth: WitnessTrouble;
    readonly before: string;
    readonly now: string;
    readonly since: string;
  } | null;
}

/** Our log as a partner has witnessed it, by federation. */
export type LogWitness = Witnessing;

export const logWitnesses = collection<LogWitness>("log_witnesses", {
  by_org: { key: ({ org_id, partner_org_id }) => [org_id, keyText(partner_org_id)] },
  by_age: { key: ({ cosigned_at }) => (cosigned_at === null ? undefined : [cosigned_at]) },
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});

/** A partner's log as we have witnessed it, by federation. */
export interface WitnessedLog extends Witnessing {
  /** Verifier key of the log, as it was first said over the partner's channel. */
  readonly log_key: string;
  /** When the organisation's log was last told of it. */
  readonly told_at: string;
}

export const witnessedLogs = collection<WitnessedLog>("witnessed_logs", {
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});
