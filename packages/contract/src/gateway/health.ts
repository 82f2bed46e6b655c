import * as z from "zod";
import type { Contract } from "../route.ts";

const component = z.object({ status: z.enum(["healthy", "unhealthy"]), message: z.string().optional() });

const open = { tag: "health", auth: "public", status: 200 } as const;
const probe = { ...open, uncounted: true, alsoStatus: [503] } as const;

/** Probes and discovery: no authentication. */
export const healthRoutes = {
  health: {
    ...probe,
    method: "GET",
    path: "/health",
    summary: "Health of the service and its components",
    reply: z
      .object({
        status: z.enum(["healthy", "degraded"]),
        version: z.string(),
        instance_id: z.string(),
        components: z.record(z.string(), component),
      })
      .meta({ id: "Health" }),
  },
  ready: {
    ...probe,
    method: "GET",
    path: "/ready",
    summary: "Readiness probe",
    reply: z.object({ status: z.enum(["ready", "not_ready"]) }),
  },
  live: {
    ...probe,
    method: "GET",
    path: "/live",
    summary: "Liveness probe",
    reply: z.object({ status: z.literal("alive") }),
  },
  metrics: { ...probe, method: "GET", path: "/metrics", summary: "Metrics, Prometheus text format", produces: "text/plain" },
  ssoConfig: {
    ...open,
    method: "GET",
    path: "/api/v1/sso-config",
    summary: "Login parameters of the identity provider; empty strings without one",
    reply: z.object({ issuer_url: z.string(), client_id: z.string() }),
  },
} as const satisfies Contract;
