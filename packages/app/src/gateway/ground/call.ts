import type { Principal } from "@seneschal/contract";
import type { AuditEvent, AuditFacts } from "./audit/event.ts";
import type { Unit } from "./store/unit-of-work.ts";

/** Who acts, when, and for which request. Every handler input is one. */
export interface Call {
  readonly principal: Principal;
  readonly now: number;
  readonly requestId: string;
}

/** A unit of work that knows who acts: events it records need only say what happened. */
export interface GatewayUnit extends Unit {
  readonly call: Call;
  record(facts: AuditFacts): AuditEvent;
}

/** Who acts when nobody asked. */
export function systemCall(id: `system:${string}`, org: string, now: number): Call {
  return { principal: { id, type: "system", org, roles: [], scopes: [], method: "none" }, now, requestId: "" };
}
