import fc from "fast-check";
import { expect, it } from "vitest";
import { register } from "../registered.ts";
import { type Answer, type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const base = "/api/v1/account-recovery";
const hour = 3_600_000;

interface Share {
  readonly index: number;
  readonly data: string;
}

/** The slow, obvious reference: one recovery at a time, and what it collected. */
interface Model {
  id: string | undefined;
  type: "lost_credentials" | "locked_account";
  status: "none" | "pending" | "shares_collected" | "completed" | "expired";
  indexes: Set<number>;
  people: Set<number>;
  until: number;
  /** Of the root key: shares of an earlier epoch open nothing. */
  epoch: number;
  openedIn: number;
  /** Enrolment tokens that were handed out, the newest last. */
  tokens: string[];
}

interface Real {
  readonly gateway: ModelGateway;
  readonly org: string;
  readonly helper: Ask;
  readonly target: string;
  readonly witness: string;
  shares: readonly Share[];
}

type Step = fc.AsyncCommand<Model, Real>;
const isOpen = (model: Model): boolean => model.status === "pending" || model.status === "shares_collected";

/** Time ends what it ends before anything else happens; afterwards no share is held that is not wanted any more. */
const event = (name: string, run: (model: Model, real: Real, now: number) => Promise<void>, needsOne = true): Step =>
  step<Model, Real>(
    name,
    async (model, real) => {
      const now = real.gateway.clock.now();
      if (isOpen(model) && model.until <= now) model.status = "expired";
      await run(model, real, now);
      for (const index of [1, 2, 3]) {
        const held = await real.gateway.store.get("recovery_shares", `${model.id}/${index}`);
        if (isOpen(model)) expect(held !== undefined).toBe(model.indexes.has(index));
        else if (model.status === "completed") expect(held).toBeUndefined();
      }
    },
    (model) => !needsOne || model.id !== undefined,
  );

const initiate = (type: Model["type"]): Step =>
  event(
    `initiate ${type}`,
    async (model, { helper, target }, now) => {
      const { status, body } = await helper("POST", `${base}/initiate`, { admin_id: target, recovery_type: type, reason: "r" });
      expect(status).toBe(isOpen(model) ? 409 : 201);
      if (status !== 201) return;
      Object.assign(model, {
        id: body.id,
        type,
        status: "pending",
        indexes: new Set(),
        people: new Set(),
        until: now + 24 * hour,
      });
      model.openedIn = model.epoch;
    },
    false,
  );

const submit = (index: number, who: number, forged: boolean): Step =>
  event(`${forged ? "forged" : "real"} share ${index} of ${who}`, async (model, { gateway, org, shares }) => {
    const share = shares.find((one) => one.index === index);
    const bytes = Buffer.from(share?.data ?? "", "base64");
    if (forged) bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const { status, body } = await gateway.as(`custodian-${who}`, org)("POST", `${base}/${model.id}/share`, {
      index,
      data: bytes.toString("base64"),
    });
    if (model.status !== "pending") return expect(status).toBe(409);
    if (model.indexes.has(index) || model.people.has(who) || model.openedIn !== model.epoch) return expect(status).toBe(409);
    if (forged) return expect(status).toBe(422);
    expect([status, body.shares_collected]).toEqual([200, model.indexes.add(index).size]);
    model.people.add(who);
    if (model.indexes.size === 2) model.status = "shares_collected";
    expect(body.status).toBe(model.status);
  });

const selfHelp = event("the admin helps itself", async (model, { gateway, target }) => {
  const org = (await gateway.store.get("admins", target))?.doc["org_id"] as string;
  const self = gateway.as(target, org, "super_admin");
  // Before its enrolment the admin is nobody, afterwards it is the one who must not.
  expect((await self("POST", `${base}/${model.id}/complete`)).status).toBe(403);
});

const complete = event("complete", async (model, { gateway, helper, target }) => {
  const { status, body }: Answer = await helper("POST", `${base}/${model.id}/complete`);
  const may = model.status === "shares_collected" && model.openedIn === model.epoch;
  if (model.status === "pending") expect(status).toBe(422);
  else expect(status).toBe(may ? 200 : 409);
  if (!may) return;
  model.status = "completed";
  expect(body.enrollment_token !== undefined).toBe(model.type === "lost_credentials");
  if (body.enrollment_token !== undefined) model.tokens.push(body.enrollment_token);
  // One token works: the newest.
  for (const [i, token] of model.tokens.entries()) {
    const setup = await gateway.holding("none")("GET", `/api/v1/enrollment/admins/${target}/setup?token=${token}`);
    expect(setup.body?.email !== undefined).toBe(i === model.tokens.length - 1);
  }
});

const rotate = event(
  "the root key is rotated",
  async (model, real) => {
    const { body: ceremony } = await real.helper("POST", "/api/v1/crk/rotate", { threshold: 2 });
    const path = `/api/v1/crk/ceremony/${ceremony.id}`;
    for (const share of real.shares.slice(0, 2)) {
      const custodian = real.gateway.as(`custodian-${share.index}`, real.org);
      expect((await custodian("POST", `${path}/share`, share)).status).toBe(204);
    }
    const { status, body } = await real.helper("POST", `${path}/complete`, { witness: real.witness });
    expect(status).toBe(200);
    real.shares = body.shares.map(({ index, data }: Share) => ({ index, data }));
    model.epoch += 1;
  },
  false,
);

const wait = (hours: number): Step =>
  event(`${hours} hours pass`, async (_, { gateway }, now) => gateway.clock.set(now + hours * hour), false);
const sweep = event("sweep", async (_, { gateway }) => gateway.sweep(), false);
const restart = event("restart", async (_, { gateway }) => gateway.restart(), false);

const number = fc.integer({ min: 1, max: 3 });
const open = modelGateways();

async function setUp(): Promise<{ readonly model: Model; readonly real: Real }> {
  const { gateway, org } = await open();
  const helper = gateway.as("helper", org, "super_admin");
  const { body: key } = await helper("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
  const admin = async (name: string): Promise<string> => {
    const made = await helper("POST", "/api/v1/identities/admins", { email: `${name}@x.example`, name, role: "auditor" });
    return made.body.id;
  };
  const [target, witness] = [await admin("target"), await admin("witness")];
  const stored = await gateway.store.get("admins", witness);
  // Enrolled without a certificate: only its place as a witness is wanted.
  const doc = { ...stored?.doc, enrollment_status: "active" };
  await gateway.store.commit({ commitId: `witness ${org}`, puts: [{ coll: "admins", id: witness, doc }] });
  for (const who of [1, 2, 3]) await register(helper, `custodian-${who}`);
  const shares = key.shares.map(({ index, data }: Share) => ({ index, data }));
  const model: Model = {
    id: undefined,
    type: "lost_credentials",
    status: "none",
    indexes: new Set<number>(),
    people: new Set<number>(),
    until: Infinity,
    epoch: 0,
    openedIn: 0,
    tokens: [],
  };
  return { model, real: { gateway, org, helper, target, witness, shares } };
}

it(
  "a recovery succeeds once, by a quorum of real shares of the present key, within its day, and by others only",
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            fc.constantFrom<Model["type"]>("lost_credentials", "locked_account").map(initiate),
            fc.constant(initiate("lost_credentials")),
            fc.tuple(number, number, fc.boolean()).map(([index, who, forged]) => submit(index, who, forged)),
            number.map((index) => submit(index, index, false)),
            ...[selfHelp, complete, complete, rotate, sweep, restart].map((each) => fc.constant(each)),
            fc.integer({ min: 1, max: 12 }).map(wait),
          ],
          { maxCommands: 20, size: "max" },
        ),
        async (commands) => {
          const { model, real } = await setUp();
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns },
    ),
  timeout,
);
