import { checkArgument } from "@seneschal/kernel";
import type { AuditResult } from "./enums.ts";
import { isKeyUse } from "./report.ts";
import type { Timestamp } from "./time.ts";

/** What figures ask of an event of the audit log. */
export interface CountedEvent {
  readonly event_type: string;
  readonly actor: string;
  readonly result: AuditResult;
}

/** What happened in a period, in numbers. */
export interface AuditFigures {
  readonly total_events: number;
  readonly success_count: number;
  readonly error_count: number;
  readonly denied_count: number;
  readonly events_by_type: Readonly<Record<string, number>>;
}

/** Actors that are remembered while counting. */
const REMEMBERED = 10_000;

/**
 * Counts events one by one, of any number of events and actors: more actors than `remembered` are not held, and are to be counted in another way.
 *
 * @example
 * ```ts
 * import { AuditTally } from "@seneschal/core/keys";
 * const tally = new AuditTally();
 * for (const actor of ["ada", "bob", "ada"]) tally.count({ event_type: "encrypt", actor, result: "success" });
 * console.log(tally.figures().events_by_type, tally.actors); // { encrypt: 3 } 2
 * ```
 */
export class AuditTally {
  readonly #results: Record<AuditResult, number> = { success: 0, error: 0, denied: 0 };
  readonly #byType = new Map<string, number>();
  readonly #actors = new Set<string>();
  readonly #remembered: number;
  #total = 0;

  constructor(remembered = REMEMBERED) {
    this.#remembered = remembered;
  }

  /** One event more. */
  count({ event_type, actor, result }: CountedEvent): void {
    this.#total += 1;
    this.#results[result] += 1;
    this.#byType.set(event_type, (this.#byType.get(event_type) ?? 0) + 1);
    if (this.#actors.size <= this.#remembered) this.#actors.add(actor);
  }

  /** How many different actors there were; `undefined`: more than are remembered. */
  get actors(): number | undefined {
    return this.#actors.size <= this.#remembered ? this.#actors.size : undefined;
  }

  /** The events by now; types in the order of their names. */
  figures(): AuditFigures {
    const { success, error, denied } = this.#results;
    return {
      total_events: this.#total,
      success_count: success,
      error_count: error,
      denied_count: denied,
      events_by_type: Object.fromEntries([...this.#byType].sort()),
    };
  }
}

/**
 * When people last used a key, out of its events from the newest on: no further than it must be looked back.
 *
 * @example
 * ```ts
 * import { LastUses } from "@seneschal/core/keys";
 * const uses = new LastUses(["ada", "bob"]);
 * const event = { event_type: "decrypt", result: "success", actor: "ada", timestamp: "2026-01-01T00:00:00.000Z" };
 * console.log(uses.see(event), uses.of("ada"), uses.of("bob")); // false 2026-01-01T00:00:00.000Z null
 * ```
 */
export class LastUses {
  readonly #wanted: Set<string>;
  readonly #times = new Map<string, Timestamp>();

  constructor(people: readonly string[]) {
    checkArgument("people", people, "array");
    this.#wanted = new Set(people);
  }

  /** The next event, older than all before it. True: of everybody it is known when, no more need be looked at. */
  see(event: {
    readonly event_type: string;
    readonly result: string;
    readonly actor: string;
    readonly timestamp: Timestamp;
  }): boolean {
    if (isKeyUse(event) && this.#wanted.delete(event.actor)) this.#times.set(event.actor, event.timestamp);
    return this.#wanted.size === 0;
  }

  /** When somebody last did; `null`: not as far as was looked. */
  of(person: string): Timestamp | null {
    return this.#times.get(person) ?? null;
  }
}

/**
 * Whose activity somebody sees: `undefined`, everybody's of the organisation, for who may read its audit log; else their own.
 *
 * @example
 * ```ts
 * import { seesActivityOf } from "@seneschal/core/keys";
 * console.log(seesActivityOf({ id: "ada", type: "admin", roles: ["auditor"] })); // undefined
 * console.log(seesActivityOf({ id: "backup", type: "service", roles: ["auditor"] })); // backup
 * ```
 */
export function seesActivityOf(reader: {
  readonly id: string;
  readonly type: string;
  readonly roles: readonly string[];
}): string | undefined {
  checkArgument("reader", reader, "object");
  const office = reader.roles.some((role) => AUDIT_READERS.includes(role));
  return office && reader.type !== "service" ? undefined : reader.id;
}

const AUDIT_READERS: readonly string[] = ["super_admin", "security_admin", "auditor"];

/** An event as the activity of who did it. */
export interface Activity extends CountedEvent {
  readonly id: string;
  readonly timestamp: Timestamp;
  readonly workspace: string;
  readonly summary: string;
}

/** The columns of an export of it. */
export const activityColumns = ["id", "timestamp", "event_type", "actor", "workspace", "result", "summary"] as const;

/**
 * An event of the audit log as activity, with a sentence that sums it up.
 *
 * @example
 * ```ts
 * import { activityOf } from "@seneschal/core/keys";
 * const event = { id: "1", timestamp: "2026-01-01T00:00:00.000Z", event_type: "encrypt", actor: "ada", workspace: "w1", result: "success" } as const;
 * console.log(activityOf(event).summary); // ada: encrypt in workspace w1 (success)
 * ```
 */
export function activityOf(event: Omit<Activity, "summary">): Activity {
  checkArgument("event", event, "object");
  const { id, timestamp, event_type, actor, workspace, result } = event;
  const where = workspace === "" ? "" : ` in workspace ${workspace}`;
  return { id, timestamp, event_type, actor, workspace, result, summary: `${actor}: ${event_type}${where} (${result})` };
}
