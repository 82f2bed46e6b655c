import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type Act,
  admitEntry,
  type CeremonyOutcome,
  type CeremonyState,
  type CustodianCard,
  CustodianKeys,
  cardFingerprint,
  ceremonyStep,
  custodianCard,
  signEntry,
  type TranscriptView,
  takeSeat,
  type WitnessOutcome,
  witnessStep,
} from "@seneschal/crypto/custody";
import type { Share } from "@seneschal/crypto/threshold";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { type Registered, registered } from "./registered.ts";
import type { Answer, Caller, Rig } from "./rig.ts";

/** What a custodian's client computes with. */
export interface ClientPrimitives {
  readonly crypto: CryptoProvider;
  readonly random: Random;
}

const usual: ClientPrimitives = { crypto: nodeCrypto, random: systemRandom };

/** A registered person with custodian keys of its own, and what its client keeps between two turns. */
export interface Person extends Registered {
  readonly client: ClientPrimitives;
  readonly keys: CustodianKeys;
  readonly card: CustodianCard;
  readonly fingerprint: string;
  state?: CeremonyState;
}

export const CUSTODIANS = "/api/v1/custody/custodians";
export const CEREMONIES = "/api/v1/custody/ceremonies";

/** Somebody who may start and confirm, with keys that are not enrolled yet. */
export async function person(rig: Rig, officer: Caller, org: string, sub: string, client = usual): Promise<Person> {
  const known = await registered(rig, officer, { org, sub, roles: ["security_admin"] });
  return withKeys(known, org, client);
}

export function withKeys(known: Registered, org: string, client = usual): Person {
  const { crypto, random } = client;
  const keys = CustodianKeys.generate(crypto, random);
  const card = custodianCard(crypto, keys, { orgId: org, custodianId: known.id }, random);
  return { ...known, client, keys, card, fingerprint: cardFingerprint(crypto, card) };
}

/** Enrols the keys of each; the next two in the circle confirm them. Answers the ids of the enrolments. */
export async function enrolled(people: readonly Person[]): Promise<readonly string[]> {
  return Promise.all(
    people.map(async ({ call, card, fingerprint }, i) => {
      const made = await call("POST", CUSTODIANS, { card });
      for (const by of [1, 2]) {
        const confirmer = people[(i + by) % people.length] as Person;
        const confirmed = await confirmer.call("POST", `${CUSTODIANS}/${made.body.id}/confirm`, { fingerprint });
        if (confirmed.status !== 200) throw new Error(confirmed.text);
      }
      return made.body.id as string;
    }),
  );
}

/** The first entry of a ceremony, signed by who starts it. */
export function startEntry(
  clock: { now(): number },
  { starter, witness, seats, ...rest }: { readonly starter: Person; readonly witness: Person; readonly seats: readonly Person[] },
  change: object = { kind: "generate", threshold: 2 },
  ceremony = `ceremony ${Buffer.from(systemRandom(8)).toString("hex")}`,
) {
  const at = Math.floor(clock.now() / 1000);
  const act = {
    type: "start",
    expires_at: at + 3600,
    seats: seats.map(({ card }) => card),
    witness: witness.card,
    starter: starter.card,
    ...change,
    ...rest,
  } as unknown as Act;
  return signEntry(starter.keys, { ceremony, author: starter.id, at }, act);
}

/** What was read of each transcript before, by everybody: an entry is verified once in a test. */
const seen = new Map<string, { readonly file: string; readonly view: TranscriptView }>();

/** What the transcript says now, as whoever may read it verifies it. */
export async function transcriptOf(call: Caller, path: string): Promise<TranscriptView> {
  const { status, text } = await call("GET", path);
  if (status !== 200) throw new Error(text);
  const before = seen.get(path);
  const known = before !== undefined && text.startsWith(before.file) ? before : undefined;
  let view = known?.view;
  for (const line of text
    .slice(known?.file.length ?? 0)
    .split("\n")
    .slice(0, -1)) {
    const admission = admitEntry(nodeCrypto, view, JSON.parse(line));
    if (!admission.admitted) throw new Error(admission.reason);
    view = admission.view;
  }
  if (view === undefined) throw new Error("a transcript without entries");
  seen.set(path, { file: text, view });
  return view;
}

export interface Turn {
  readonly outcome: CeremonyOutcome | WitnessOutcome;
  readonly answers: readonly Answer[];
}

/** One turn of a person's client: reads, steps, and sends what it has to say. */
export async function turn(
  { now }: { now(): number },
  who: Person,
  id: string,
  { confirm, share }: { readonly confirm?: string; readonly share?: Share } = {},
): Promise<Turn> {
  const view = await transcriptOf(who.call, `${CEREMONIES}/${id}/transcript`);
  const at = Math.floor(now() / 1000);
  const input = { keys: who.keys, view, at, ...(confirm === undefined ? {} : { confirm }) };
  const { crypto, random } = who.client;
  if (view.start.witness.custodian_id === who.id) return sent(who, id, witnessStep(crypto, input));
  who.state ??= takeSeat(view, who.keys, random);
  const step = ceremonyStep(crypto, { ...input, state: who.state, ...(share === undefined ? {} : { share }) });
  who.state = step.state;
  return sent(who, id, step);
}

async function sent(
  who: Person,
  id: string,
  { entries, outcome }: { readonly entries: readonly object[]; readonly outcome: CeremonyOutcome | WitnessOutcome },
): Promise<Turn> {
  const answers: Answer[] = [];
  for (const entry of entries) answers.push(await who.call("POST", `${CEREMONIES}/${id}/entries`, { entry }));
  return { outcome, answers };
}

/** Everybody takes turns until all have confirmed: the ceremony's last answer. */
export async function held(
  clock: { now(): number },
  id: string,
  { seats, witness }: { readonly seats: readonly Person[]; readonly witness: Person },
  shares: readonly (Share | undefined)[] = [],
): Promise<Answer> {
  const agreed = async () => (await transcriptOf(witness.call, `${CEREMONIES}/${id}/transcript`)).transcript;
  for (let round = 0; round < 4 && (await agreed()) === undefined; round++) {
    for (const [i, seat] of seats.entries()) await turn(clock, seat, id, shares[i] === undefined ? {} : { share: shares[i] });
  }
  const confirm = (await agreed()) ?? "";
  for (const [i, seat] of seats.entries()) {
    await turn(clock, seat, id, { confirm, ...(shares[i] === undefined ? {} : { share: shares[i] }) });
  }
  const { answers } = await turn(clock, witness, id, { confirm });
  const [last] = answers;
  if (last === undefined) throw new Error("the witness had nothing to say");
  return last;
}
