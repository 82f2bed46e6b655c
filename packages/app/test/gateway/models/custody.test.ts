import fc from "fast-check";
import { expect, it } from "vitest";
import { CEREMONIES, CUSTODIANS } from "../custody-people.ts";
import { type Tale, told } from "./custody-lies.ts";
import { CustodyWorld, type Held, type Member } from "./custody-world.ts";
import { modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

/** The slow, obvious reference beside the transcript that everybody reads: who was trusted to the end, and what came of it. */
interface Model {
  readonly liars: ReadonlySet<number>;
  /** Whose keys were revoked, or who has left. */
  readonly gone: Set<number>;
  open: boolean;
  active: boolean;
}

interface Real {
  readonly world: CustodyWorld;
  readonly held: Held;
  /** Entries that somebody has signed, and not all have arrived. */
  readonly bag: { readonly by: number; readonly entry: ReturnType<CustodyWorld["signs"]> }[];
}

type Step = fc.AsyncCommand<Model, Real>;
const SEATS = [0, 1, 2];
const WITNESS = 3;

/** Brings an entry, and says whether it had to be taken: from who signed it, while nobody of the key's people is gone. */
async function brings(model: Model, { world, held }: Real, by: number, author: number, entry: Real["bag"][number]["entry"]) {
  const before = held.view.hashes.length;
  const { status } = await world.bring(world.members[by] as Member, held, entry);
  if (by !== author || model.gone.has(by) || !model.open) expect(status).toBeGreaterThanOrEqual(400);
  expect(held.view.hashes.length - before).toBe(status === 200 ? 1 : 0);
  if (held.view.status !== "open") model.open = false;
  if (held.view.status === "active") model.active = true;
}

/** After each step the gateway says what the transcript says, and keeps to the laws. */
const event = (name: string, run: (model: Model, real: Real) => Promise<void>): Step =>
  step<Model, Real>(name, async (model, real) => {
    const before = model.active;
    await run(model, real);
    const { world, held } = real;
    const { view } = held;
    const { body } = await world.officer("GET", `${CEREMONIES}/${held.id}`);
    expect([body.entries, body.head]).toEqual([view.hashes.length, view.hashes.at(-1)]);
    if (view.status !== "open" || model.open) expect(body.status).toBe(view.status);
    if (view.blame !== undefined) expect(model.liars).toContain(view.blame.seat - 1);
    const { crk } = (await world.officer("GET", "/api/v1/organizations")).body.organizations[0];
    expect(crk?.version ?? 0).toBe(model.active ? 1 : 0);
    if (!model.active || before) return;
    expect([...view.confirmed].sort()).toEqual([1, 2, 3]);
    expect(view.witnessed).toBe(true);
    expect(model.gone.size).toBe(0);
  });

const speak = (who: number, late: boolean): Step =>
  event(`${who} speaks${late ? ", and it comes later" : ""}`, async (model, real) => {
    const entries = real.world.says(real.world.members[who] as Member, real.held);
    for (const entry of entries) {
      if (late) real.bag.push({ by: who, entry });
      else await brings(model, real, who, who, entry);
    }
  });

const deliver = (which: number, by: number | undefined, again: boolean): Step =>
  event(
    `message ${which} is brought${by === undefined ? "" : ` by ${by}`}${again ? ", not for the last time" : ""}`,
    async (model, real) => {
      const at = which % (real.bag.length || 1);
      const carried = real.bag[at];
      if (carried === undefined) return;
      await brings(model, real, by ?? carried.by, carried.by, carried.entry);
      if (!again) real.bag.splice(at, 1);
    },
  );

const lie = (who: number, tale: Tale): Step =>
  event(`${who} says ${JSON.stringify(tale)}`, async (model, real) => {
    if (!model.liars.has(who)) return;
    const { world, held } = real;
    const member = world.members[who] as Member;
    await brings(model, real, who, who, world.signs(member, held, told(world, member, held, tale)));
  });

const crash = event("every client ends and goes on", async (_, { world, held }) => {
  for (const member of world.members) world.crash(member, held);
});
const restart = event("the gateway ends and another begins", async (_, { world }) => world.gateway.restart());

const goes = (who: number, how: "revoked" | "gone"): Step =>
  event(`${who} is ${how}`, async (model, { world }) => {
    const { enrolment, id } = world.members[who] as Member;
    if (how === "revoked") await world.officer("POST", `${CUSTODIANS}/${enrolment}/revoke`);
    else await world.officer("DELETE", `/api/v1/identities/users/${id}`);
    if (!model.active) model.gone.add(who);
    else model.open = false;
  });

const cancel = event("the officer cancels", async (model, { world, held }) => {
  const { status } = await world.officer("DELETE", `${CEREMONIES}/${held.id}`);
  expect(status).toBe(model.open ? 204 : 409);
  model.open = false;
});

const open = modelGateways();

async function setUp(): Promise<Real> {
  const place = await open();
  await place.gateway.begin(place.org);
  const world = new CustodyWorld(place);
  for (const who of ["ada", "bob", "cy", "wim"]) await world.enrol(who);
  const { members } = world;
  for (const [i, whom] of members.entries()) {
    for (const by of [1, 2]) await world.confirm(members[(i + by) % members.length] as Member, whom);
  }
  const [ada, bob, cy, witness] = members as [Member, Member, Member, Member];
  const { held, answer } = await world.start(ada, { seats: [ada, bob, cy], witness, kind: "generate", threshold: 2 });
  if (held === undefined) throw new Error(JSON.stringify(answer.body));
  return { world, held, bag: [] };
}

it(
  "among liars, over what is lost, doubled and late, a custody ceremony makes one key that all have confirmed, or none, and blames nobody innocent",
  () => {
    const seat = fc.constantFrom(...SEATS);
    const anyone = fc.constantFrom(...SEATS, WITNESS);
    const number = fc.integer({ min: 1, max: 3 });
    const tale: fc.Arbitrary<Tale> = fc.oneof(
      fc.record({ tag: fc.constantFrom("Join" as const, "Confirm" as const, "Attest" as const), value: fc.boolean() }),
      fc.record({ tag: fc.constant("Packages" as const), value: fc.array(number, { maxLength: 2 }) }),
      fc.record({ tag: fc.constant("Complain" as const), value: fc.record({ against: number, secret: fc.boolean() }) }),
      fc.constantFrom<Tale>({ tag: "Accept" }, { tag: "End" }),
    );
    const turns = anyone.map((who) => speak(who, false));
    return fc.assert(
      fc.asyncProperty(
        fc.subarray(SEATS, { maxLength: 2 }),
        fc.commands(
          [
            ...[turns, turns, turns, turns, turns, turns],
            anyone.map((who) => speak(who, true)),
            fc.tuple(fc.nat(8), fc.boolean()).map(([which, again]) => deliver(which, undefined, again)),
            fc.tuple(fc.nat(8), anyone).map(([which, by]) => deliver(which, by, true)),
            fc.tuple(seat, tale).map(([who, said]) => lie(who, said)),
            fc.constant(crash),
            fc.constant(restart),
            fc.tuple(anyone, fc.constantFrom("revoked" as const, "gone" as const)).map(([who, how]) => goes(who, how)),
            fc.constant(cancel),
          ],
          { maxCommands: 40, size: "max" },
        ),
        async (liars, commands) => {
          const real = await setUp();
          const model: Model = { liars: new Set(liars), gone: new Set(), open: true, active: false };
          await fc.asyncModelRun(() => ({ model, real }), commands);
        },
      ),
      { numRuns },
    );
  },
  timeout,
);
