import type { LogWitness, WitnessedLog } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** Our log as a partner has witnessed it, by federation. */
export const logWitnesses = collection<LogWitness>("log_witnesses", {
  by_org: { key: ({ org_id, partner_org_id }) => [org_id, keyText(partner_org_id)] },
  by_age: { key: ({ cosigned_at }) => (cosigned_at === null ? undefined : [cosigned_at]) },
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});

/** A partner's log as we have witnessed it, by federation. */
export const witnessedLogs = collection<WitnessedLog>("witnessed_logs", {
  troubled: { key: ({ trouble }) => (trouble === null ? undefined : [trouble.growth]) },
});
