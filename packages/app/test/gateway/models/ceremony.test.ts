import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { register } from "../registered.ts";
import { type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const base = "/api/v1/crk/ceremony";
const hour = 3_600_000;
const message = "c2lnbiBtZQ==";

/** Three people; the first has a second account. */
const people = ["1", "2", "3", "1-again"] as const;

interface Share {
  readonly index: number;
  readonly data: string;
}

interface Ceremony {
  readonly id: string;
  readonly operation: "sign" | "reconstruct" | "rotate";
  status: "pending" | "completed" | "cancelled" | "expired";
  readonly indexes: Set<number>;
  readonly people: Set<string>;
  readonly until: number;
}

/** The slow, obvious reference: every ceremony that was started, and how often the key was rotated. */
interface Model {
  readonly ceremonies: Ceremony[];
  rotations: number;
}

interface Real {
  readonly gateway: ModelGateway;
  readonly org: string;
  readonly chair: Ask;
  readonly publicKey: string;
  readonly crk: string;
  readonly witness: string;
  /** Of every epoch, the present one last. */
  readonly epochs: (readonly Share[])[];
}

type Step = fc.AsyncCommand<Model, Real>;
const rotating = ({ ceremonies }: Readonly<Model>): boolean =>
  ceremonies.some(({ operation, status }) => operation === "rotate" && status === "pending");

/** After each step the records say what the reference says, and hold exactly the shares that are still wanted. */
const event = (name: string, run: (model: Model, real: Real, now: number) => Promise<void>): Step =>
  step<Model, Real>(name, async (model, real) => {
    await run(model, real, real.gateway.clock.now());
    const crk = (await real.gateway.store.get("crks", real.crk))?.doc;
    expect([crk?.["version"], crk?.["public_key"]]).toEqual([model.rotations + 1, real.publicKey]);
    for (const { id, status, indexes } of model.ceremonies) {
      expect((await real.chair("GET", `${base}/${id}`)).body.status).toBe(status);
      const held = await real.gateway.store.count("ceremony_shares", "by_ceremony", [id]);
      if (status !== "expired") expect(held).toBe(status === "pending" ? indexes.size : 0);
    }
  });

/** Ends by the sweep what its time ended: a rotation that nobody finished gives the key free. */
async function expire(model: Model, { gateway }: Real, now: number): Promise<void> {
  for (const ceremony of model.ceremonies) {
    if (ceremony.status === "pending" && ceremony.until <= now) ceremony.status = "expired";
  }
  await gateway.sweep();
}

const start = (operation: Ceremony["operation"]): Step =>
  event(`start ${operation}`, async (model, { chair }, now) => {
    const body = { operation, threshold: 2, ...(operation === "sign" ? { data: message } : {}) };
    const answer = await chair("POST", `${base}/start`, body);
    expect(answer.status).toBe(operation === "rotate" && rotating(model) ? 409 : 200);
    if (answer.status !== 200) return;
    model.ceremonies.push({
      id: answer.body.id,
      operation,
      status: "pending",
      indexes: new Set(),
      people: new Set(),
      until: now + 24 * hour,
    });
  });

const pick = (model: Model, at: number): Ceremony | undefined => model.ceremonies.at(-1 - (at % (model.ceremonies.length || 1)));

const submit = (at: number, index: number, who: string, stale: boolean): Step =>
  event(`${stale ? "stale " : ""}share ${index} of ${who} to ceremony -${at}`, async (model, { gateway, org, epochs }) => {
    const ceremony = pick(model, at);
    const shares = stale ? epochs.at(-2) : epochs.at(-1);
    const share = shares?.find((one) => one.index === index);
    if (ceremony === undefined || share === undefined) return;
    const { status } = await gateway.as(`custodian-${who}`, org)("POST", `${base}/${ceremony.id}/share`, share);
    if (ceremony.status !== "pending" || ceremony.indexes.has(index)) return expect(status).toBe(409);
    // A person sits once, also under a second account of the same address.
    if (ceremony.people.has(who.slice(0, 1))) return expect(status).toBe(409);
    expect(status).toBe(stale ? 422 : 204);
    if (stale) return;
    ceremony.indexes.add(index);
    ceremony.people.add(who.slice(0, 1));
  });

/** Somebody whom nobody registered, whatever the token says. */
const intrude = (at: number, index: number): Step =>
  event(`a stranger with share ${index}`, async (model, { gateway, org, epochs }) => {
    const ceremony = pick(model, at);
    const share = epochs.at(-1)?.find((one) => one.index === index);
    if (ceremony === undefined || share === undefined) return;
    const stranger = gateway.as("stranger", org, "super_admin");
    const { status } = await stranger("POST", `${base}/${ceremony.id}/share`, share);
    expect(status).toBe(ceremony.status === "pending" ? 403 : 409);
  });

const complete = (at: number): Step =>
  event(`complete ceremony -${at}`, async (model, real) => {
    const ceremony = pick(model, at);
    if (ceremony === undefined) return;
    const { status, body } = await real.chair("POST", `${base}/${ceremony.id}/complete`, { witness: real.witness });
    if (ceremony.status !== "pending") return expect(status).toBe(409);
    if (ceremony.indexes.size < 2) return expect(status).toBe(422);
    // Shares that were handed in before a rotation are of the old epoch: they open nothing any more.
    if (status !== 200) return expect([status, real.epochs.length > 1]).toEqual([422, true]);
    ceremony.status = "completed";
    const key = Buffer.from(real.publicKey, "base64");
    if (ceremony.operation === "sign") {
      const signature = Buffer.from(body.result, "base64");
      expect(nodeCrypto.ed25519Verify(key, Buffer.from(message, "base64"), signature)).toBe(true);
    } else expect(body.result).toBe(real.publicKey);
    expect(body.shares).toHaveLength(ceremony.operation === "rotate" ? 3 : 0);
    if (ceremony.operation !== "rotate") return;
    model.rotations += 1;
    real.epochs.push(body.shares.map(({ index, data }: Share) => ({ index, data })));
  });

const rotateAtOnce = event("rotate at once", async (model, real) => {
  if (rotating(model)) return;
  const { body: ceremony } = await real.chair("POST", `${base}/start`, { operation: "rotate", threshold: 2 });
  for (const share of real.epochs.at(-1)?.slice(1) ?? []) {
    const custodian = real.gateway.as(`custodian-${share.index}`, real.org);
    expect((await custodian("POST", `${base}/${ceremony.id}/share`, share)).status).toBe(204);
  }
  const { body } = await real.chair("POST", `${base}/${ceremony.id}/complete`, { witness: real.witness });
  model.rotations += 1;
  real.epochs.push(body.shares.map(({ index, data }: Share) => ({ index, data })));
});

const cancel = (at: number): Step =>
  event(`cancel ceremony -${at}`, async (model, { chair }) => {
    const ceremony = pick(model, at);
    if (ceremony === undefined) return;
    expect((await chair("DELETE", `${base}/${ceremony.id}`)).status).toBe(ceremony.status === "pending" ? 204 : 409);
    if (ceremony.status === "pending") ceremony.status = "cancelled";
  });

const wait = (hours: number): Step =>
  event(`${hours} hours pass`, async (model, real, now) => {
    real.gateway.clock.set(now + hours * hour);
    await expire(model, real, now + hours * hour);
  });
const restart = event("restart", async (_, { gateway }) => gateway.restart());

const open = modelGateways();

async function setUp(): Promise<Real> {
  const { gateway, org } = await open();
  const chair = gateway.as("chair", org, "super_admin");
  const { body: key } = await chair("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
  const { body: admin } = await chair("POST", "/api/v1/identities/admins", { email: "w@x.example", name: "W", role: "auditor" });
  const stored = await gateway.store.get("admins", admin.id);
  // Enrolled without a certificate: only its place as a witness is wanted.
  const doc = { ...stored?.doc, enrollment_status: "active" };
  await gateway.store.commit({ commitId: `witness ${org}`, puts: [{ coll: "admins", id: admin.id, doc }] });
  for (const who of people) await register(chair, `custodian-${who}`, `${who.slice(0, 1)}@people.example`);
  const shares = key.shares.map(({ index, data }: Share) => ({ index, data }));
  return { gateway, org, chair, publicKey: key.public_key, crk: key.id, witness: admin.id, epochs: [shares] };
}

it(
  "ceremonies end once, by a quorum of present shares and a witness; the key stays the same and no share outlives its use",
  () => {
    const at = fc.integer({ min: 0, max: 2 });
    const index = fc.integer({ min: 1, max: 3 });
    const who = fc.constantFrom(...people);
    return fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            fc.constantFrom<Ceremony["operation"]>("sign", "reconstruct", "rotate", "rotate").map(start),
            fc.tuple(at, index, who).map(([which, share, by]) => submit(which, share, by, false)),
            fc.tuple(index, who).map(([share, by]) => submit(0, share, by, false)),
            fc.tuple(at, index, who).map(([which, share, by]) => submit(which, share, by, true)),
            fc.tuple(at, index).map(([which, share]) => intrude(which, share)),
            at.map(complete),
            fc.constant(complete(0)),
            at.map(cancel),
            fc.integer({ min: 1, max: 13 }).map(wait),
            fc.constant(rotateAtOnce),
            fc.constant(restart),
          ],
          { maxCommands: 20, size: "max" },
        ),
        async (commands) => {
          const real = await setUp();
          await fc.asyncModelRun(() => ({ model: { ceremonies: [], rotations: 0 }, real }), commands);
        },
      ),
      { numRuns },
    );
  },
  timeout,
);
