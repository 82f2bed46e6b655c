import { createHash } from "node:crypto";
import {
  type GrowingObject,
  type ReportFacts,
  type ReportFormat,
  type ReportSignature,
  reportDocument,
  reportSealLine,
  reportSealText,
  reportText,
  timestamp,
} from "@seneschal/core/keys";
import { base64, type Call, utf8 } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { chunks } from "../audit-views.ts";
import { reportSeals } from "../collections.ts";

/**
 * The bytes of a report, made while they are taken: nothing but the piece at hand is held. The last line holds the SHA-256 of all
 * bytes before it, signed with the organisation's key; the same stays behind as a {@link ReportSeal}, in one commit with its
 * audit event. A reader who does not see a last line has no report.
 */
export async function* reportBytes(
  services: PartnerServices,
  call: Call,
  facts: ReportFacts,
  data: GrowingObject,
  format: ReportFormat,
): AsyncGenerator<Uint8Array> {
  let completed_at = "";
  const report = reportDocument(facts, data, () => {
    completed_at = timestamp(services.clock.now());
    return completed_at;
  });
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of chunks(reportText(format, report))) {
    hash.update(piece);
    size += piece.length;
    yield piece;
  }
  const digest = hash.digest("hex");
  const signed = await services.transact({ ...call, now: Date.parse(completed_at) }, async (unit) => {
    const made: ReportSignature = {
      digest,
      digest_signature: base64(await services.organizationKeys.sign(unit, facts.org_id, utf8(reportSealText(digest)))),
      digest_key: base64((await services.organizationKeys.publicKeys(unit, facts.org_id)).signing),
    };
    unit.insert(reportSeals, facts.id, { ...facts, completed_at, format, size, ...made });
    unit.record({ type: "audit.export", metadata: { report: facts.type, report_id: facts.id, format, digest } });
    return made;
  });
  yield new Uint8Array(Buffer.from(reportSealLine(format, signed)));
}
