import fc from "fast-check";
import { expect, it } from "vitest";
import { register } from "../registered.ts";
import { type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const hour = 3_600_000;

/** The slow, obvious reference: one workspace of an owner, to which a guest may come. */
interface Model {
  exists: boolean;
  made: number;
  archived: boolean;
  expires: number;
  version: number;
  guest: "out" | "invited" | "in";
  invitedUntil: number;
  readonly admitted: { owner: boolean; guest: boolean };
  sealed: { readonly ciphertext: string; readonly plaintext: string }[];
}

interface Real {
  readonly gateway: ModelGateway;
  readonly owner: Ask;
  readonly guest: Ask;
  /** As which users the two are registered. */
  readonly ids: { readonly owner: string; readonly guest: string };
  readonly orgs: { readonly owner: string; readonly guest: string };
  id: string;
}

type Who = "owner" | "guest";
type Step = fc.AsyncCommand<Model, Real>;
const expired = (model: Model, now: number): boolean => model.expires <= now;
const active = (model: Model, now: number): boolean => !model.archived && !expired(model, now);
const invited = (model: Model, now: number): boolean => model.guest === "invited" && model.invitedUntil > now;

/** Somebody who takes part and is admitted. */
const enters = (model: Model, who: Who): boolean =>
  model.exists && model.admitted[who] && (who === "owner" || model.guest === "in");

/** Everything that was sealed opens for who may, in every state but one. */
async function expectSealed(who: Who, model: Model, real: Real, now: number): Promise<void> {
  const may = enters(model, who) && (model.archived || !expired(model, now));
  for (const { ciphertext, plaintext } of model.sealed) {
    const { status, body } = await real[who]("POST", `/api/v1/workspaces/${real.id}/decrypt`, { ciphertext });
    expect(status === 200).toBe(may);
    if (may) expect(body).toEqual({ plaintext });
  }
}

/** After each step the records say what the reference says, and everything that was sealed opens. */
const event = (name: string, run: (model: Model, real: Real, now: number) => Promise<void>, needsOne = true): Step =>
  step<Model, Real>(
    name,
    async (model, real) => {
      await run(model, real, real.gateway.clock.now());
      const now = real.gateway.clock.now();
      const seen = await real.owner("GET", `/api/v1/workspaces/${real.id}`);
      if (!model.exists) return expect(seen.status).toBe(404);
      const status = model.archived ? "archived" : expired(model, now) ? "expired" : "active";
      expect(seen.body).toMatchObject({ status, dek_version: model.version });
      expect((await real.guest("GET", `/api/v1/workspaces/${real.id}`)).status).toBe(model.guest === "in" ? 200 : 404);
      await expectSealed("owner", model, real, now);
      for (const who of ["owner", "guest"] as const) {
        const seat = await real.gateway.store.get("workspace_seats", `${real.id}/${real.orgs[who]}`);
        const there = who === "owner" || model.guest === "in";
        expect(Object.keys((seat?.doc["deks"] ?? {}) as object)).toHaveLength(there ? model.version : 0);
      }
    },
    (model) => !needsOne || model.made > 0,
  );

const create = event(
  "create",
  async (model, real) => {
    const { status, body } = await real.owner("POST", "/api/v1/workspaces", { name: `w ${model.made}` });
    expect(status).toBe(201);
    real.id = body.id;
    const fresh = { exists: true, archived: false, expires: Infinity, version: 1, guest: "out", sealed: [] } as const;
    Object.assign(model, fresh, { made: model.made + 1, sealed: [] });
    Object.assign(model.admitted, { owner: true, guest: false });
  },
  false,
);

const encrypt = (who: Who, plaintext: string): Step =>
  event(`${who} encrypts`, async (model, real, now) => {
    const { status, body } = await real[who]("POST", `/api/v1/workspaces/${real.id}/encrypt`, { plaintext });
    expect(status === 200).toBe(enters(model, who) && active(model, now));
    if (status === 200) model.sealed.push({ ciphertext: body.ciphertext, plaintext });
  });
const decrypt = (who: Who): Step =>
  event(`${who} decrypts everything`, (model, real, now) => expectSealed(who, model, real, now));

/** A change by the owner that the reference takes over when it may be made. */
const change = (
  name: string,
  path: string,
  body: object,
  may: (model: Model, now: number) => boolean,
  then: (model: Model, now: number) => void,
) =>
  event(name, async (model, { owner, id }, now) => {
    const { status } = await owner("POST", `/api/v1/workspaces/${id}/${path}`, body);
    expect(status < 300).toBe(model.exists && may(model, now));
    if (status < 300) then(model, now);
  });
const rotate = change("rotate", "rotate-dek", {}, active, (model) => {
  model.version += 1;
});
const archive = change(
  "archive",
  "archive",
  {},
  () => true,
  (model) => {
    model.archived = true;
    if (model.guest === "invited") model.guest = "out";
  },
);
const extend = (hours: number): Step =>
  event(`extend to ${hours} hours from now`, async (model, { owner, id }, now) => {
    const expires_at = new Date(now + hours * hour).toISOString();
    const { status } = await owner("POST", `/api/v1/workspaces/${id}/extend`, { expires_at });
    const later = model.expires === Infinity || now + hours * hour > model.expires;
    expect(status === 204).toBe(model.exists && !model.archived && later);
    if (status === 204) model.expires = now + hours * hour;
  });
const invite = event("invite", async (model, { owner, orgs, id }, now) => {
  const { status } = await owner("POST", `/api/v1/workspaces/${id}/invite`, { org_id: orgs.guest });
  expect(status === 201).toBe(model.exists && active(model, now) && model.guest !== "in" && !invited(model, now));
  if (status === 201) Object.assign(model, { guest: "invited", invitedUntil: now + 168 * hour });
});
const answer = (verb: "accept" | "decline"): Step =>
  event(`guest ${verb}s`, async (model, { guest, id }, now) => {
    const { status } = await guest("POST", `/api/v1/workspaces/${id}/${verb}-invitation`, {});
    expect(status === 204).toBe(model.exists && invited(model, now));
    if (status !== 204) return;
    model.guest = verb === "accept" ? "in" : "out";
    model.admitted.guest = verb === "accept";
  });
const grant = (who: Who): Step =>
  event(`${who} admits itself`, async (model, real) => {
    const body = { identity_id: real.ids[who], identity_type: "user" };
    const { status } = await real[who]("POST", `/api/v1/workspaces/${real.id}/admissions`, body);
    const there = model.exists && (who === "owner" || model.guest === "in");
    expect(status === 201).toBe(there && !model.archived && !model.admitted[who]);
    if (status === 201) model.admitted[who] = true;
  });
const dismiss = (who: Who): Step =>
  event(`the owner dismisses the ${who}`, async (model, { owner, id, ids }) => {
    const { status } = await owner("DELETE", `/api/v1/workspaces/${id}/admissions/${ids[who]}`);
    expect(status === 204).toBe(model.exists && model.admitted[who] && (who === "owner" || model.guest === "in"));
    if (status === 204) model.admitted[who] = false;
  });
const remove = event("delete", async (model, { owner, id }) => {
  const { status } = await owner("DELETE", `/api/v1/workspaces/${id}`, { signatures: {} });
  expect(status).toBe(model.exists ? 204 : 404);
  model.exists = false;
});
const wait = (hours: number): Step =>
  event(`${hours} hours pass`, async (_, { gateway }, now) => gateway.clock.set(now + hours * hour), false);
const sweep = event("sweep", async (_, { gateway }) => gateway.sweep(), false);
const restart = event("restart", async (_, { gateway }) => gateway.restart(), false);

const open = modelGateways();

it(
  "a workspace lets in who takes part and is admitted, while its state allows; no rotation, restart or guest loses a ciphertext",
  () => {
    const who = fc.constantFrom<Who>("owner", "guest");
    return fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            ...[create, rotate, rotate, invite, archive, remove, sweep, restart].map((each) => fc.constant(each)),
            fc.tuple(who, fc.constantFrom("AAAA", "BBBB", "")).map(([by, text]) => encrypt(by, text)),
            who.map((by) => encrypt(by, "CCCC")),
            who.map(decrypt),
            who.map(grant),
            who.map(dismiss),
            fc.constantFrom<"accept" | "decline">("accept", "accept", "decline").map(answer),
            fc.integer({ min: 1, max: 40 }).map(extend),
            fc.integer({ min: 1, max: 100 }).map(wait),
          ],
          { maxCommands: 25, size: "max" },
        ),
        async (commands) => {
          const { gateway, org } = await open();
          const orgs = { owner: org, guest: `${org}-guest` };
          await gateway.begin(org);
          const guest = gateway.as("guest", orgs.guest, "super_admin");
          // The guest lives on this instance: it has a root key here.
          await guest("POST", "/api/v1/crk/generate", { total_shares: 2, threshold: 2 });
          const model: Model = {
            exists: false,
            made: 0,
            archived: false,
            expires: Infinity,
            version: 0,
            guest: "out",
            invitedUntil: 0,
            admitted: { owner: false, guest: false },
            sealed: [],
          };
          const owner = gateway.as("owner", org, "super_admin");
          const ids = { owner: await register(owner, "owner"), guest: await register(guest, "guest") };
          const real: Real = { gateway, ids, orgs, guest, owner, id: org };
          // Every history begins with something to lose.
          await create.run(model, real);
          await encrypt("owner", "AAAA").run(model, real);
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns },
    );
  },
  timeout,
);
