/** Plays a run of the model `models/custody/relay.qnt` through the routes of custody ceremonies, by the library's clients. */
import { systemRandom } from "@seneschal/adapters/system";
import { crkToJson, dealCrk } from "@seneschal/crypto/threshold";
import { expect } from "vitest";
import type { Run } from "../../../../../tools/models.ts";
import { CEREMONIES, CUSTODIANS } from "../custody-people.ts";
import { type Tale, told } from "./custody-lies.ts";
import { CustodyWorld, type Held, type Member, TERM } from "./custody-world.ts";
import type { Answer, ModelGateway } from "./model-gateway.ts";

const OUTCOME: Readonly<Record<number, string>> = { 400: "invalid", 403: "forbidden", 404: "not_found", 409: "conflict" };
const outcomeOf = ({ status }: Answer): string => (status < 300 ? "" : (OUTCOME[status] ?? String(status)));
/** A key that nobody knows. */
const someKey = (total: number) => dealCrk({ threshold: 2, total, random: systemRandom }).crk;

/** The model's `last`. */
interface Step {
  readonly step:
    | ("start" | "turn" | "speak" | "deliver" | "lie" | "lose" | "confirm" | "revoke")
    | ("leave" | "cancel" | "expire" | "crash" | "restart");
  readonly who: number;
  readonly whom: number;
  readonly ceremony: number;
  readonly message: number;
  readonly kind: "generate" | "refresh";
  readonly seats: readonly number[];
  readonly witness: number;
  /** Whether it is the fingerprint of the card. */
  readonly right: boolean;
  readonly said: readonly Tale[];
  readonly outcomes: readonly string[];
}

/** The model's `Ceremony`. */
interface End {
  readonly status: string;
  readonly view: { readonly log: readonly unknown[]; readonly blamed: number };
}

export async function replayRelay(
  place: { readonly gateway: ModelGateway; readonly org: string },
  { start, steps: run, end }: Run,
): Promise<void> {
  const steps = run as unknown as readonly Step[];
  const { gateway } = place;
  await gateway.begin(place.org);
  const world = new CustodyWorld(place);
  for (const who of [1, 2, 3, 4, 5, 6]) await world.enrol(`account-${who}`, `person-${who === 6 ? 1 : who}@people.example`);
  const member = (who: number): Member => world.members[who - 1]!;
  const { whom: pending } = start["last"] as Step;
  for (const who of [1, 2, 3, 4, 5, 6].filter((one) => one !== pending)) {
    for (const by of [1, 2, 3, 4, 5].filter((one) => one !== (who === 6 ? 1 : who)).slice(0, 2)) {
      expect((await world.confirm(member(by), member(who))).status).toBe(200);
    }
  }
  const ceremonies: Held[] = [];
  const sent = new Map<number, { readonly held: Held; readonly entry: ReturnType<CustodyWorld["signs"]> }>();

  const carryOut = async (one: Step): Promise<readonly Answer[]> => {
    const { step, who, whom, message } = one;
    const held = ceremonies[one.ceremony];
    switch (step) {
      case "start": {
        const of = ceremonies.findLast(({ view }) => view.status === "active");
        const parts = { seats: one.seats.map(member), witness: member(one.witness) };
        const crk = crkToJson(of?.view.crk ?? someKey(one.seats.length));
        const what =
          one.kind === "generate" ? ({ kind: "generate", threshold: 2 } as const) : ({ kind: "refresh", crk } as const);
        const started = await world.start(member(who), { ...parts, ...what });
        if (started.held !== undefined) ceremonies.push(started.held);
        return [started.answer];
      }
      case "turn":
      case "speak": {
        const entries = world.says(member(who), held!);
        expect(entries).toHaveLength(one.said.length);
        if (step === "speak") for (const [i, entry] of entries.entries()) sent.set(message + i, { held: held!, entry });
        const answers: Answer[] = [];
        if (step === "turn") for (const entry of entries) answers.push(await world.bring(member(who), held!, entry));
        return answers;
      }
      case "deliver": {
        const carried = sent.get(message)!;
        return [await world.bring(member(who), carried.held, carried.entry)];
      }
      case "lie": {
        const acts = one.said.map((tale) => told(world, member(who), held!, tale));
        return Promise.all(acts.map((act) => world.bring(member(who), held!, world.signs(member(who), held!, act))));
      }
      case "lose":
        sent.delete(message);
        return [];
      case "confirm":
        return [await world.confirm(member(who), member(whom), one.right)];
      case "revoke":
        return [await world.officer("POST", `${CUSTODIANS}/${member(whom).enrolment}/revoke`)];
      case "leave":
        return [await world.officer("DELETE", `/api/v1/identities/users/${member(whom).id}`)];
      case "cancel":
        return [await world.officer("DELETE", `${CEREMONIES}/${held?.id}`)];
      case "expire":
        gateway.clock.set(gateway.clock.now() + TERM * 1000 + 1000);
        await gateway.sweep();
        return [{ status: 200, body: undefined }];
      case "crash":
        for (const ceremony of ceremonies) for (const one of world.members) world.crash(one, ceremony);
        return [];
      case "restart":
        await gateway.restart();
        return [];
    }
  };
  const seen: unknown[] = [];
  for (const [i, one] of steps.entries()) seen.push([i, one.step, one.who, (await carryOut(one)).map(outcomeOf)]);
  expect(seen).toEqual(steps.map(({ step, who, outcomes }, i) => [i, step, who, outcomes]));

  const expected = end["ceremonies"] as readonly End[];
  expect(ceremonies).toHaveLength(expected.length);
  for (const [i, { id }] of ceremonies.entries()) {
    const { status, view } = expected[i]!;
    const { body } = await world.officer("GET", `${CEREMONIES}/${id}`);
    expect([body.status, body.entries, body.blame?.seat ?? -1]).toEqual([status, view.log.length + 1, view.blamed]);
  }
  const { crk } = (await world.officer("GET", "/api/v1/organizations")).body.organizations[0];
  expect(crk?.version ?? 0).toBe(end["version"]);
}
