/** Plays a run of the model `models/custody/sessions.qnt` through the routes of signing sessions, by the library's signers. */
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { crkFromJson, type RoundCommitment, Share, type SignatureShare, Signer } from "@seneschal/crypto/threshold";
import { expect } from "vitest";
import type { Run } from "../../../../../tools/models.ts";
import { register } from "../registered.ts";
import type { Answer, Ask, ModelGateway } from "./model-gateway.ts";

const base = "/api/v1/crk/signing-sessions";
const OFFICER = 6;
const STATUS: Readonly<Record<string, number>> = { not_found: 404, forbidden: 403, conflict: 409, invalid: 422, threshold: 422 };

interface Step {
  readonly step: "commit" | "sign" | "deliver" | "lose" | "lie_commit" | "lie_sign" | "aggregate" | "crash" | "restart" | "leave";
  readonly who: number;
  readonly session: number;
  readonly index: number;
  readonly message: number;
  /** Whether what a liar sends is what it should be. */
  readonly holds: boolean;
  readonly outcome: string;
}

/** The model's `Session`. */
interface End {
  readonly status: string;
  readonly committed: readonly (readonly [number, { readonly by: number }])[];
  readonly parts: readonly (readonly [number, unknown])[];
}

/** What there is behind a run: by session, and who was named for what is wrong, by the model's accounts. */
interface Played {
  /** What was answered, by its status; 0 where there was nothing to send. */
  readonly statuses: readonly number[];
  readonly sessions: readonly {
    readonly status: string;
    readonly taken: readonly (readonly [number, number])[];
    readonly signed: readonly number[];
  }[];
  readonly blamed: readonly number[];
}

export async function playSession(
  { gateway, org }: { readonly gateway: ModelGateway; readonly org: string },
  { steps: run }: Run,
): Promise<Played> {
  const steps = run as unknown as readonly Step[];
  await gateway.begin(org);
  const chair = gateway.as("chair", org, "super_admin");
  const ids = new Map<number, string>();
  for (const who of [1, 2, 3, 4, 7]) {
    ids.set(who, await register(chair, `account-${who}`, `person-${who === 7 ? 1 : who}@people.example`));
  }
  const asking = (who: number): Ask => (who === OFFICER ? chair : gateway.as(`account-${who}`, org));
  const custodians = [1, 2, 3].map((index) => ({ index, identity_id: ids.get(index), identity_type: "user" }));
  const { body: key } = await chair("POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2, custodians });
  const messages = ["first", "second"].map((text) => Buffer.from(`${text} message`));
  const opened: {
    readonly id: string;
    readonly round: Parameters<Signer["sign"]>[0];
    readonly crk: Parameters<typeof crkFromJson>[0];
  }[] = [];
  for (const message of messages) opened.push((await chair("POST", base, { data: message.toString("base64") })).body);
  const path = (session: number): string => `${base}/${opened[session]?.id}`;
  const signerOf = (index: number, session: number): Signer => {
    const { crk, round } = opened[session]!;
    return new Signer(crkFromJson(crk), Share.decode(key.shares[index - 1].data), round, systemRandom);
  };
  const place = (who: number, session: number): string => `${who}/${session}`;
  /** What a process has in memory. */
  const signers = new Map<string, Signer>();
  const parts = new Map<string, SignatureShare>();
  const sent = new Map<number, { readonly who: number; readonly path: string; readonly body: object }>();

  const garbage = { points: Buffer.alloc(32, 0xff).toString("base64"), share: Buffer.alloc(32, 1).toString("base64") };
  /** `undefined` where an honest process signs nothing: without its own nonces among those that are fixed. */
  const partOf = async (who: number, session: number): Promise<SignatureShare | undefined> => {
    const at = place(who, session);
    const signer = signers.get(at);
    const { status, round, commitments } = (await chair("GET", path(session))).body;
    const own = commitments.find(({ index }: RoundCommitment) => index === signer?.index);
    if (signer === undefined || status === "committing" || own?.hiding !== signer.commitment.hiding) return undefined;
    const part = parts.get(at) ?? signer.sign(round, commitments);
    parts.set(at, part);
    // Asked again, by whoever, with whatever: there is nothing left to sign with.
    expect(() => signer.sign(round, commitments)).toThrow(expect.objectContaining({ code: "nonce_used" }));
    return part;
  };

  const carryOut = async ({ step, who, session, index, message, holds }: Step): Promise<Pick<Answer, "status"> | undefined> => {
    switch (step) {
      case "commit": {
        const signer = signerOf(who, session);
        signers.set(place(who, session), signer);
        sent.set(message, { who, path: `${path(session)}/commit`, body: signer.commitment });
        return undefined;
      }
      case "sign": {
        const body = await partOf(who, session);
        if (body === undefined) return { status: 0 };
        sent.set(message, { who, path: `${path(session)}/sign`, body });
        return undefined;
      }
      case "deliver": {
        const found = sent.get(message);
        return found === undefined ? { status: 0 } : asking(found.who)("POST", found.path, found.body);
      }
      case "lose":
        sent.delete(message);
        return undefined;
      case "lie_commit": {
        const signer = signerOf(index, session);
        const commitment: RoundCommitment = holds ? signer.commitment : { ...signer.commitment, hiding: garbage.points };
        const answer = await asking(who)("POST", `${path(session)}/commit`, commitment);
        if (answer.status === 200) signers.set(place(who, session), signer);
        return answer;
      }
      case "lie_sign": {
        const body = (holds ? await partOf(who, session) : undefined) ?? { index, share: garbage.share };
        return asking(who)("POST", `${path(session)}/sign`, body);
      }
      case "aggregate": {
        const answer = await chair("POST", `${path(session)}/aggregate`);
        if (answer.status !== 200) return answer;
        const signature = Buffer.from(answer.body.signature, "base64");
        expect(nodeCrypto.ed25519Verify(Buffer.from(key.public_key, "base64"), messages[session]!, signature)).toBe(true);
        return answer;
      }
      case "crash":
        for (const session_ of [0, 1]) signers.delete(place(who, session_));
        return undefined;
      case "restart":
        await gateway.restart();
        return undefined;
      case "leave":
        return chair("DELETE", `/api/v1/identities/users/${ids.get(who)}`);
    }
  };
  const statuses: number[] = [];
  for (const one of steps) {
    const status = (await carryOut(one))?.status ?? 200;
    statuses.push(status > 0 && status < 300 ? 200 : status);
  }
  const account = new Map([...ids].map(([who, id]) => [id, who]));
  const accountOf = (id: string): number => account.get(id) ?? 0;
  const sessions: Played["sessions"][number][] = [];
  for (const session of [0, 1]) {
    const { body } = await chair("GET", path(session));
    expect(body.cheaters).toEqual([]);
    const taken = body.seats.filter((seat: { taken_at: string | null }) => seat.taken_at !== null);
    sessions.push({
      status: body.status,
      taken: taken.map((seat: { index: number; identity_id: string }) => [seat.index, accountOf(seat.identity_id)]),
      signed: body.signed_indexes.toSorted(),
    });
  }
  const { events } = (await chair("GET", "/api/v1/audit?event_type=crk.ceremony&limit=1000")).body;
  const named = events.filter(({ result }: { result: string }) => result !== "success");
  const blamed = new Set<number>(named.map(({ actor }: { actor: string }) => accountOf(actor)));
  return { statuses, sessions, blamed: [...blamed].toSorted() };
}

export async function replaySession(place: { readonly gateway: ModelGateway; readonly org: string }, run: Run): Promise<void> {
  const { steps, end } = run;
  const sessions = end["sessions"] as readonly (readonly [number, End])[];
  expect(await playSession(place, run)).toEqual({
    statuses: (steps as unknown as readonly Step[]).map(({ outcome }) => STATUS[outcome] ?? 200),
    sessions: sessions
      .toSorted(([a], [b]) => a - b)
      .map(([, { status, committed, parts }]) => ({
        status,
        taken: committed.map(([index, { by }]) => [index, by] as const).toSorted(([a], [b]) => a - b),
        signed: parts.map(([index]) => index).toSorted(),
      })),
    blamed: (end["blamed"] as readonly number[]).toSorted(),
  });
}
