import { CodedError, checkOptions } from "@seneschal/kernel";
import type { Accounting, RemainingBudget, UsageEvent } from "@seneschal/kernel/ports";
import { boundedBody } from "../http/bounded-body.ts";
import { openBreaker } from "../http/breaker.ts";

export interface HttpAccountingOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  readonly now: () => number;
  /** Per call; default 2,000. */
  readonly timeoutMs?: number;
  /** Default 5 failures in a row, a probe every 30 s. */
  readonly breaker?: { readonly failures: number; readonly probeMs: number };
}

const MAX_ANSWER = 64 * 1024;

/**
 * The external accounting system over HTTP: `GET {url}/api/accounting/remaining/?tenant_id=` answers
 * `{"gpu_hours": n, "node_hours": n}` (a metric that is null or absent is not managed there), and
 * `POST {url}/api/accounting/events/` takes an array of usage events. Note that `/api/accounting/usage/` of such systems
 * answers what was *used*; it is never asked here. Every call has a time-out and passes one breaker; whatever goes
 * wrong is `accounting_unavailable`.
 */
export function httpAccounting(options: HttpAccountingOptions): Accounting {
  checkOptions("options", options, { url: "string", token: "string", now: "function", timeoutMs: "number?", breaker: "object?" });
  const { url, token, now, timeoutMs = 2000 } = options;
  const breaker = openBreaker({
    ...(options.breaker ?? { failures: 5, probeMs: 30_000 }),
    now,
    refuse: () => unavailable("the accounting system failed repeatedly and is left alone for a while"),
  });

  const call = (path: string, init: RequestInit): Promise<string> =>
    breaker.run(async () => {
      try {
        const response = await fetch(`${url}${path}`, {
          ...init,
          headers: { authorization: `Bearer ${token}`, accept: "application/json", ...init.headers },
          redirect: "error",
          signal: AbortSignal.timeout(timeoutMs),
        });
        const text = (
          await boundedBody(response, MAX_ANSWER, () => unavailable("the accounting system's answer is too long"))
        ).toString("utf8");
        if (!response.ok) throw unavailable(`the accounting system answered ${response.status}`);
        return text;
      } catch (error) {
        if (error instanceof CodedError) throw error;
        throw unavailable("the accounting system does not answer", error);
      }
    });

  return {
    async remaining(tenantId) {
      const text = await call(`/api/accounting/remaining/?tenant_id=${encodeURIComponent(tenantId)}`, {});
      return remainingOf(text);
    },
    async push(events) {
      await call("/api/accounting/events/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(events.map(eventOf)),
      });
    },
  };
}

function remainingOf(text: string): RemainingBudget {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw unavailable("the accounting system's answer is not JSON", cause);
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw unavailable(WRONG_SHAPE);
  const { gpu_hours: gpu, node_hours: node } = answer as Readonly<Record<string, unknown>>;
  const known = (value: unknown): value is number => {
    if (value === undefined || value === null) return false;
    if (typeof value === "number" && Number.isFinite(value)) return true;
    throw unavailable(WRONG_SHAPE);
  };
  const gpuHours = known(gpu) ? { gpuHours: gpu } : {};
  const nodeHours = known(node) ? { nodeHours: node } : {};
  // an answer that says nothing about either is not an answer about the remaining budget
  if (gpu === undefined && node === undefined) throw unavailable(WRONG_SHAPE);
  return { ...gpuHours, ...nodeHours };
}

const WRONG_SHAPE = "the accounting system's answer does not have the shape of a remaining budget";

function eventOf(event: UsageEvent) {
  return {
    id: event.id,
    allocation_id: event.allocationId,
    tenant_id: event.tenantId,
    resource_type: event.resourceType,
    amount: event.amount,
    period_start: new Date(event.periodStart).toISOString(),
    period_end: new Date(event.periodEnd).toISOString(),
  };
}

function unavailable(message: string, cause?: unknown): CodedError {
  return new CodedError("accounting_unavailable", message, {}, cause);
}
