import type { Metrics } from "@seneschal/adapters/metrics";
import { Counter } from "prom-client";

/** What the gateway counts beyond HTTP. Labels are bounded: operations and results, never ids. */
export interface GatewayMetrics {
  operation(operation: string, result: "success" | "error" | "denied"): void;
  policyEvaluated(result: "allowed" | "denied"): void;
  auditEvent(type: string): void;
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
  return {
    operation: (operation, result) => operations.inc({ operation, result }),
    policyEvaluated: (result) => policies.inc({ result }),
    auditEvent: (type) => events.inc({ event_type: type }),
    text: () => metrics.text(),
    contentType: metrics.contentType,
  };
}
