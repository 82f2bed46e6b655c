import { type Handlers, type Payload, type RequestFacts, situation, withHeaders } from "@seneschal/contract";
import type { StorageContract } from "@seneschal/contract/storage";
import { type BrowserSession, sessionCookie } from "../admin/admin-auth.ts";
import type { AdminServices } from "../admin/services.ts";
import { clusterView, deviceViews, nodeViews, poolViews, shardViews } from "../admin/views.ts";
import { alertList, chartData, chartFragment, clusterCards, deviceTables, jobTable, nodeTable, shardTable } from "./fragments.ts";
import type { Html } from "./html.ts";
import { dashboardPage } from "./page.ts";

type DashboardRoute =
  | "dashboard"
  | "dashboardSlash"
  | "dashboardAsset"
  | "clusterCardsFragment"
  | "nodeTableFragment"
  | "chartDataFragment"
  | "alertsFragment"
  | "devicesFragment"
  | "shardsFragment"
  | "jobsFragment"
  | "openSession"
  | "getSession"
  | "closeSession";

/** Everything from here and nothing from elsewhere; no inline script, no inline style, no frame. */
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

function page({ text }: Html): Payload {
  const headers = { "content-security-policy": policy, "referrer-policy": "no-referrer" };
  return { mediaType: "text/html; charset=utf-8", headers, body: text };
}

function who({ principal, csrf }: BrowserSession) {
  return { id: principal.id, roles: [...principal.roles], csrf_token: csrf };
}

function cookie(services: AdminServices, { secure }: RequestFacts, value: string, maxAge: number): string {
  return `${sessionCookie}=${value}; Path=/ui; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure || services.tls ? "; Secure" : ""}`;
}

const shell = ({ assets }: AdminServices, { request }: { readonly request: RequestFacts }) =>
  page(dashboardPage((name) => `${request.basePath}/ui/assets/${assets.hashedName(name)}`));

export const dashboardHandlers: Pick<Handlers<StorageContract, AdminServices>, DashboardRoute> = {
  dashboard: shell,
  dashboardSlash: shell,
  dashboardAsset({ assets }, { params, request }) {
    const reply = assets.get(params.name, request.headers["accept-encoding"]);
    if (reply === undefined) throw situation("not_found", "no such file");
    return reply;
  },
  clusterCardsFragment: ({ node }) => page(clusterCards(clusterView(node))),
  nodeTableFragment: ({ node }) => page(nodeTable(nodeViews(node))),
  chartDataFragment({ node }, { request, now }) {
    const data = chartData(node.monitor.history.query(3, now));
    if (request.headers["accept"]?.includes("application/json"))
      return { mediaType: "application/json", body: JSON.stringify(data) };
    return page(chartFragment(data));
  },
  alertsFragment: ({ node }) => page(alertList(clusterView(node).active_alerts)),
  devicesFragment: async ({ node }) => page(deviceTables(poolViews(node), await deviceViews(node))),
  shardsFragment: ({ node }) => page(shardTable(shardViews(node))),
  jobsFragment: async ({ node }) => page(jobTable(await node.jobs.list({ limit: 50 }))),
  openSession(services, { body, request }) {
    const session = services.auth.signIn(body.token, request);
    return withHeaders({ "set-cookie": cookie(services, request, session.cookie, 43_200) }, who(session));
  },
  getSession({ auth }, { request, principal }) {
    const session = auth.session(request.headers);
    if (principal === undefined) return null;
    return session === undefined ? { id: principal.id, roles: [...principal.roles], csrf_token: "" } : who(session);
  },
  closeSession(services, { request }) {
    services.auth.signOut(request.headers);
    return withHeaders({ "set-cookie": cookie(services, request, "", 0) }, { status: "ok" as const });
  },
};
