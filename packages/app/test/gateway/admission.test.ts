import type { JsonObject } from "@seneschal/kernel";
import type { Commit, DocumentStore } from "@seneschal/kernel/ports";
import { describe, expect, it } from "vitest";
import { tableAllows } from "./authorisation-table.ts";
import { openTestStore } from "./backend.ts";
import { callRoute, guardedRoutes } from "./guarded-routes.ts";
import { registered } from "./registered.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeTargets } from "./samples.ts";

/** What the gateway writes on its own account while it answers: signatures of its log, and that somebody was refused. */
const own = new Set(["audit_checkpoints", "audit_log_keys", "auth.failure", "policy.violation"]);
/** The collections that a commit changes, and the events that it records. */
const changes = ({ puts = [], dels = [], audit = [] }: Commit): readonly string[] =>
  [...[...puts, ...dels].map(({ coll }) => coll), ...audit.map(({ event }) => String(event["event_type"]))].filter(
    (name) => !own.has(name),
  );

/** A store that others write to as well: just before the next commit that changes anything, and is not theirs, something happens. */
function shared(inner: DocumentStore) {
  let before: (() => Promise<void>) | undefined;
  let written: string[] = [];
  const store: DocumentStore = {
    ...inner,
    capabilities: { ...inner.capabilities, multiProcess: true },
    async commit(commit) {
      const run = before;
      if (run !== undefined && changes(commit).length > 0) {
        before = undefined;
        await run();
      }
      const result = await inner.commit(commit);
      if (result.ok) written.push(...changes(commit));
      return result;
    },
  };
  return {
    store,
    /** Runs `call`, with `run` before its first change; whether it came so far, and which collections it changed. */
    async around<R>(run: (() => Promise<void>) | undefined, call: () => Promise<R>) {
      let fired = false;
      written = [];
      before =
        run &&
        (() => {
          fired = true;
          return run();
        });
      const answer = await call();
      before = undefined;
      return { answer, fired, written };
    },
  };
}

/** How somebody may act, and how that ends and comes back behind the gateway's back. */
interface Way {
  readonly caller: Caller;
  readonly coll: string;
  readonly id: string;
  /** Absent: the document is deleted. */
  readonly ended?: JsonObject;
  /** What may be done without it. */
  readonly mayStill?: (action: string) => boolean;
}

const ways: Readonly<Record<string, (rig: Rig) => Promise<Way>>> = {
  "the certificate is revoked": async (rig) => {
    const admin = rig.dev.organizations["acme"]?.admins.super_admin;
    const { items } = await rig.store.list("certificates", "by_subject", ["acme", "admin", admin?.id ?? ""], { limit: 9 });
    const serial = items[0]?.id ?? "";
    return { caller: rig.admin("acme"), coll: "certificates", id: serial, ended: { status: "revoked" } };
  },
  "the admin is disabled": async (rig) => {
    const id = rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
    return { caller: rig.admin("acme"), coll: "admins", id, ended: { enrollment_status: "disabled" } };
  },
  "the user of a token is removed": async (rig) => {
    const { id, call } = await registered(rig, rig.admin("acme"), { org: "acme", sub: "ada", roles: ["super_admin"] });
    return { caller: call, coll: "users", id, ended: { active: false } };
  },
  "the custom role is taken away": async (rig) => {
    const admin = rig.admin("acme");
    const user = { type: "user", roles: [], scopes: [], permissions: [] };
    const mayStill = (action: string): boolean => tableAllows(user, action);
    const permissions = [{ resource: "*", action: "*" }];
    const role = await admin("POST", "/api/v1/identities/roles", { name: "all", description: "all", permissions });
    expect(role.status, role.text).toBe(201);
    const { id, call } = await registered(rig, admin, { org: "acme", sub: "bob" });
    const given = await admin("POST", `/api/v1/identities/roles/${role.body.id}/assign`, {
      identity_id: id,
      identity_type: "user",
    });
    expect(given.status, given.text).toBeLessThan(300);
    return { caller: call, coll: "role_assignments", id: `${role.body.id}/${id}`, mayStill };
  },
};

/** Who asks for a certificate anew ends the one that the walk goes on with. */
const endsCaller = new Set(["renewAdminCertificate"]);

describe("whoever may not act any more when a request would change something", () => {
  it("changes nothing by any route of the contract, and is refused", async () => {
    const inner = await openTestStore();
    const { store, around } = shared(inner);
    const rig = await openRig({ store, settings: { sso: { providers: [{ id: "idp_a" }] } } });
    const targets = await makeTargets(rig);
    const opened = await Promise.all(Object.entries(ways).map(async ([name, open]) => ({ name, ...(await open(rig)) })));
    let nth = 0;
    const refused = new Map<string, string[]>(opened.map(({ name }) => [name, []]));
    for (const entry of guardedRoutes) {
      const [route, { method, action = "" }] = entry;
      if (method === "GET") continue;
      for (const { name, caller, coll, id, ended, mayStill } of opened) {
        if (mayStill?.(action) === true) continue;
        const before = (await inner.get(coll, id))?.doc as JsonObject;
        const write = async (doc: JsonObject | undefined): Promise<void> => {
          nth += 1;
          const done = await inner.commit({
            commitId: `behind ${nth}`,
            ...(doc === undefined ? { dels: [{ coll, id }] } : { puts: [{ coll, id, doc }] }),
          });
          if (!done.ok) throw new Error("lost");
        };
        const end = () => write(ended && { ...before, ...ended });
        const { fired, written, answer } = await around(end, () => callRoute(caller, entry, targets));
        if (!fired) continue;
        await write(before);
        const { status, text } = answer;
        expect([route, name, written, [401, 403].includes(status)], text).toEqual([route, name, [], true]);
        refused.get(name)?.push(route);
      }
      if (endsCaller.has(route)) continue;
      // With the right it changes something, if it came so far.
      const { written, answer } = await around(undefined, () => callRoute(rig.admin("acme"), entry, targets));
      const reached = refused.get("the admin is disabled")?.includes(route) === true;
      expect([route, reached || written.length === 0], answer.text).toEqual([route, true]);
    }
    for (const [name, routes] of refused) expect(routes.length, `${name}: ${routes.join(" ")}`).toBeGreaterThan(8);
    await rig.close();
    await inner.close();
  });
});
