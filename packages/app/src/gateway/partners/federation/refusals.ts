import type { Logger } from "@seneschal/adapters/logging";
import type { Federation } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import { type Call, type GatewayMetrics, type GatewayUnit, systemCall } from "../../ground/index.ts";

/** What of a partner was refused. */
export type RefusedOf =
  | "workspace"
  | "checkpoint"
  | "answer"
  | "consent"
  | "certificate"
  | "message"
  | "card"
  | "confirmation"
  | "rate";

interface Needs {
  readonly metrics: Pick<GatewayMetrics, "partnerRefused">;
  readonly log: Pick<Logger, "error">;
  transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>): Promise<R>;
}

/** Tells of what partners were refused: every time in the metrics, in the organisation's log once an hour for one reason. */
export interface PartnerRefusals {
  /** Never throws. `reason` is a word of our own. */
  note(needs: Needs, federation: Federation, of: RefusedOf, reason: string, facts?: JsonObject): Promise<void>;
}

const ONCE_MS = 3_600_000;
/** So many reasons are remembered; who has more to refuse is told of them again. */
const MAX_REASONS = 10_000;

export function partnerRefusals(now: () => number): PartnerRefusals {
  let told = new Map<string, number>();
  return {
    async note({ metrics, log, transact }, federation, of, reason, facts = {}) {
      metrics.partnerRefused(of, reason);
      const { id: federation_id, org_id, partner_org_id } = federation;
      const key = `${federation_id} ${of} ${reason}`;
      const at = now();
      if (at - (told.get(key) ?? Number.NEGATIVE_INFINITY) < ONCE_MS) return;
      if (told.size >= MAX_REASONS) told = new Map();
      told.set(key, at);
      const metadata = { ...facts, federation_id, partner_org_id, of, reason };
      const workspace = typeof facts["workspace_id"] === "string" ? { workspace: facts["workspace_id"] } : {};
      await transact(systemCall("system:federation", org_id, at), async (unit) => {
        unit.record({ type: "federation.refuse", result: "denied", ...workspace, metadata });
      }).catch((error: unknown) => log.error({ error, ...metadata }, "a refusal of a partner could not be recorded"));
    },
  };
}
