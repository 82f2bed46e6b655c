import { createHash } from "node:crypto";
import { type ReportFacts, timestamp } from "@seneschal/core/keys";
import { escapeHtml } from "../../../platform/index.ts";
import { base64, type Call, utf8 } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { chunks } from "../audit-views/export.ts";
import { type ReportSeal, reportSeals } from "../collections.ts";
import { csvRow, csvText } from "./csv-text.ts";
import type { GrowingObject } from "./growing.ts";
import { htmlText } from "./html-text.ts";
import { fieldsText } from "./json-text.ts";

type Format = ReportSeal["format"];
type Signed = Pick<ReportSeal, "digest" | "digest_signature" | "digest_key">;

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
  format: Format,
): AsyncGenerator<Uint8Array> {
  let completed_at = "";
  const { archived, ...rest } = facts;
  const whole: GrowingObject = {
    ...rest,
    period: { ...facts.period },
    ...(archived && { archived: { ...archived } }),
    data,
    completed_at: () => {
      completed_at = timestamp(services.clock.now());
      return completed_at;
    },
  };
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of chunks(bodies[format](whole))) {
    hash.update(piece);
    size += piece.length;
    yield piece;
  }
  const digest = hash.digest("hex");
  const signed = await services.transact({ ...call, now: Date.parse(completed_at) }, async (unit) => {
    const made: Signed = {
      digest,
      digest_signature: base64(
        await services.organizationKeys.sign(unit, facts.org_id, utf8(`seneschal/compliance-report/v2\0${digest}`)),
      ),
      digest_key: base64((await services.organizationKeys.publicKeys(unit, facts.org_id)).signing),
    };
    unit.insert(reportSeals, facts.id, { ...facts, completed_at, format, size, ...made });
    unit.record({ type: "audit.export", metadata: { report: facts.type, report_id: facts.id, format, digest } });
    return made;
  });
  yield new Uint8Array(Buffer.from(lastLines[format](signed)));
}

/** Everything but the last line. */
const bodies: Readonly<Record<Format, (whole: GrowingObject) => AsyncIterable<string>>> = {
  async *json(whole) {
    yield "{";
    yield* fieldsText(whole);
    yield "\n";
  },
  csv: csvText,
  html: (whole) => htmlText(`${String(whole["type"])} of ${String(whole["org_id"])}`, whole),
};

const lastLines: Readonly<Record<Format, (signed: Signed) => string>> = {
  json: (signed) => `,${JSON.stringify(signed).slice(1)}\n`,
  csv: ({ digest, digest_signature, digest_key }) => csvRow("seal", `${digest} ${digest_signature} ${digest_key}`),
  html: ({ digest, digest_signature, digest_key }) =>
    `<footer>SHA-256 of all lines above <code>${digest}</code>, signed <code>${escapeHtml(digest_signature)}</code> by <code>${escapeHtml(digest_key)}</code></footer></body></html>\n`,
};
