import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { crkFromJson, Share, type SignatureShare, Signer } from "@seneschal/crypto/threshold";
import fc from "fast-check";
import { expect, it } from "vitest";
import { register } from "../registered.ts";
import { type Ask, type ModelGateway, modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

const base = "/api/v1/crk/signing-sessions";
const message = Buffer.from("signed among liars").toString("base64");
const garbage = Buffer.alloc(32, 1).toString("base64");

/** The slow, obvious reference: who of the custodians has done what. */
interface Model {
  open: boolean;
  readonly committed: Set<number>;
  readonly signed: Set<number>;
  /** Wrong signature shares that somebody sent for the own seat: theirs alone to answer for. */
  readonly lies: Map<string, number>;
}

interface Real {
  readonly gateway: ModelGateway;
  readonly org: string;
  readonly chair: Ask;
  readonly publicKey: string;
  /** User ids of the custodians, from index 1 on. */
  readonly ids: readonly string[];
  readonly path: string;
  readonly signers: readonly Signer[];
  readonly parts: Map<number, SignatureShare>;
}

type Step = fc.AsyncCommand<Model, Real>;

/** `0`: a stranger with a super admin's token; the rest: the custodian of that index. */
const asking = ({ gateway, org }: Real, who: number): Ask =>
  who === 0 ? gateway.as("stranger", org, "super_admin") : gateway.as(`custodian-${who}`, org);

/** After every step the server says what the reference says: each seat its one custodian's, nobody called a cheater. */
const event = (name: string, run: (model: Model, real: Real) => Promise<void>): Step =>
  step<Model, Real>(name, async (model, real) => {
    await run(model, real);
    const { body } = await real.chair("GET", real.path);
    expect(body.cheaters).toEqual([]);
    const taken = body.seats.filter((seat: { taken_at: string | null }) => seat.taken_at !== null);
    expect(taken.map((seat: { index: number }) => seat.index)).toEqual([...model.committed].toSorted());
    for (const seat of body.seats) expect(seat.identity_id).toBe(real.ids[seat.index - 1]);
    expect(body.signed_indexes.toSorted()).toEqual([...model.signed].toSorted());
    expect(body.status).toBe(model.open ? (model.committed.size === 2 ? "signing" : "committing") : "completed");
    const { events } = (await real.chair("GET", "/api/v1/audit?event_type=crk.ceremony&limit=1000")).body;
    const blamed = new Map<string, number>();
    for (const { actor, result } of events) if (result !== "success") blamed.set(actor, (blamed.get(actor) ?? 0) + 1);
    expect([...blamed].toSorted()).toEqual([...model.lies].toSorted());
  });

const commit = (who: number, index: number, right: boolean): Step =>
  event(`${who} commits ${right ? "" : "garbage "}at ${index}`, async (model, real) => {
    const commitment = real.signers[index - 1]?.commitment;
    const sent = right ? commitment : { ...commitment, index, hiding: Buffer.alloc(32, 0xff).toString("base64") };
    const { status } = await asking(real, who)("POST", `${real.path}/commit`, sent);
    if (who === 0) return expect(status).toBe(403);
    if (who !== index) return expect([403, 409]).toContain(status);
    if (model.committed.size === 2 || !model.open || model.committed.has(index)) return expect(status).toBe(409);
    expect(status).toBe(right ? 200 : 422);
    if (right) model.committed.add(index);
  });

const sign = (who: number, index: number, right: boolean): Step =>
  event(`${who} signs ${right ? "" : "garbage "}at ${index}`, async (model, real) => {
    const { round, commitments } = (await real.chair("GET", real.path)).body;
    const ready = model.committed.size === 2;
    const signer = real.signers[index - 1];
    if (ready && model.committed.has(index) && !real.parts.has(index) && signer !== undefined) {
      real.parts.set(index, signer.sign(round, commitments));
    }
    const sent = right && real.parts.has(index) ? real.parts.get(index) : { index, share: garbage };
    const { status } = await asking(real, who)("POST", `${real.path}/sign`, sent);
    if (!ready || !model.open) return expect(status).toBe(409);
    if (who !== index || !model.committed.has(index)) return expect(status).toBe(403);
    if (model.signed.has(index)) return expect(status).toBe(409);
    expect(status).toBe(right ? 200 : 422);
    if (right) model.signed.add(index);
    else model.lies.set(real.ids[index - 1] ?? "", (model.lies.get(real.ids[index - 1] ?? "") ?? 0) + 1);
  });

const aggregate = event("aggregate", async (model, real) => {
  const { status, body } = await real.chair("POST", `${real.path}/aggregate`);
  if (model.committed.size < 2 || !model.open) return expect(status).toBe(409);
  expect(status).toBe(model.signed.size === 2 ? 200 : 422);
  if (status !== 200) return;
  model.open = false;
  const key = Buffer.from(real.publicKey, "base64");
  expect(nodeCrypto.ed25519Verify(key, Buffer.from(message, "base64"), Buffer.from(body.signature, "base64"))).toBe(true);
});

const open = modelGateways();

async function setUp(): Promise<Real> {
  const { gateway, org } = await open();
  await gateway.begin(org);
  const chair = gateway.as("chair", org, "super_admin");
  const ids: string[] = [];
  for (const index of [1, 2, 3]) ids.push(await register(chair, `custodian-${index}`));
  const custodians = ids.map((identity_id, i) => ({ index: i + 1, identity_id, identity_type: "user" }));
  const { body: key } = await chair("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2, custodians });
  const { body: session } = await chair("POST", base, { data: message });
  const signers = key.shares.map(
    ({ data }: { data: string }) => new Signer(crkFromJson(session.crk), Share.decode(data), session.round, systemRandom),
  );
  const path = `${base}/${session.id}`;
  return { gateway, org, chair, publicKey: key.public_key, ids, path, signers, parts: new Map() };
}

it(
  "among liars a session ends with its custodians' signature, no seat has two people, and nobody answers for another",
  () => {
    const who = fc.integer({ min: 0, max: 3 });
    const index = fc.integer({ min: 1, max: 3 });
    const some = fc.tuple(who, index, fc.boolean());
    const own = fc.tuple(index, fc.boolean());
    return fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            some.map((args) => commit(...args)),
            own.map(([at, right]) => commit(at, at, right)),
            index.map((at) => commit(at, at, true)),
            some.map((args) => sign(...args)),
            own.map(([at, right]) => sign(at, at, right)),
            index.map((at) => sign(at, at, true)),
            fc.constant(aggregate),
          ],
          { maxCommands: 30, size: "max" },
        ),
        async (commands) => {
          const real = await setUp();
          const model: Model = { open: true, committed: new Set(), signed: new Set(), lies: new Map() };
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns },
    );
  },
  timeout,
);
