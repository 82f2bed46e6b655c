import { openMemoryStore } from "@seneschal/adapters/memory";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

const base = "/api/v1/emergency-access";
const minute = 60_000;
const runs = Number(process.env["FC_RUNS"] ?? 15);

/** The slow, obvious reference: what a request is, by what happened to it. */
interface Model {
  id: string;
  status: "pending" | "approved" | "denied" | "expired" | "completed";
  approvers: Set<string>;
  until: number;
  token: string | undefined;
}

const step = fc.oneof(
  fc.constantFrom("ask", "fetch", "complete", "use", "restart", "sweep").map((kind) => ({ kind, by: "", ms: 0 })),
  fc.constantFrom("ann", "bob", "requester").map((by) => ({ kind: "approve", by, ms: 0 })),
  fc.constantFrom("ann", "bob", "requester").map((by) => ({ kind: "deny", by, ms: 0 })),
  fc.integer({ min: 1, max: 90 }).map((minutes) => ({ kind: "wait", by: "", ms: minutes * minute })),
);

describe("emergency access as a machine, through the gateway, with restarts in between", () => {
  it("opens by two other persons only, yields one token, and the token works exactly while it is approved", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = openMemoryStore(gatewaySchema);
        let rig: Rig = await openRig({ store, organizations: ["acme"] });
        const { issuer } = rig;
        const { vault } = rig.gateway.services;
        const person = (sub: string): Caller => rig.bearer({ sub, org: "acme", roles: ["security_admin"] });
        let model: Model | undefined;
        for (const { kind, by, ms } of steps) {
          const now = rig.clock.now();
          if (model !== undefined && model.until <= now && /pending|approved/.test(model.status)) model.status = "expired";
          if (kind === "wait") rig.clock.set(now + ms);
          else if (kind === "sweep") await rig.gateway.sweep(now);
          else if (kind === "restart") {
            await rig.close();
            rig = await openRig({ store, vault, issuer, organizations: ["acme"] });
            rig.clock.set(now);
          } else if (kind === "ask") {
            const { body } = await person("requester")("POST", `${base}/request`, { reason: "fire" });
            model = { id: body.id, status: "pending", approvers: new Set(), until: now + 1440 * minute, token: undefined };
          } else if (model !== undefined) {
            const path = `${base}/${model.id}`;
            if (kind === "approve" || kind === "deny") {
              const { status } = await person(by)("POST", `${path}/${kind}`);
              const may = model.status === "pending" && by !== "requester" && !(kind === "approve" && model.approvers.has(by));
              expect(status === 200).toBe(may);
              if (may && kind === "deny") model.status = "denied";
              if (may && kind === "approve" && model.approvers.add(by).size === 2) {
                model.status = "approved";
                model.until = now + 60 * minute;
              }
            } else if (kind === "fetch") {
              const { body } = await person("requester")("GET", path);
              expect(body.status).toBe(model.status);
              expect(body.token !== undefined).toBe(model.status === "approved" && model.token === undefined);
              model.token ??= body.token;
            } else if (kind === "complete") {
              const { status } = await person("requester")("POST", `${path}/complete`);
              expect(status === 200).toBe(model.status === "approved");
              if (status === 200) model.status = "completed";
            } else if (model.token !== undefined) {
              const authorization = `Bearer ${model.token}`;
              const { status } = await rig.anonymous("GET", "/api/v1/audit?limit=1", undefined, { authorization });
              expect(status).toBe(model.status === "approved" ? 200 : 401);
            }
          }
        }
        await rig.close();
      }),
      { numRuns: runs },
    );
  }, 120_000);
});
