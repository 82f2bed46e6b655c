import type { Contract } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleOf } from "../platform/sample-of.ts";
import { type Entities, entitiesOf, entityOf } from "./entities.ts";
import { openWatchedPair, type Side } from "./federated.ts";
import { registered } from "./registered.ts";
import type { Caller } from "./rig.ts";

const routes = Object.entries(gatewayContract as Contract);
/** Partners' calls are read and answered by other laws. */
const reads = routes.filter(
  ([, { method, action = "" }]) => (method === "GET" || action.endsWith(":read")) && action !== "federation:peer",
);
describe("what reads", () => {
  let pair: Awaited<ReturnType<typeof openWatchedPair>>;
  let acme: Side;
  let all: Entities;
  beforeAll(async () => {
    pair = await openWatchedPair();
    acme = pair.acme;
    all = entitiesOf(acme);
  });
  afterAll(() => pair.close());

  const kinds = new Map<string, Promise<{ readonly params: Readonly<Record<string, string>>; readonly by: Caller }>>();
  const made = async (kind: string) => {
    all.begin();
    const params = await (all.makers[kind] as () => Promise<Record<string, string>>)();
    return { params, by: all.caller() };
  };
  /** The path of a route with the parameters of something that is there, and who made it. */
  const aimed = async (path: string) => {
    const kind = entityOf(path);
    if (kind !== undefined && !kinds.has(kind)) kinds.set(kind, made(kind));
    const known = kind === undefined ? undefined : await kinds.get(kind);
    const others: Readonly<Record<string, string>> = { index: "1", id: "acme" };
    const params: Readonly<Record<string, string | undefined>> = {
      ...others,
      workspace_id: (await kinds.get("workspace"))?.params["id"],
      ...known?.params,
    };
    return {
      path: path.replace(/:([a-z_]+)/g, (_, name: string) => params[name] ?? "00000000-0000-7000-8000-000000000000"),
      by: known?.by ?? acme.rig.admin("acme"),
    };
  };
  // That nothing is written is what its rig watches: gateway-watch.ts.
  it("answers with what it is asked for, and what is shown changes nothing", async () => {
    await aimed("/api/v1/workspaces/:id");
    const answered: string[] = [];
    for (const [id, route] of reads) {
      const { path, by } = await aimed(route.path);
      const body = route.body === undefined || route.method === "GET" ? undefined : sampleOf(route.body);
      const answer = await by(route.method, path, body);
      if (answer.status < 300) answered.push(id);
      else expect(answer.status, `${id} ${answer.text}`).toBeLessThan(500);
    }
    expect(answered.length).toBeGreaterThan(60);
  });

  it("below a workspace shows nothing to an identity of the organisation that is not let in, whatever may be asked of it", async () => {
    const root = acme.rig.admin("acme");
    const { body: workspace } = await root("POST", "/api/v1/workspaces", {
      name: "closed to most",
      purpose: "confidential purpose",
    });
    const { body: invitation } = await root("POST", `/api/v1/workspaces/${workspace.id}/invite`, { org_id: "umbrella" });
    const stranger = await registered(acme.rig, root, { org: "acme", sub: "outsider" });
    // What a custom role may do, it may with what it sees.
    const reading = [...new Set(routes.map(([, { action = "" }]) => action.split(":") as [string, string]))]
      .filter(([resource, action]) => resource !== "workspace" && /^(read|evaluate)$/.test(action))
      .map(([resource, action]) => ({ resource, action }));
    const { body: role } = await root("POST", "/api/v1/identities/roles", { name: "reader of the rest", permissions: reading });
    expect(
      (await root("POST", `/api/v1/identities/roles/${role.id}/assign`, { identity_id: stranger.id, identity_type: "user" }))
        .status,
    ).toBeLessThan(300);
    const below = routes.filter(
      // Who is not let in asks to be.
      ([, { path, action }]) => /\/workspaces?\/:(id|workspace_id)/.test(path) && action !== "workspace:request-access",
    );
    expect(below.length).toBeGreaterThan(20);
    const told: unknown[] = [];
    for (const [id, route] of below) {
      const path = route.path.replace(/:(id|workspace_id)/, workspace.id).replace(":identity_id", stranger.id);
      const body = route.body === undefined ? undefined : sampleOf(route.body);
      const { status, text } = await stranger.call(route.method, path, body);
      const shown = ["closed to most", "confidential purpose", invitation.id, "umbrella"].filter((known) => text.includes(known));
      if (![403, 404, 400].includes(status) || (route.method === "GET" && status === 400) || shown.length > 0)
        told.push([id, status, ...shown]);
    }
    const question = { actor: "outsider", operation: "encrypt", workspace: workspace.id };
    const asked = await stranger.call("POST", "/api/v1/policies/evaluate", question);
    if (asked.status !== 404) told.push(["evaluatePolicy", asked.status]);
    expect(told).toEqual([]);
    const admission = { identity_id: stranger.id, identity_type: "user" };
    expect((await root("POST", `/api/v1/workspaces/${workspace.id}/admissions`, admission)).status).toBe(201);
    for (const path of [workspace.id, `${workspace.id}/invitations`])
      expect((await stranger.call("GET", `/api/v1/workspaces/${path}`)).status, path).toBe(200);
  });
});
