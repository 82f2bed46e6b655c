import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type Act,
  admitEntry,
  CeremonyState,
  ceremonyStep,
  entryHash,
  type StartAct,
  signEntry,
  standingOf,
  type TranscriptEntry,
  type TranscriptView,
  takeSeat,
  witnessStep,
} from "@seneschal/crypto/custody";
import { crkToJson, dealCrk, type Share } from "@seneschal/crypto/threshold";
import { expect } from "vitest";
import { CEREMONIES, CUSTODIANS, type Person, withKeys } from "../custody-people.ts";
import { register } from "../registered.ts";
import type { Answer, Ask, ModelGateway } from "./model-gateway.ts";

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
}

/** One organisation, its people and their ceremonies over the routes of a gateway. */
export class CustodyWorld {
  readonly gateway: ModelGateway;
  readonly org: string;
  /** A super admin whom nobody registered: administers, and is nobody's custodian. */
  readonly officer: Ask;
  readonly members: Member[] = [];
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

  /** Starts a ceremony; `held` is absent where it was refused. */
  async start(
    starter: Member,
    {
      seats,
      witness,
      ...kind
    }: { readonly seats: readonly Member[]; readonly witness: Member } & (
      | { readonly kind: "generate"; readonly threshold: number }
      | { readonly kind: "refresh"; readonly of: Held | undefined }
    ),
  ): Promise<{ readonly answer: Answer; readonly held?: Held }> {
    const at = this.#seconds();
    const what =
      kind.kind === "generate" ? kind : { kind: "refresh", crk: crkToJson(kind.of?.view.crk ?? someKey(seats.length)) };
    const act = {
      ...{ type: "start", ...what, seats: seats.map(({ card }) => card), witness: witness.card, starter: starter.card },
      expires_at: at + 3600,
    } as StartAct;
    const name = `ceremony ${Buffer.from(systemRandom(8)).toString("hex")}`;
    const entry = signEntry(starter.keys, { ceremony: name, author: starter.id, at }, act);
    const answer = await starter.call("POST", CEREMONIES, { entry });
    if (answer.status !== 201) return { answer };
    return { answer, held: { id: answer.body.id, name, start: act, view: admitted(undefined, entry), states: new Map() } };
  }

  /** What a person's client has to say to what it reads now. `forgets`: a liar's, which keeps nothing of what it has seen. */
  says(who: Member, held: Held, forgets = false): readonly TranscriptEntry[] {
    const { view, start } = held;
    const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
    const input = { keys: who.keys, view, at: this.#seconds(), ...confirm };
    if (start.witness.custodian_id === who.id) return witnessStep(nodeCrypto, input).entries;
    const share = start.kind === "refresh" ? this.shares.get(who.id) : undefined;
    const step = ceremonyStep(nodeCrypto, { ...input, state: this.state(who, held), ...(share === undefined ? {} : { share }) });
    if (!forgets) held.states.set(who.id, step.state);
    return step.entries;
  }

  /** A client's saved state, that of who has just taken the seat if there is none. */
  state(who: Member, held: Held): CeremonyState {
    const state = held.states.get(who.id) ?? takeSeat(held.view, who.keys, systemRandom);
    held.states.set(who.id, state);
    return state;
  }

  /** A client ends and goes on from what it has saved. */
  crash(who: Member, { states }: Held): void {
    const state = states.get(who.id);
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
    held.view = admitted(held.view, entry);
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
      ...{ status, head, entries, transcript, blame },
      progress: { ...progress, witnessed: held.view.witnessed },
    });
    if (status === "active") this.#takeShares(held);
    return answer;
  }

  /** Everybody on a seat has a share of a key that has become active. */
  #takeShares(held: Held): void {
    const shares = new Map<string, Share>();
    for (const who of this.members.filter(({ id }) => held.states.has(id))) {
      const share = held.start.kind === "refresh" ? this.shares.get(who.id) : undefined;
      const { outcome } = ceremonyStep(nodeCrypto, {
        ...{ keys: who.keys, view: held.view, at: this.#seconds(), state: this.state(who, held) },
        ...(share === undefined ? {} : { share }),
      });
      if (outcome.kind !== "active") throw new Error(`${who.id} has no share: ${outcome.kind}`);
      shares.set(who.id, outcome.share);
    }
    this.shares = shares;
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

/** A key that nobody knows. */
const someKey = (total: number) => dealCrk({ threshold: 2, total, random: systemRandom }).crk;
