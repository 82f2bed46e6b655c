import * as z from "zod";
import type { Contract } from "../route.ts";

const open = { tag: "health", auth: "public", method: "GET", status: 200, uncounted: true } as const;
const component = z.strictObject({ status: z.enum(["healthy", "unhealthy"]), message: z.string().optional() });
const health = z.strictObject({
  status: z.enum(["healthy", "degraded"]),
  version: z.string(),
  components: z.record(z.string(), component),
});
const readiness = z
  .strictObject({
    ready: z.boolean(),
    services: z.strictObject({ database: z.string(), cache: z.string(), policy_engine: z.string() }),
  })
  .meta({ id: "ReadinessResponse" });

/** The service itself. Both addresses answer alike. */
export const healthRoutes = {
  health: { ...open, path: "/health", summary: "Is the process alive and whole", reply: health },
  healthV1: { ...open, path: "/api/v1/health", summary: "As /health", reply: health },
  ready: { ...open, path: "/ready", summary: "Are all services that it depends on there", reply: readiness, alsoStatus: [503] },
  readyV1: { ...open, path: "/api/v1/ready", summary: "As /ready", reply: readiness, alsoStatus: [503] },
  metrics: { ...open, path: "/metrics", summary: "Metrics, Prometheus text format", produces: "text/plain", extension: true },
} as const satisfies Contract;
