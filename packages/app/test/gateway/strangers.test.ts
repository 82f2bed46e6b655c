import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callRoute, guardedRoutes } from "./guarded-routes.ts";
import { register } from "./registered.ts";
import { type Answer, openRig, type Rig } from "./rig.ts";
import { makeTargets, type Targets } from "./samples.ts";

const most = 2;
/** What an answer leaves behind whoever asks: of each caller one mark, or of each moment. */
const marks = new Set(["audit", "audit_checkpoints", "last_uses"]);

describe("callers of whom only their token speaks, without any role", () => {
  let rig: Rig;
  let targets: Targets;
  let bodies: Targets["bodies"];
  beforeAll(async () => {
    rig = await openRig({ settings: { waiting: { emergency_requests: most, join_requests: most, messages: most } } });
    targets = await makeTargets(rig);
    const acme = rig.admin("acme");
    const group = (await acme("POST", "/api/v1/identities/groups", { name: "asked" })).body.id;
    const workspace = (await acme("POST", "/api/v1/workspaces", { name: "asked", purpose: "x", group_id: group })).body.id;
    targets = {
      ...targets,
      params: { ...targets.params, groups: { id: group }, workspaces: { ...targets.params["workspaces"], id: workspace } },
    };
    ({ bodies } = targets);
  });
  afterAll(() => rig.close());

  let count = 0;
  const stranger = () => rig.bearer({ sub: `stranger-${++count}`, org: "acme" });
  const head = async () => (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;

  it.each(guardedRoutes.filter(([, { method }]) => method !== "GET"))(
    "%s: however many there are, they make the organisation keep no more than a setting says",
    async (id, route) => {
      const before = await head();
      const answers: Answer[] = [];
      for (let i = 0; i < most + 3; i += 1) answers.push(await callRoute(stranger(), [id, route], targets));
      expect(Math.max(...answers.map(({ status }) => status)), answers[0]?.text).toBeLessThan(500);
      const made = (await rig.store.changes(before, 1_000_000)).filter(({ coll, version }) => version === 1 && !marks.has(coll));
      expect(made.length, JSON.stringify(made)).toBeLessThanOrEqual(most * (id === "sendMessage" ? 2 : 1));
      const told = answers.at(-1);
      if (made.length > 0)
        expect([told?.status, told?.body.error.code, told?.headers.get("retry-after")]).toEqual([
          ...[429, "RATE_LIMITED", "900"],
        ]);
    },
  );

  it("keep no member from asking, who is bounded by what is the member's own", async () => {
    await register(rig.admin("acme"), "member");
    const member = rig.bearer({ sub: "member", org: "acme" });
    expect((await member("POST", "/api/v1/emergency-access/request", { reason: "x" })).status).toBe(201);
    const path = `/api/v1/identities/groups/${targets.params["groups"]?.["id"]}/join-requests`;
    expect((await member("POST", path, {})).status).toBe(201);
    const send = () => member("POST", "/api/v1/messages", bodies["sendMessage"]);
    const sent = [await send(), await send(), await send()];
    expect(sent.map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(sent.at(-1)?.body.error.details).toMatchObject({ budget: "messages", limit: most, registered: true });
  });
});
