import fc from "fast-check";
import { expect, it } from "vitest";
import { type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const base = "/api/v1/emergency-access";
const minute = 60_000;

/** The slow, obvious reference: what a request is, by what happened to it. */
interface Model {
  id: string | undefined;
  status: "pending" | "approved" | "denied" | "expired" | "completed";
  approvers: Set<string>;
  until: number;
  token: string | undefined;
}

interface Real {
  readonly gateway: ModelGateway;
  readonly person: (sub: string) => Ask;
}

type Step = fc.AsyncCommand<Model, Real>;

/** Time ends what it ends before anything else happens. */
function later(name: string, run: (model: Model, real: Real, now: number) => Promise<void>, always = false): Step {
  return step<Model, Real>(
    name,
    async (model, real) => {
      const now = real.gateway.clock.now();
      if (model.until <= now && /pending|approved/.test(model.status)) model.status = "expired";
      await run(model, real, now);
    },
    (model) => always || model.id !== undefined,
  );
}

const ask = later(
  "ask",
  async (model, { person }, now) => {
    const { body } = await person("requester")("POST", `${base}/request`, { reason: "fire" });
    Object.assign(model, { id: body.id, status: "pending", approvers: new Set(), until: now + 1440 * minute, token: undefined });
  },
  true,
);
const decide = (kind: "approve" | "deny", by: string): Step =>
  later(`${by}: ${kind}`, async (model, { person }, now) => {
    const { status } = await person(by)("POST", `${base}/${model.id}/${kind}`);
    const may = model.status === "pending" && by !== "requester" && !(kind === "approve" && model.approvers.has(by));
    expect(status === 200).toBe(may);
    if (may && kind === "deny") model.status = "denied";
    if (may && kind === "approve" && model.approvers.add(by).size === 2) {
      Object.assign(model, { status: "approved", until: now + 60 * minute });
    }
  });
const fetch = later("fetch", async (model, { person }) => {
  const { body } = await person("requester")("GET", `${base}/${model.id}`);
  expect(body.status).toBe(model.status);
  expect(body.token !== undefined).toBe(model.status === "approved" && model.token === undefined);
  model.token ??= body.token;
});
const complete = later("complete", async (model, { person }) => {
  const { status } = await person("requester")("POST", `${base}/${model.id}/complete`);
  expect(status === 200).toBe(model.status === "approved");
  if (status === 200) model.status = "completed";
});
const use = later("use the token", async (model, { gateway }) => {
  if (model.token === undefined) return;
  const { status } = await gateway.holding(model.token)("GET", "/api/v1/audit?limit=1");
  expect(status).toBe(model.status === "approved" ? 200 : 401);
});
const wait = (minutes: number): Step =>
  later(`${minutes} minutes pass`, async (_, { gateway }, now) => gateway.clock.set(now + minutes * minute), true);
const sweep = later("sweep", async (_, { gateway }) => gateway.sweep(), true);
const restart = later("restart", async (_, { gateway }) => gateway.restart(), true);

const open = modelGateways();

it(
  "emergency access opens by two other persons only, yields one token, and the token works exactly while it is approved",
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            ...[ask, fetch, complete, use, sweep, restart].map((each) => fc.constant(each)),
            fc.constantFrom("ann", "bob", "requester").map((by) => decide("approve", by)),
            fc.constantFrom("ann", "bob").map((by) => decide("approve", by)),
            fc.constantFrom("ann", "bob", "requester").map((by) => decide("deny", by)),
            fc.integer({ min: 1, max: 90 }).map(wait),
          ],
          { maxCommands: 25, size: "max" },
        ),
        async (commands) => {
          const { gateway, org } = await open();
          const model: Model = { id: undefined, status: "pending", approvers: new Set(), until: Infinity, token: undefined };
          const person = (sub: string): Ask => gateway.as(sub, org, "security_admin");
          await fc.asyncModelRun(() => ({ model, real: { gateway, person } }), commands);
        },
      ),
      { numRuns },
    ),
  timeout,
);
