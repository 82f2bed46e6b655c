import { openSeal, sealBelow, sharesOf, stagedSeal, storedSeal } from "@seneschal/adapters/vault";
import { attemptAt, giveShare, type ShareVerdict, type UnsealAttempt } from "@seneschal/core/keys";
import {
  combineSecret,
  inspectShares,
  Share,
  type SplitRecord,
  type SubmittedShare,
  splitSet,
} from "@seneschal/crypto/threshold";
import { CodedError, isCoded, type JsonObject } from "@seneschal/kernel";
import type { AuditDraft, CryptoProvider, DocumentStore, Random } from "@seneschal/kernel/ports";
import type { GivenKey, Seal, SealedVault } from "../platform/index.ts";
import type { SealSettings } from "./storage-settings.ts";

/** What was done with a seal, for the audit log of its service. */
export interface SealAct {
  readonly type: "vault.init" | "vault.unseal" | "vault.seal" | "vault.rekey" | "vault.migrate";
  readonly result: "success" | "denied";
  /** Milliseconds. */
  readonly now: number;
  readonly requestId: string;
  readonly metadata: JsonObject;
}

/** The audit event of an act, in the words of a service. */
export type AuditSeal = (act: SealAct) => AuditDraft;

/** What operators of a vault need of it. */
export interface SealParts {
  readonly store: DocumentStore;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly audit: AuditSeal;
}

/** What a key text is to a seal in shares; of a share, its index. */
function judged(record: SplitRecord, key: string): SubmittedShare & { readonly verdict: ShareVerdict } {
  let index = 0;
  try {
    index = Share.decode(key).index;
  } catch (error) {
    if (!isCoded(error, "share_invalid")) throw error;
  }
  const [problem] = inspectShares(splitSet(record), [{ index, data: key }]).problems;
  return { index, data: key, verdict: problem === undefined ? "right" : problem.problem === "wrong" ? "wrong" : "foreign" };
}

/** A seal in shares. */
interface SharedSeal {
  readonly doc: JsonObject;
  readonly record: SplitRecord;
}

/** The seal in force. Throws `vault_unavailable` when it is not in shares. */
async function sealInForce(store: DocumentStore): Promise<SharedSeal> {
  const stored = await storedSeal(store);
  if (stored === undefined)
    throw new CodedError("config_invalid", "the vault has no seal yet: seneschal vault init deals its shares");
  return { doc: stored.doc, record: sharesOf(stored.doc) };
}

/** The seal of a vault that is to be moved to a vault server, or is on its way there. */
async function sealMoving(store: DocumentStore): Promise<SharedSeal> {
  const stored = await storedSeal(store);
  if (stored === undefined) throw new CodedError("config_invalid", "the vault has no seal yet: there is nothing to migrate");
  const doc = sealBelow(stored.doc);
  return { doc, record: sharesOf(doc) };
}

/** The seal that a rekey has dealt, and that is not in force yet. */
async function sealDealt(store: DocumentStore): Promise<SharedSeal> {
  const doc = await stagedSeal(store);
  if (doc === undefined) throw new CodedError("config_invalid", "no new shares wait: seneschal vault rekey deals them");
  return { doc, record: sharesOf(doc) };
}

/** What shares are brought for: to unseal, which is recorded when it is done, to show that those of a rekey are kept, or to move the keys. */
const purposes = {
  unseal: { read: sealInForce, type: "vault.unseal" },
  verify: { read: sealDealt, type: "vault.rekey" },
  move: { read: sealMoving, type: "vault.migrate" },
} as const;

function refused({ audit, store, random }: SealParts, type: SealAct["type"], { now, requestId, address }: GivenKey) {
  const event = audit({ type, result: "denied", now, requestId, metadata: { reason: "share_wrong", address } });
  return store.commit({ commitId: commitId(random), audit: [event] });
}

const commitId = (random: Random): string => `vault-act-${Buffer.from(random(16)).toString("hex")}`;
const foreign = () => new CodedError("share_invalid", "this is no unseal key share of this vault");
const wrong = (what: string) => new CodedError("share_invalid", `the share is not the one that was dealt${what}`);

/** A vault in shares, sealed: it takes them one at a time, each judged when it comes, and keeps them in memory until they are enough. */
export async function sealedVault(parts: SealParts, purpose: keyof typeof purposes = "unseal"): Promise<SealedVault> {
  const { store, crypto, random, audit } = parts;
  const { read, type } = purposes[purpose];
  let { doc, record } = await read(store);
  let attempt: UnsealAttempt | undefined;
  let kept: readonly SubmittedShare[] = [];
  let open = false;
  let opening = (_: Uint8Array): void => undefined;
  const opened = new Promise<Uint8Array>((resolve) => {
    opening = resolve;
  });
  let turn: Promise<unknown> = Promise.resolve();

  const state: Seal["state"] = async (now) => {
    attempt = attemptAt(attempt, now);
    if (attempt === undefined) kept = [];
    const { threshold: t, total: n } = record;
    const progress = attempt?.indexes.length ?? 0;
    return { type: "shamir", initialized: true, sealed: !open, t, n, progress, nonce: attempt?.nonce ?? "" };
  };

  const give = async (given: GivenKey): Promise<void> => {
    if (open) return;
    const { now, requestId } = given;
    // Another process may have rekeyed the vault of this store.
    if (attemptAt(attempt, now) === undefined) ({ doc, record } = await read(store));
    const { verdict, ...share } = judged(record, given.key);
    const facts = { threshold: record.threshold, nonce: Buffer.from(random(16)).toString("hex"), now };
    const step = giveShare(attempt, { nonce: given.nonce, index: share.index, verdict }, facts);
    const before = kept;
    attempt = step.attempt;
    if (attempt === undefined) kept = [];
    switch (step.result) {
      case "repeated":
        return;
      case "kept":
        kept = step.attempt.indexes.length === 1 ? [share] : [...before, share];
        return;
      case "complete": {
        const key = await combineSecret(record, [...before, share]);
        (await openSeal(crypto, { kind: "shamir", key }, doc)).fill(0);
        const metadata = { threshold: record.threshold, shares: record.total, nonce: given.nonce ?? "" };
        const event = audit({ type, result: "success", now, requestId, metadata });
        if (purpose === "unseal") await store.commit({ commitId: commitId(random), audit: [event] });
        open = true;
        opening(key);
        return;
      }
      case "refused":
        if (step.reason === "other_attempt")
          throw new CodedError("seal_conflict", "this is not the attempt under way: ask for the status, and name its nonce");
        if (step.reason === "foreign") throw foreign();
        await refused(parts, type, given);
        throw wrong(": the attempt is over, every operator begins again");
    }
  };

  return {
    state,
    opened,
    async opens(key) {
      const found = await openSeal(crypto, { kind: "shamir", key }, (await read(store)).doc).catch(() => undefined);
      found?.fill(0);
      return found !== undefined;
    },
    async unseal(given) {
      const done = turn.then(() => give(given));
      turn = done.catch(() => undefined);
      await done;
      return state(given.now);
    },
    seal: ({ now }) => state(now),
  };
}

/** The seal of a vault that is open. */
export function openedSeal(parts: SealParts, { kind }: SealSettings): Seal {
  const { store, random, audit } = parts;
  const state: Seal["state"] = async () => {
    const stored = await storedSeal(store);
    const { threshold: t, total: n } = stored?.doc["kind"] === "shamir" ? sharesOf(stored.doc) : { threshold: 1, total: 1 };
    return { type: kind, initialized: true, sealed: false, t, n, progress: 0, nonce: "" };
  };
  return {
    state,
    unseal: ({ now }) => state(now),
    async seal(given) {
      if (kind !== "shamir")
        throw new CodedError("seal_conflict", `a vault with a seal of kind ${kind} opens by itself: stop the process to seal it`);
      const { record } = await sealInForce(store);
      const { verdict } = judged(record, given.key);
      if (verdict === "foreign") throw foreign();
      if (verdict === "wrong") {
        await refused(parts, "vault.seal", given);
        throw wrong("");
      }
      const { now, requestId, address } = given;
      const event = audit({ type: "vault.seal", result: "success", now, requestId, metadata: { address } });
      await store.commit({ commitId: commitId(random), audit: [event] });
      return { ...(await state(now)), sealed: true };
    },
  };
}
