import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";

const page = { method: "GET", auth: "public", status: 200, tag: "dashboard", produces: "text/html" } as const;
/** Fragments show what the status API shows, so they are as open as it is. */
const fragment = { ...page, auth: "optional", action: "storage:read" } as const;
const session = { tag: "dashboard", auth: "public", status: 200, extension: true } as const;
const who = z.object({ id: z.string(), roles: z.array(z.string()), csrf_token: secret(z.string()) });

/** Spec 3 A: the dashboard, its fragments, and the browser's session. */
export const dashboardRoutes = {
  dashboard: { ...page, path: "/ui", summary: "Dashboard" },
  dashboardSlash: { ...page, path: "/ui/", summary: "Dashboard" },
  dashboardAsset: {
    ...page,
    path: "/ui/assets/:name",
    summary: "Scripts and styles of the dashboard",
    params: z.object({ name: z.string().max(128) }),
    produces: "application/octet-stream",
    extension: true,
  },
  clusterCardsFragment: { ...fragment, path: "/ui/fragment/cluster-cards", summary: "Cluster status cards" },
  nodeTableFragment: { ...fragment, path: "/ui/fragment/node-table", summary: "Node table rows" },
  chartDataFragment: { ...fragment, path: "/ui/fragment/chart-data", summary: "Chart data; JSON when it is asked for" },
  alertsFragment: { ...fragment, path: "/ui/fragment/alerts", summary: "Active alerts and warnings" },
  devicesFragment: { ...fragment, path: "/ui/fragment/devices", summary: "Device and pool tables", extension: true },
  shardsFragment: { ...fragment, path: "/ui/fragment/shards", summary: "Shard table", extension: true },
  jobsFragment: { ...fragment, path: "/ui/fragment/jobs", summary: "Job table", extension: true },
  openSession: {
    ...session,
    method: "POST",
    path: "/ui/api/session",
    summary: "Signs a browser in: an HttpOnly cookie and the token that changes need beside it",
    body: z.strictObject({ token: z.string().min(1).max(1024) }),
    errors: [401],
    reply: who,
  },
  getSession: {
    ...session,
    auth: "optional",
    action: "storage:read",
    method: "GET",
    path: "/ui/api/session",
    summary: "Who is signed in; `null`: nobody",
    reply: who.nullable(),
  },
  closeSession: {
    ...session,
    auth: "principal",
    action: "storage:session",
    method: "DELETE",
    path: "/ui/api/session",
    summary: "Signs out",
    reply: z.object({ status: z.literal("ok") }),
  },
} as const satisfies Contract;
