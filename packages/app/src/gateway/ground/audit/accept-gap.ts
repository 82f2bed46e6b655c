import { type AuditGap, wholeLog } from "@seneschal/crypto/audit-log";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { type AuditFinding, AuditTampered } from "../../../platform/audit-log/index.ts";
import { systemCall } from "../call.ts";
import type { GroundServices } from "../services.ts";
import { instanceStream } from "./event.ts";

/** What became of an acceptance, and how the log of the whole instance stands then. */
export interface AcceptedGap extends AuditGap {
  /** False: it was accepted before. */
  readonly accepted: boolean;
  /** Of the whole instance, counted over all organisations. */
  readonly log: {
    readonly valid: boolean;
    readonly flaw: AuditFinding["flaw"] | null;
    readonly sequence: number | null;
    readonly accepted_gaps: readonly AuditGap[];
  };
}

/**
 * Accepts, as the operator of the instance, that the audit events `first` to `last` of its whole log are gone: signed by the log's key, recorded in the
 * instance's own stream, and signed on from there. Throws `audit_gap_refused` for anything but missing events that no checkpoint has signed.
 */
export async function acceptAuditGap(
  services: GroundServices,
  given: AuditGap & { readonly reason: string; readonly now: number },
): Promise<AcceptedGap> {
  checkArgument("services", services, "object");
  checkArgument("given", given, "object");
  const { first, last, reason, now } = given;
  const { audit } = services;
  const accepted = await services
    .transact(systemCall("system:operator", instanceStream, now), async (unit) => {
      const note = await audit.acceptGap(unit, { first, last }, { reason, now });
      if (note === undefined) return false;
      unit.record({ type: "audit.gap.accept", org: instanceStream, metadata: { first, last, reason, note } });
      return true;
    })
    .catch((error: unknown) => {
      if (!(error instanceof AuditTampered)) throw error;
      throw new CodedError("audit_gap_refused", error.message, { reason: "damaged" }, error);
    });
  const { flaw = null, sequence = null } = (await audit.verifyAll()) ?? {};
  return { first, last, accepted, log: { valid: flaw === null, flaw, sequence, accepted_gaps: await audit.gaps(wholeLog) } };
}
