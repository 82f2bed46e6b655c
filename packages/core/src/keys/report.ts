import { checkArgument, type Json } from "@seneschal/kernel";
import { invalidField } from "./codes.ts";
import { type Timestamp, timestamp } from "./time.ts";

/** What an organisation may have told: what happened, what is held about one person (GDPR Art. 15), who can reach what. */
export const reportTypes = ["summary", "gdpr-dsar", "access-review"] as const;
export type ReportType = (typeof reportTypes)[number];

/** Both ends inclusive, RFC 3339. */
export interface Period {
  readonly since: Timestamp;
  readonly until: Timestamp;
}

/** What a report says about itself; its digest covers it. */
export interface ReportFacts {
  readonly id: string;
  readonly org_id: string;
  readonly type: ReportType;
  readonly generated_at: Timestamp;
  readonly generated_by: string;
  readonly period: Period;
  /** Sequence of the last event of the organisation's log that the report knows. */
  readonly log_size: number;
  /** What of the period is in the archive, and not in the report. */
  readonly archived?: { readonly through: number; readonly until: Timestamp };
}

const PERIOD = 30 * 86_400_000;

/**
 * What a report is about: by default the last 30 days, about a person everything there is. Throws `VALIDATION_ERROR` for what ends before it begins.
 *
 * @example
 * ```ts
 * import { reportPeriod } from "@seneschal/core/keys";
 * console.log(reportPeriod({ type: "gdpr-dsar" }, Date.UTC(2026, 0, 1)).since); // 1970-01-01T00:00:00.000Z
 * ```
 */
export function reportPeriod(
  asked: { readonly type: ReportType; readonly since?: Timestamp | undefined; readonly until?: Timestamp | undefined },
  now: number,
): Period {
  checkArgument("asked", asked, "object");
  checkArgument("now", now, "number");
  const { type, since, until = timestamp(now) } = asked;
  if (type === "gdpr-dsar") return { since: since ?? timestamp(0), until };
  const period = { since: since ?? timestamp(Date.parse(until) - PERIOD), until };
  if (period.since > period.until) throw invalidField("since", "must not be after until");
  return period;
}

/**
 * What a report that is made now says about itself; `archived`: how far the log is archived, told where that reaches into the period.
 *
 * @example
 * ```ts
 * import { reportFacts, reportPeriod } from "@seneschal/core/keys";
 * const now = Date.UTC(2026, 1, 1);
 * const period = reportPeriod({ type: "summary" }, now);
 * const facts = reportFacts({ id: "r1", type: "summary", org_id: "acme", generated_by: "ada", period, log_size: 9 }, now);
 * console.log(facts.period.since); // 2026-01-02T00:00:00.000Z
 * ```
 */
export function reportFacts(made: Omit<ReportFacts, "generated_at">, now: number): ReportFacts {
  checkArgument("made", made, "object");
  checkArgument("now", now, "number");
  const { id, type, org_id, generated_by, period, log_size, archived } = made;
  return {
    id,
    type,
    org_id,
    generated_at: timestamp(now),
    generated_by,
    period,
    log_size,
    ...(archived !== undefined && archived.until >= period.since && { archived: { ...archived } }),
  };
}

/**
 * Whether an event of the log is about a person who is known by `ids`: they did it, or it names them wherever.
 *
 * @example
 * ```ts
 * import { isAboutPerson } from "@seneschal/core/keys";
 * console.log(isAboutPerson({ actor: "bob", metadata: { members: ["ada"] } }, new Set(["ada"]))); // true
 * ```
 */
export function isAboutPerson(event: { readonly actor: string; readonly metadata: Json }, ids: ReadonlySet<string>): boolean {
  checkArgument("event", event, "object");
  checkArgument("ids", ids, "object");
  return ids.has(event.actor) || mentions(event.metadata, ids);
}

function mentions(value: Json, ids: ReadonlySet<string>): boolean {
  if (typeof value === "string") return ids.has(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => mentions(item as Json, ids));
}

/**
 * Whether an event of the log is a use of a workspace's key, which is what an access review asks for.
 *
 * @example
 * ```ts
 * import { isKeyUse } from "@seneschal/core/keys";
 * console.log(isKeyUse({ event_type: "decrypt", result: "success" }), isKeyUse({ event_type: "decrypt", result: "denied" })); // true false
 * ```
 */
export function isKeyUse(event: { readonly event_type: string; readonly result: string }): boolean {
  checkArgument("event", event, "object");
  return event.result === "success" && (event.event_type === "encrypt" || event.event_type === "decrypt");
}
