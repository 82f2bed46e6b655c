import type { Metrics } from "@seneschal/adapters/metrics";
import { Counter, Gauge, Histogram } from "prom-client";
import { auditEventTypes } from "./audit/event.ts";

/** What the gateway counts beyond HTTP. Labels are bounded: operations and results, never ids. */
export interface GatewayMetrics {
  operation(operation: string, result: "success" | "error" | "denied"): void;
  policyEvaluated(result: "allowed" | "denied"): void;
  auditEvent(type: string): void;
  /** A try of the outbox to partners: what was to be said, and what came of it. */
  dispatched(kind: "state" | "answer" | "consent" | "message", result: "done" | "retry" | "refused"): void;
  /** A call of a partner's gateway. */
  partnerCalled(result: "answered" | "failed" | "not_tried", seconds: number): void;
  /** Something of a partner was refused: what, and with which code. */
  partnerRefused(of: string, reason: string): void;
  /** Events of the whole log up to this number are in the archive. */
  archivedThrough(last: number): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** Registers the gateway's own metrics. */
export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  const registers = [metrics.registry];
  const operations = new Counter({
    name: "gateway_keys_operations_total",
    help: "Uses of workspace keys",
    labelNames: ["operation", "result"],
    registers,
  });
  const policies = new Counter({
    name: "gateway_policy_evaluations_total",
    help: "Answers of workspace policies",
    labelNames: ["result"],
    registers,
  });
  const events = new Counter({
    name: "gateway_audit_events_total",
    help: "Audit events committed",
    labelNames: ["event_type"],
    registers,
  });
  // From zero: the first event of a type is a growth too, which an alert must see.
  for (const event_type of auditEventTypes) events.inc({ event_type }, 0);
  const dispatches = new Counter({
    name: "gateway_federation_dispatches_total",
    help: "Tries of the outbox to partners",
    labelNames: ["kind", "result"],
    registers,
  });
  const calls = new Histogram({
    name: "gateway_federation_call_duration_seconds",
    help: "Time of calls of partners' gateways",
    labelNames: ["result"],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers,
  });
  const refusals = new Counter({
    name: "gateway_federation_refusals_total",
    help: "What partners asked for or answered that was refused",
    labelNames: ["of", "reason"],
    registers,
  });
  const archived = new Gauge({
    name: "gateway_audit_archived_events",
    help: "Audit events in the archive, by this process",
    registers,
  });
  return {
    archivedThrough: (last) => archived.set(last),
    operation: (operation, result) => operations.inc({ operation, result }),
    policyEvaluated: (result) => policies.inc({ result }),
    auditEvent: (type) => events.inc({ event_type: type }),
    dispatched: (kind, result) => dispatches.inc({ kind, result }),
    partnerCalled: (result, seconds) => calls.observe({ result }, seconds),
    partnerRefused: (of, reason) => refusals.inc({ of, reason }),
    text: () => metrics.text(),
    contentType: metrics.contentType,
  };
}
