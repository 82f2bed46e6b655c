/** What a custodian's page does, alone and with a security key; bundled for a browser by the test beside it, which adds the two functions of docs/custody.md. */
import { base64, fromBase64, fromUtf8, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import {
  type CeremonyState,
  CustodianKeys,
  ceremonyStep,
  custodianCard,
  openKeyFile,
  type PrfSeal,
  prfSeal,
  readKeyFile,
  sealKeyFile,
  takeSeat,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { type CrkPublic, type RoundCommitment, type Share, Signer, type SigningRound } from "@seneschal/crypto/threshold";
import { isCoded } from "@seneschal/kernel";

declare function newCredential(rpId: string, name: string): Promise<Uint8Array>;
declare function answerOf(seal: PrfSeal): Promise<Uint8Array>;

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
/** The code of what is thrown, or "opened". */
const refusal = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => "opened",
    (error: unknown) => (isCoded(error) ? error.code : String(error)),
  );

/** New keys, sealed by a new credential, and by what they can be told. */
async function sealed(rpId: string) {
  const keys = CustodianKeys.generate(nobleCrypto, random);
  const card = custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: "ada" }, random);
  const seal = prfSeal({ rpId, credentialId: await newCredential(rpId, "ada") }, random);
  const answer = await answerOf(seal);
  const file = await sealKeyFile(nobleCrypto, { keys, card }, { seal, answer }, random);
  return { file: fromUtf8(file), keys: hex(keys.toBytes()), answer: hex(answer) };
}

/** The keys in a file, by the security key that is there. */
async function opened(text: string): Promise<string> {
  const file = utf8(text);
  const { keys } = await openKeyFile(nobleCrypto, file, await answerOf(readKeyFile(file).seal as PrfSeal));
  return hex(keys.toBytes());
}

/** What comes of a file by the answers of another credential, to another input, and with another bit in each of its bytes. */
async function refused(text: string) {
  const file = utf8(text);
  const seal = readKeyFile(file).seal as PrfSeal;
  const answer = await answerOf(seal);
  const other = { ...seal, credential_id: base64(await newCredential(seal.rp_id, "bob")) };
  const input = fromBase64(seal.input).map((byte, i) => (i === 0 ? byte ^ 1 : byte));
  const flipped = new Set<string>();
  for (const at of file.keys()) {
    const changed = file.map((byte, i) => (i === at ? byte ^ (1 << (at % 8)) : byte));
    flipped.add(await refusal(openKeyFile(nobleCrypto, changed, answer)));
  }
  return {
    credential: await refusal(openKeyFile(nobleCrypto, file, await answerOf(other))),
    input: await refusal(openKeyFile(nobleCrypto, file, await answerOf({ ...seal, input: base64(input) }))),
    flipped: [...flipped].sort(),
  };
}

/** A custodian of this page alone: what it says in a ceremony, and then in a signing session. Its keys, state and share stay here. */
function custodian(id: string) {
  const keys = CustodianKeys.generate(nobleCrypto, random);
  let state: CeremonyState | undefined;
  let held: { readonly crk: CrkPublic; readonly share: Share } | undefined;
  let signer: Signer | undefined;
  return {
    card: () => custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: id }, random),
    turn(transcript: string, at: number) {
      const report = verifyTranscript(nobleCrypto, utf8(transcript));
      if (!report.valid) throw new Error(report.refused.reason);
      const { view } = report;
      state ??= takeSeat(view, keys, random);
      const confirm = view.transcript === undefined ? {} : { confirm: view.transcript };
      const { entries, outcome, state: next } = ceremonyStep(nobleCrypto, { keys, state, view, at, ...confirm });
      state = next;
      if (outcome.kind === "active") held = outcome;
      return { entries, outcome: outcome.kind };
    },
    commit(round: SigningRound) {
      if (held === undefined) throw new Error("no share");
      signer = new Signer(held.crk, held.share, round, random);
      return signer.commitment;
    },
    sign: (round: SigningRound, commitments: readonly RoundCommitment[]) => signer?.sign(round, commitments).share,
  };
}

Object.assign(globalThis, { sealed, opened, refused, custodian });
