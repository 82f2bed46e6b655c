/** Custody ceremonies of every kind by the gateway, in random histories. `FC_RUNS=10000` for a long run: docs/verification.md. */
import { type Act, receiversOf, type StartAct } from "@seneschal/crypto/custody";
import fc from "fast-check";
import { expect, it } from "vitest";
import { CEREMONIES, CUSTODIANS } from "../custody-people.ts";
import { type Tale, told } from "./custody-lies.ts";
import { CustodyWorld, type Held, type Member, TERM, type Terms } from "./custody-world.ts";
import { modelGateways, numRuns, step, timeout } from "./model-gateway.ts";

/** The slow, obvious reference beside the transcript that everybody reads: who was trusted to the end, and what came of it. */
interface Model {
  readonly liars: ReadonlySet<number>;
  /** The version of the key before. */
  readonly version: number;
  /** Whose keys were revoked, or who has left. */
  readonly gone: Set<number>;
  open: boolean;
  active: boolean;
  /** Steps that are still taken when it is over: nothing comes of them. */
  after: number;
}

type Entry = ReturnType<CustodyWorld["signs"]>;

interface Real {
  readonly world: CustodyWorld;
  readonly held: Held;
  /** Entries that somebody has signed, and not all have arrived. */
  readonly bag: { readonly by: number; readonly entry: Entry }[];
  /** Entries that were brought and not answered, as the gateway died. */
  readonly unanswered: Entry[];
}

type Step = fc.AsyncCommand<Model, Real>;
type Kind = StartAct["kind"];
const SEATS = [0, 1, 2];
const WITNESS = 3;

/** What each kind says besides: the first three people sit, in this order. */
const DEALS = { reshare: [0, 2, 1], repair: [0, 1, 2] } as const;
/** Who holds which share of the key that there is before. */
const HOLDERS: Readonly<Record<Exclude<Kind, "generate">, readonly (number | undefined)[]>> = {
  refresh: [0, 1, 2],
  reshare: [2, 1, undefined],
  repair: [1, 2, 0],
};

/** Takes over what the transcript says. */
function follow(model: Model, { view }: Held): void {
  if (view.status !== "open") model.open = false;
  if (view.status === "active") model.active = true;
}

/** Brings an entry, and says whether it had to be taken: from who signed it, while nobody of the key's people is gone. */
async function brings(model: Model, { world, held, unanswered }: Real, by: number, author: number, entry: Entry) {
  const before = held.view.hashes.length;
  const { status } = await world.bring(world.members[by] as Member, held, entry);
  if (status === 0) return unanswered.push(entry);
  if (by !== author || model.gone.has(by) || !model.open) expect(status).toBeGreaterThanOrEqual(400);
  expect(held.view.hashes.length - before).toBe(status === 200 ? 1 : 0);
  return follow(model, held);
}

/** After each step the gateway says what the transcript says, and keeps to the laws. */
async function judge(before: boolean, model: Model, { world, held }: Real): Promise<void> {
  const { view, start } = held;
  const { body } = await world.officer("GET", `${CEREMONIES}/${held.id}`);
  expect([body.entries, body.head]).toEqual([view.hashes.length, view.hashes.at(-1)]);
  if (view.status !== "open" || model.open) expect(body.status).toBe(view.status);
  else expect(body.status).not.toBe("open");
  if (view.blame !== undefined) expect(model.liars).toContain(view.blame.seat - 1);
  const { crk } = (await world.officer("GET", "/api/v1/organizations")).body.organizations[0];
  const made = model.active && start.kind !== "repair" ? 1 : 0;
  expect(crk?.version ?? 0).toBe(model.version + made);
  const rotates = start.kind === "refresh" || start.kind === "reshare";
  if (crk !== null) expect(crk.status).toBe(model.open && rotates ? "rotating" : "active");
  if (!model.active || before) return;
  expect([...view.confirmed].sort()).toEqual(receiversOf(start));
  expect(view.witnessed).toBe(true);
  // Who only dealt may be gone by now.
  for (const needed of [...receiversOf(start).map((seat) => seat - 1), WITNESS]) expect(model.gone).not.toContain(needed);
}

const goesOn = (model: Readonly<Model>): boolean => model.open || model.after > 0;

/** A step that answers `false` had nothing to do. */
const event = (name: string, run: (model: Model, real: Real) => Promise<unknown>): Step =>
  step<Model, Real>(
    name,
    async (model, real) => {
      const before = model.active;
      if (!model.open) model.after -= 1;
      const done = await run(model, real);
      if (done !== false && !real.world.gateway.isDead()) await judge(before, model, real);
    },
    goesOn,
  );

/** What somebody's client has to say now, entry by entry. Answers whether there was anything. */
async function speaks(model: Model, real: Real, who: number): Promise<boolean> {
  const entries = real.world.says(real.world.members[who] as Member, real.held);
  for (const entry of entries) await brings(model, real, who, who, entry);
  return entries.length > 0;
}

const speak = (...people: readonly number[]): Step =>
  event(`${people.join(", ")} speak`, async (model, real) => {
    let said = false;
    for (const who of people) if (!real.world.gateway.isDead()) said = (await speaks(model, real, who)) || said;
    return said;
  });

const speakLater = (who: number): Step =>
  event(`${who} speaks, and it comes later`, async (_, { world, held, bag }) => {
    for (const entry of world.says(world.members[who] as Member, held)) bag.push({ by: who, entry });
    return false;
  });

const deliver = (which: number, by: number | undefined, again: boolean): Step =>
  event(
    `message ${which} is brought${by === undefined ? "" : ` by ${by}`}${again ? ", not for the last time" : ""}`,
    async (model, real) => {
      const at = which % (real.bag.length || 1);
      const carried = real.bag[at];
      if (carried === undefined) return false;
      await brings(model, real, by ?? carried.by, carried.by, carried.entry);
      if (!again) real.bag.splice(at, 1);
      return true;
    },
  );

/** A lie in place of what a client has to say. */
function instead(due: Act | undefined): Tale {
  switch (due?.type) {
    case "join":
      return { tag: "Join", value: false };
    case "commitment":
      return { tag: "Commit", value: false };
    case "packages":
      return { tag: "Packages", value: SEATS.map((seat) => seat + 1) };
    case "contribution":
      return { tag: "Contribute", value: false };
    case "confirmation":
      return { tag: "Confirm", value: false };
    default:
      return { tag: "Accept" };
  }
}

/** One of the liars says something; `undefined`: something false instead of what is due. */
const lie = (which: number, tale: Tale | undefined): Step =>
  event(`liar ${which} says ${tale === undefined ? "another thing" : JSON.stringify(tale)}`, async (model, real) => {
    const who = [...model.liars][which % (model.liars.size || 1)];
    if (who === undefined) return false;
    const { world, held } = real;
    const member = world.members[who] as Member;
    const said = tale ?? instead(world.says(member, held)[0]?.act);
    return brings(model, real, who, who, world.signs(member, held, told(world, member, held, said)));
  });

const crash = event("every client ends and goes on", async (_, { world, held }) => {
  for (const member of world.members) world.crash(member, held);
  return false;
});
const restart = event("the gateway ends and another begins", async (_, { world }) => world.gateway.restart());

const goes = (who: number, how: "revoked" | "gone"): Step =>
  event(`${who} is ${how}`, async (model, { world }) => {
    const { enrolment, id } = world.members[who] as Member;
    if (how === "revoked") await world.officer("POST", `${CUSTODIANS}/${enrolment}/revoke`);
    else await world.officer("DELETE", `/api/v1/identities/users/${id}`);
    if (world.gateway.isDead()) return;
    if (!model.active) model.gone.add(who);
    else model.open = false;
  });

const cancel = event("the officer cancels", async (model, { world, held }) => {
  const { status } = await world.officer("DELETE", `${CEREMONIES}/${held.id}`);
  if (status === 0) return;
  expect(status).toBe(model.open ? 204 : 409);
  model.open = false;
});

const expire = event("its time is over, and is swept up", async (model, { world: { gateway } }) => {
  gateway.clock.set(gateway.clock.now() + TERM * 1000 + 1000);
  model.open = false;
  await gateway.sweep().catch((error: unknown) => {
    if (!gateway.isDead()) throw error;
  });
});

/** The gateway dies in one of the step's commits, which is in the store or not; another begins, and everybody reads what there is. */
const killed = (inner: Step, after: number, written: boolean): Step =>
  step<Model, Real>(
    `${inner}, and the gateway is killed ${written ? "behind" : "before"} commit ${after}`,
    async (model, real) => {
      const { world, held, unanswered } = real;
      const before = model.active;
      world.gateway.kill({ after, written });
      await inner.run(model, real);
      const dead = world.gateway.isDead();
      await world.gateway.restart();
      const found = await world.read(held);
      // Whole or not at all: what nobody was told of is what the gateway died of. With somebody gone that may have been a refusal.
      if (found.length > 0 || model.gone.size === 0) expect(found).toEqual(dead && written ? unanswered.slice(0, 1) : []);
      unanswered.splice(0);
      follow(model, held);
      const { body } = await world.officer("GET", `${CEREMONIES}/${held.id}`);
      if (body.status === "cancelled") model.open = false;
      for (const who of body.left) model.gone.add(world.members.findIndex(({ enrolment }) => enrolment === who));
      if (!model.open) await world.gateway.sweep();
      await judge(before, model, real);
    },
    goesOn,
  );

const open = modelGateways();

async function setUp(kind: Kind): Promise<{ readonly real: Real; readonly version: number }> {
  const place = await open();
  await place.gateway.begin(place.org);
  const world = new CustodyWorld(place);
  for (const who of ["ada", "bob", "cy", "wim"]) await world.enrol(who);
  const { members } = world;
  for (const [i, whom] of members.entries()) {
    for (const by of [1, 2]) await world.confirm(members[(i + by) % members.length] as Member, whom);
  }
  const [ada, bob, cy, witness] = members as [Member, Member, Member, Member];
  const terms = async (): Promise<Terms> => {
    if (kind === "generate") return { kind, threshold: 2 };
    const crk = await world.dealKey(HOLDERS[kind].map((who) => (who === undefined ? undefined : members[who])));
    if (kind === "refresh") return { kind, crk };
    if (kind === "reshare") return { kind, crk, threshold: 2, total_shares: 2, deals: DEALS.reshare };
    world.shares.delete(ada.id);
    return { kind, crk, index: 3, deals: DEALS.repair };
  };
  const { held, answer } = await world.start(ada, { seats: [ada, bob, cy], witness, ...(await terms()) });
  if (held === undefined) throw new Error(JSON.stringify(answer.body));
  return { real: { world, held, bag: [], unanswered: [] }, version: kind === "generate" ? 0 : 1 };
}

/** Each entry was recorded in the same commit. */
async function expectRecorded({ world, held }: Real): Promise<void> {
  const { items } = await world.gateway.store.list("audit", "stream", [world.org], { limit: 1000 });
  const events = items.map(
    ({ doc }) => doc["event"] as { readonly metadata?: { readonly entry?: number; readonly head?: string } },
  );
  const heads = events.flatMap(({ metadata: { entry, head } = {} }) => (entry === undefined || head === undefined ? [] : [head]));
  expect(heads).toEqual(held.view.hashes.slice(1));
}

it(
  "among liars, over what is lost, doubled and late, killed in any commit, a custody ceremony comes to what all have confirmed, or to nothing, and blames nobody innocent",
  () => {
    const anyone = fc.constantFrom(...SEATS, WITNESS);
    const number = fc.integer({ min: 1, max: 3 });
    const tale: fc.Arbitrary<Tale> = fc.oneof(
      fc.record({
        tag: fc.constantFrom("Join" as const, "Contribute" as const, "Confirm" as const, "Attest" as const),
        value: fc.boolean(),
      }),
      fc.record({ tag: fc.constant("Packages" as const), value: fc.array(number, { maxLength: 2 }) }),
      fc.record({ tag: fc.constant("Complain" as const), value: fc.record({ against: number, secret: fc.boolean() }) }),
      fc.constantFrom<Tale>({ tag: "Accept" }, { tag: "End" }),
    );
    const turns = anyone.map((who) => speak(who));
    const rounds = fc.shuffledSubarray([...SEATS, WITNESS], { minLength: 2 }).map((people) => speak(...people));
    const leaves = fc.tuple(anyone, fc.constantFrom("revoked" as const, "gone" as const)).map(([who, how]) => goes(who, how));
    const lies = fc.tuple(fc.nat(1), fc.option(tale, { nil: undefined, freq: 1 })).map(([which, said]) => lie(which, said));
    const brought = fc.tuple(fc.nat(8), fc.boolean()).map(([which, again]) => deliver(which, undefined, again));
    const ends = fc.constantFrom(cancel, expire);
    const usual = [
      { weight: 12, arbitrary: rounds },
      { weight: 4, arbitrary: turns },
      { weight: 4, arbitrary: brought },
      { weight: 4, arbitrary: lies },
      { weight: 1, arbitrary: fc.oneof(leaves, ends) },
    ];
    const kills = fc
      .tuple(fc.oneof(...usual), fc.nat(3), fc.boolean())
      .map(([inner, after, written]) => killed(inner, after, written));
    const steps = fc.oneof(
      ...usual,
      { weight: 4, arbitrary: kills },
      { weight: 3, arbitrary: anyone.map(speakLater) },
      { weight: 2, arbitrary: fc.tuple(fc.nat(8), anyone).map(([which, by]) => deliver(which, by, true)) },
      { weight: 2, arbitrary: fc.constantFrom(crash, restart) },
    );
    return fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Kind>("generate", "refresh", "reshare", "repair"),
        fc.subarray(SEATS, { maxLength: 2 }),
        fc.commands([steps], { maxCommands: 25, size: "max" }),
        async (kind, liars, commands) => {
          const { real, version } = await setUp(kind);
          for (const liar of liars) real.world.liars.add((real.world.members[liar] as Member).id);
          const model: Model = { liars: new Set(liars), version, gone: new Set(), open: true, active: false, after: 6 };
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await expectRecorded(real);
        },
      ),
      { numRuns },
    );
  },
  timeout,
);
