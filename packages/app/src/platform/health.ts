import { checkArgument } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";

/** One thing that a service needs. `check` rejects, or is late, when it is not there. */
export interface HealthCheck {
  readonly name: string;
  check(): Promise<unknown>;
  /** The service cannot work without it: not ready. Default true. */
  readonly required?: boolean;
  /** Whether the service needs it at present. Default: always. */
  applies?(): boolean;
}

export interface Health {
  readonly status: "healthy" | "degraded";
  readonly ready: boolean;
  readonly components: Readonly<Record<string, { readonly status: "healthy" | "unhealthy"; readonly message?: string }>>;
}

/** The database answers, and takes what is written. */
export function databaseCheck(store: Pick<DocumentStore, "auditRead" | "checkWrites">): HealthCheck {
  return {
    name: "database",
    async check() {
      await store.auditRead(Number.MAX_SAFE_INTEGER - 1, 1);
      await store.checkWrites?.();
    },
  };
}

/** The health of a service whose background steps `failing` failed when they last ran: degraded, each by its name. */
export function withBackground(health: Health, failing: readonly string[]): Health {
  if (failing.length === 0) return health;
  const steps = failing.map((step) => [`background: ${step}`, { status: "unhealthy", message: "the last run failed" }] as const);
  return { ...health, status: "degraded", components: { ...health.components, ...Object.fromEntries(steps) } };
}

/** Asks every component at once, each at most `timeoutMs`. Causes are for the log (`onFailure`), never for the answer. */
export async function checkHealth(
  checks: readonly HealthCheck[],
  onFailure: (name: string, error: unknown) => void,
  timeoutMs = 2000,
): Promise<Health> {
  checkArgument("checks", checks, "array");
  checkArgument("onFailure", onFailure, "function");
  const results = await Promise.all(
    checks
      .filter((one) => one.applies?.() ?? true)
      .map(async ({ name, check, required = true }) => {
        try {
          await within(check(), timeoutMs);
          return { name, ok: true, required };
        } catch (error) {
          onFailure(name, error);
          return { name, ok: false, required };
        }
      }),
  );
  return {
    status: results.every((result) => result.ok) ? "healthy" : "degraded",
    ready: results.every((result) => result.ok || !result.required),
    components: Object.fromEntries(
      results.map(({ name, ok }) => [name, ok ? { status: "healthy" } : { status: "unhealthy", message: "not available" }]),
    ),
  };
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
