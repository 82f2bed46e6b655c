import { checkArgument } from "@seneschal/kernel";
import type { AuditMessage } from "./message.ts";

/** Which events a sink is told of. */
export interface AuditSelection {
  /** Streams; none: all, also those that come later. */
  readonly organizations: readonly string[];
  /** Types, or `prefix.*` for all that begin so; none: all. */
  readonly events: readonly string[];
  /** Types that are left out, also where `events` names them. */
  readonly except: readonly string[];
}

/** Whether an event is one of a selection. */
export function selects(selection: AuditSelection, given: Pick<AuditMessage, "stream" | "type">): boolean {
  checkArgument("selection", selection, "object");
  checkArgument("given", given, "object");
  const { organizations, events, except } = selection;
  const { stream, type } = given;
  const named = (patterns: readonly string[]): boolean => patterns.some((pattern) => isNamed(pattern, type));
  if (organizations.length > 0 && !organizations.includes(stream)) return false;
  return (events.length === 0 || named(events)) && !named(except);
}

/** Whether a text is a type of events or `prefix.*`. */
export function isAuditPattern(text: string): boolean {
  return /^[a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?$/.test(text);
}

function isNamed(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
