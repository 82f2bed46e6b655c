/** What a custodian's page does with a security key; bundled for a browser by the test beside it, which adds the two functions of docs/custody.md. */
import { base64, fromBase64, fromUtf8, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import {
  CustodianKeys,
  custodianCard,
  openKeyFile,
  type PrfSeal,
  prfSeal,
  readKeyFile,
  sealKeyFile,
} from "@seneschal/crypto/custody";
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

Object.assign(globalThis, { sealed, opened, refused });
