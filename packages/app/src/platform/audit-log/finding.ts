import type { AuditFlaw } from "@seneschal/core/keys";

/** Where the log of a stream is not what was written. `sequence`: of its first event that is missing or changed, where that is known. */
export interface AuditFinding {
  readonly flaw: AuditFlaw;
  /** The stream, or the whole log. */
  readonly stream: string;
  readonly sequence: number | null;
}

/** The log does not continue where its checkpoint ended: nothing more is signed before somebody has looked. */
export class AuditTampered extends Error {
  override readonly name = "AuditTampered";
  readonly finding: AuditFinding;

  constructor(finding: AuditFinding) {
    const { flaw, stream, sequence } = finding;
    super(`the audit log of ${stream} is damaged: ${flaw}${sequence === null ? "" : ` at event ${sequence}`}`);
    this.finding = finding;
  }
}
