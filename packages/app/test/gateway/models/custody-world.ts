import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type Act,
  admitEntry,
  CeremonyState,
  ceremonyStep,
  entryHash,
  type StartAct,
  shareBefore,
  signEntry,
  standingOf,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
  thresholdOf,
  witnessStep,
} from "@seneschal/crypto/custody";
import { type CrkPublicJson, Share, signWithShares } from "@seneschal/crypto/threshold";
import { expect } from "vitest";
import { CEREMONIES, CUSTODIANS, type Person, withKeys } from "../custody-people.ts";
import { register } from "../registered.ts";
import type { Answer, Ask, ModelGateway } from "./model-gateway.ts";

/** Seconds that a ceremony has. */
export const TERM = 3600;

/** A person of the organisation with enrolled keys, as the histories know it. */
export interface Member extends Omit<Person, "call"> {
  readonly call: Ask;
  readonly enrolment: string;
}

/** A ceremony by the gateway, and its transcript as everybody reads it: what the gateway admitted, admitted once more. */
export interface Held {
  readonly id: string;
  readonly name: string;
  readonly start: StartAct;
  view: TranscriptView;
  /** What each client keeps, by the person's id. */
  readonly states: Map<string, CeremonyState>;
  /** What there was to deal with when it started, by the person's id. */
  readonly dealt: ReadonlyMap<string, Share>;
  /** What each had to say last, and to which transcript: a client says the same to the same, and need not compute it again. */
  readonly said: Map<string, { readonly view: TranscriptView; readonly entries: readonly TranscriptEntry[] }>;
}

/** What a start says besides who takes part and until when. */
export type Terms = TermsOf<StartAct>;
type TermsOf<Start> = Start extends StartAct ? Omit<Start, "type" | "seats" | "witness" | "starter" | "expires_at"> : never;

/** One organisation, its people and their ceremonies over the routes of a gateway. */
export class CustodyWorld {
  readonly gateway: ModelGateway;
  readonly org: string;
  /** A super admin whom nobody registered: administers, and is nobody's custodian. */
  readonly officer: Ask;
  readonly members: Member[] = [];
  /** Ids of those who may accept what does not hold, and then have no share: nobody owes them one. */
  readonly liars = new Set<string>();
  /** Shares of the key as it is, by the person's id. */
  shares = new Map<string, Share>();

  constructor({ gateway, org }: { readonly gateway: ModelGateway; readonly org: string }) {
    this.gateway = gateway;
    this.org = org;
    this.officer = gateway.as("root", org, "super_admin");
  }

  /** Registers somebody, who enrols keys of their own. The same address is the same person. */
  async enrol(sub: string, email = `${sub}@people.example`): Promise<Member> {
    const id = await register(this.officer, sub, email);
    const call = this.gateway.as(sub, this.org, "security_admin");
    const known = withKeys({ id, call: call as never }, this.org);
    const made = await call("POST", CUSTODIANS, { card: known.card });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const member = { ...known, call, enrolment: made.body.id };
    this.members.push(member);
    return member;
  }

  confirm(by: Member, whom: Member, right = true): Promise<Answer> {
    const fingerprint = right ? whom.fingerprint : by.fingerprint;
    return by.call("POST", `${CUSTODIANS}/${whom.enrolment}/confirm`, { fingerprint });
  }

  /** The organisation has a key of 2 of 3, dealt, of which `holders[i]` has the share of index i + 1. */
  async dealKey(holders: readonly (Member | undefined)[]): Promise<CrkPublicJson> {
    const { body } = await this.officer("POST", "/api/v1/crk/generate", { total_shares: holders.length, threshold: 2 });
    const stored = await this.gateway.store.get("crks", body.id);
    const custodians = holders.flatMap((who, i) =>
      who === undefined ? [] : [{ index: i + 1, identity_id: who.id, identity_type: "user", name: who.id, emails: [] }],
    );
    const doc = { ...stored?.doc, custodians };
    await this.gateway.store.commit({ commitId: `holders ${body.id}`, puts: [{ coll: "crks", id: body.id, doc }] });
    for (const [i, who] of holders.entries()) if (who !== undefined) this.shares.set(who.id, Share.decode(body.shares[i].data));
    return stored?.doc["material"] as unknown as CrkPublicJson;
  }

  /** Starts a ceremony; `held` is absent where it was refused. */
  async start(
    starter: Member,
    { seats, witness, ...terms }: { readonly seats: readonly Member[]; readonly witness: Member } & Terms,
  ): Promise<{ readonly answer: Answer; readonly held?: Held }> {
    const at = this.#seconds();
    const act = {
      type: "start",
      ...terms,
      seats: seats.map(({ card }) => card),
      witness: witness.card,
      starter: starter.card,
      expires_at: at + TERM,
    } as StartAct;
    const name = `ceremony ${Buffer.from(systemRandom(8)).toString("hex")}`;
    const entry = signEntry(starter.keys, { ceremony: name, author: starter.id, at }, act);
    const answer = await starter.call("POST", CEREMONIES, { entry });
    if (answer.status !== 201) return { answer };
    const view = admitted(undefined, entry);
    const kept = { states: new Map(), said: new Map(), dealt: this.shares };
    return { answer, held: { id: answer.body.id, name, start: act, view, ...kept } };
  }

  /** What a person's client has to say to what it reads now. `forgets`: a liar's, which keeps nothing of what it has seen. */
  says(who: Member, held: Held, forgets = false): readonly TranscriptEntry[] {
    const { view, start } = held;
    const before = held.said.get(who.id);
    if (before?.view === view && !forgets) return before.entries;
    const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
    const input = { keys: who.keys, view, at: this.#seconds(), ...confirm };
    if (start.witness.custodian_id === who.id) return witnessStep(nodeCrypto, input).entries;
    const step = this.#step(who, held, input);
    if (step === undefined) return [];
    if (forgets) return step.entries;
    held.states.set(who.id, step.state);
    held.said.set(who.id, { view, entries: step.entries });
    return step.entries;
  }

  #dealsWith(who: Member, { start, dealt }: Held): { readonly share?: Share } {
    const seat = start.seats.findIndex(({ custodian_id }) => custodian_id === who.id) + 1;
    const share = shareBefore(start, seat) > 0 ? dealt.get(who.id) : undefined;
    return share === undefined ? {} : { share };
  }

  /** A client's saved state, that of who has just taken the seat if there is none. */
  state(who: Member, held: Held): CeremonyState {
    const state = held.states.get(who.id) ?? takeSeat(held.view, who.keys, systemRandom);
    held.states.set(who.id, state);
    return state;
  }

  /** A client ends and goes on from what it has saved. */
  crash(who: Member, { states, said }: Held): void {
    const state = states.get(who.id);
    said.delete(who.id);
    if (state !== undefined) states.set(who.id, CeremonyState.fromBytes(state.toBytes()));
  }

  /** An act of somebody, signed behind what there is. */
  signs(who: Member, { name, view }: Held, act: Act): TranscriptEntry {
    return signEntry(who.keys, { ceremony: name, author: who.id, at: this.#seconds() }, act, view);
  }

  /** Brings an entry. What the gateway takes, everybody takes, and both say the same of it. */
  async bring(by: Member, held: Held, entry: TranscriptEntry): Promise<Answer> {
    const answer = await by.call("POST", `${CEREMONIES}/${held.id}/entries`, { entry });
    if (answer.status !== 200) return answer;
    this.#append(held, entry);
    const {
      status,
      head,
      entries,
      witnessed: _,
      crk: _crk,
      transcript = null,
      blame = null,
      ...progress
    } = standingOf(held.view);
    const { body } = answer;
    expect({ ...body, progress: { ...body.progress, witnessed: held.view.witnessed } }).toMatchObject({
      status,
      head,
      entries,
      transcript,
      blame,
      progress: { ...progress, witnessed: held.view.witnessed },
    });
    return answer;
  }

  /** Everybody reads what the gateway has, where it died before it said so. Answers the entries that nobody knew to be there. */
  async read(held: Held): Promise<readonly TranscriptEntry[]> {
    const { body } = await this.officer("GET", `${CEREMONIES}/${held.id}/transcript`);
    const lines = String(body).split("\n").slice(0, -1);
    const entries = lines.slice(held.view.hashes.length).map((line) => JSON.parse(line) as TranscriptEntry);
    for (const entry of entries) this.#append(held, entry);
    expect(lines).toHaveLength(held.view.hashes.length);
    return entries;
  }

  #append(held: Held, entry: TranscriptEntry): void {
    held.view = admitted(held.view, entry);
    if (held.view.status === "active") this.#takeShares(held);
  }

  /** `undefined`: of a liar, who accepted what does not hold and goes on from there. */
  #step(who: Member, held: Held, input: Omit<Parameters<typeof ceremonyStep>[1], "state" | "share">) {
    try {
      return ceremonyStep(nodeCrypto, { ...input, state: this.state(who, held), ...this.#dealsWith(who, held) });
    } catch (error) {
      if (this.liars.has(who.id)) return undefined;
      throw error;
    }
  }

  /** Every honest seat that is given a share has one of a key that has become active, and a threshold of them signs with it. */
  #takeShares(held: Held): void {
    const { start, view, states } = held;
    const shares = new Map<string, Share>(start.kind === "repair" ? held.dealt : []);
    for (const who of this.members.filter(({ id }) => states.has(id))) {
      const input = { keys: who.keys, view, at: this.#seconds() };
      const outcome = this.#step(who, held, input)?.outcome;
      if (outcome?.kind === "active") shares.set(who.id, outcome.share);
      else if (!this.liars.has(who.id)) expect(outcome?.kind).toBe("dealt");
    }
    this.shares = shares;
    if (shares.size < thresholdOf(start)) return;
    const crk = view.crk as NonNullable<TranscriptView["crk"]>;
    const message = new TextEncoder().encode("signed with it");
    const signers = [...shares.values()].slice(-crk.threshold);
    const submitted = signers.map((share) => ({ index: share.index, data: share.encode() }));
    const signature = signWithShares(crk, submitted, message, systemRandom);
    expect(nodeCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
  }

  #seconds(): number {
    return Math.floor(this.gateway.clock.now() / 1000);
  }
}

function admitted(view: TranscriptView | undefined, entry: TranscriptEntry): TranscriptView {
  const admission = admitEntry(nodeCrypto, view, entry);
  if (!admission.admitted) throw new Error(`the gateway took what nobody takes: ${admission.reason}`);
  expect(admission.view.hashes.at(-1)).toBe(entryHash(nodeCrypto, entry));
  return admission.view;
}
