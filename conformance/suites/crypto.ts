/** Third-party vectors for packages/crypto, over both providers where a provider computes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ed25519_FROST, ristretto255_FROST } from "@noble/curves/ed25519.js";
import { p256, p256_FROST } from "@noble/curves/nist.js";
import { secp256k1_FROST } from "@noble/curves/secp256k1.js";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import {
  bytesEqual,
  concat,
  fromBase64,
  fromHex,
  hex,
  nobleCrypto,
  totpCode,
  utf8,
  xchachaOpen,
  xchachaSeal,
} from "@seneschal/crypto";
import { hpkeDeriveSecret, hpkeReceiver, hpkeSender } from "@seneschal/crypto/hpke";
import { verifyConsistency, verifyInclusion, verifySubtreeConsistency, verifySubtreeInclusion } from "@seneschal/crypto/merkle";
import { crkFromJson, sumRepair } from "@seneschal/crypto/threshold";
import {
  certificatePem,
  createOcspResponse,
  createRequest,
  createRevocationList,
  ecdsaSignatureFromDer,
  parseOcspRequest,
  requestPem,
  revocationListPem,
} from "@seneschal/crypto/x509";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { hasOpenssl, openssl } from "../../packages/crypto/test/x509/openssl.ts";
import { DAY, makePki, NOW } from "../../packages/crypto/test/x509/pki.ts";
import { casesIn, hasRows, rowsHave } from "../cases-in.ts";
import type { ConformanceSuite, SuiteResult } from "../suite.ts";

type FROST = typeof ed25519_FROST;

const PROVIDERS: readonly CryptoProvider[] = [nobleCrypto, nodeCrypto];

/** Counts cases; a case passes when it returns true and throws nothing. */
class Tally {
  #passed = 0;
  readonly #failures: string[] = [];
  skipped = 0;

  check(name: string, test: () => boolean): void {
    let failure: string | undefined;
    try {
      if (!test()) failure = name;
    } catch (error) {
      failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (failure === undefined) this.#passed++;
    else this.#failures.push(failure);
  }

  result(): SuiteResult {
    return {
      passed: this.#passed,
      failed: this.#failures.length,
      skipped: this.skipped,
      failures: this.#failures.slice(0, 200),
    };
  }
}

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(join(...path), "utf8")) as T;
}

/** The result of `work`, or undefined when it refuses with one of our codes; any other error is a failure. */
function refusedAs<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === "crypto_invalid" || code === "decryption_failed" || code === "der_invalid") return undefined;
    throw error;
  }
}

interface WycheproofCase {
  readonly tcId: number;
  readonly result: "valid" | "invalid" | "acceptable";
  readonly [field: string]: string | number;
}
interface WycheproofGroup {
  readonly tests: readonly WycheproofCase[];
  readonly ivSize?: number;
  readonly tagSize?: number;
  readonly publicKey?: { readonly pk?: string; readonly uncompressed?: string };
}

type Judge = (provider: CryptoProvider, group: WycheproofGroup, test: WycheproofCase) => boolean;
const bytes = (test: WycheproofCase, field: string): Uint8Array => fromHex(String(test[field]));

/** AEAD: opens exactly the valid cases of the allowed nonce size, and seals to the same bytes. */
function aead(
  nonceBits: number,
  seal: (p: CryptoProvider) => (k: Uint8Array, n: Uint8Array, m: Uint8Array, a: Uint8Array) => Uint8Array,
  open: (p: CryptoProvider) => (k: Uint8Array, n: Uint8Array, c: Uint8Array, a: Uint8Array) => Uint8Array,
): Judge {
  return (provider, group, test) => {
    const [key, iv, aad, msg] = [bytes(test, "key"), bytes(test, "iv"), bytes(test, "aad"), bytes(test, "msg")];
    const sealed = concat(bytes(test, "ct"), bytes(test, "tag"));
    const opened = refusedAs(() => open(provider)(key, iv, sealed, aad));
    if (group.ivSize !== nonceBits)
      return opened === undefined && refusedAs(() => seal(provider)(key, iv, msg, aad)) === undefined;
    if (test.result !== "valid") return opened === undefined;
    return opened !== undefined && bytesEqual(opened, msg) && bytesEqual(seal(provider)(key, iv, msg, aad), sealed);
  };
}

/** HMAC: a truncated tag is compared with the beginning of ours, as a caller of a truncated MAC would. */
function mac(algorithm: "sha256" | "sha512"): Judge {
  return (provider, group, test) => {
    const ours = provider.hmac(algorithm, bytes(test, "key"), bytes(test, "msg")).subarray(0, (group.tagSize ?? 0) / 8);
    return bytesEqual(ours, bytes(test, "tag")) === (test.result === "valid");
  };
}

function hkdf(algorithm: "sha256" | "sha512"): Judge {
  return (provider, _group, test) => {
    const okm = refusedAs(() =>
      provider.hkdf(algorithm, bytes(test, "ikm"), bytes(test, "salt"), bytes(test, "info"), Number(test["size"])),
    );
    return test.result === "valid" ? okm !== undefined && hex(okm) === test["okm"] : okm === undefined;
  };
}

/** Key wrap: `acceptable` cases are payloads below the minimum, which our policy refuses. */
function keyWrap(wrap: "wrap" | "wrapPadded", unwrap: "unwrap" | "unwrapPadded"): Judge {
  return (provider, _group, test) => {
    const opened = refusedAs(() => provider[unwrap](bytes(test, "key"), bytes(test, "ct")));
    if (test.result === "invalid" || (test.result === "acceptable" && wrap === "wrap")) return opened === undefined;
    const wrapped = refusedAs(() => provider[wrap](bytes(test, "key"), bytes(test, "msg")));
    return opened !== undefined && hex(opened) === test["msg"] && wrapped !== undefined && hex(wrapped) === test["ct"];
  };
}

const ed25519: Judge = (provider, group, test) =>
  provider.ed25519Verify(fromHex(group.publicKey?.pk ?? ""), bytes(test, "msg"), bytes(test, "sig")) ===
  (test.result === "valid");

function ecdsa(decode: (signature: Uint8Array) => Uint8Array): Judge {
  return (provider, group, test) => {
    const raw = refusedAs(() => decode(bytes(test, "sig")));
    const key = fromHex(group.publicKey?.uncompressed ?? "");
    const accepted = raw !== undefined && provider.p256Verify(key, bytes(test, "msg"), raw);
    return accepted === (test.result === "valid");
  };
}

const WYCHEPROOF: Readonly<Record<string, Judge>> = {
  aes_gcm: aead(
    96,
    (p) => p.seal,
    (p) => p.open,
  ),
  chacha20_poly1305: aead(
    96,
    (p) => p.chachaSeal,
    (p) => p.chachaOpen,
  ),
  xchacha20_poly1305: aead(
    192,
    (p) =>
      (...args) =>
        xchachaSeal(p, ...args),
    (p) =>
      (...args) =>
        xchachaOpen(p, ...args),
  ),
  hmac_sha256: mac("sha256"),
  hmac_sha512: mac("sha512"),
  hkdf_sha256: hkdf("sha256"),
  hkdf_sha512: hkdf("sha512"),
  aes_wrap: keyWrap("wrap", "unwrap"),
  aes_kwp: keyWrap("wrapPadded", "unwrapPadded"),
  ed25519: ed25519,
  ecdsa_secp256r1_sha256: ecdsa((signature) => ecdsaSignatureFromDer(signature, 32)),
  ecdsa_secp256r1_sha256_p1363: ecdsa((signature) => signature),
};

interface WycheproofFile {
  readonly algorithm: string;
  readonly testGroups: readonly (WycheproofGroup & {
    readonly type?: string;
    readonly sha?: string;
    readonly publicKey?: { readonly curve?: string };
  })[];
}

/** What a file tests, by its algorithm and, of signatures, curve, hash and form. */
function wycheproofKind({ algorithm, testGroups: [group] }: WycheproofFile): string | undefined {
  if (algorithm === "ECDSA") {
    if (group?.publicKey?.curve !== "secp256r1" || group.sha !== "SHA-256") return undefined;
    return group.type === "EcdsaP1363Verify" ? "ecdsa_secp256r1_sha256_p1363" : "ecdsa_secp256r1_sha256";
  }
  if (algorithm === "EDDSA") return group?.publicKey?.curve === "edwards25519" ? "ed25519" : undefined;
  const name = algorithm.toLowerCase().replaceAll("-", "_").replace("sha_", "sha").replace("hmacsha", "hmac_sha");
  return Object.hasOwn(WYCHEPROOF, name) ? name : undefined;
}

const wycheproof = Object.entries(WYCHEPROOF).map(
  ([name, judge]): ConformanceSuite => ({
    name: `crypto/wycheproof/${name}`,
    floor: 1,
    async run(dataDir) {
      const tally = new Tally();
      const files = casesIn<WycheproofFile>(dataDir, "crypto/wycheproof", (x) => hasRows(x, "testGroups", "tests"));
      for (const { content } of files.filter((file) => wycheproofKind(file.content) === name)) {
        for (const provider of PROVIDERS) {
          for (const group of content.testGroups) {
            for (const test of group.tests) {
              tally.check(`${provider.name} tcId ${test.tcId} (${test.result})`, () => judge(provider, group, test));
            }
          }
        }
      }
      return tally.result();
    },
  }),
);

const SUITES: Readonly<
  Record<string, { readonly frost: FROST; readonly ordinary?: (pk: Uint8Array, m: Uint8Array, s: Uint8Array) => boolean }>
> = {
  ed25519: { frost: ed25519_FROST, ordinary: (pk, m, s) => PROVIDERS.every((p) => p.ed25519Verify(pk, m, s)) },
  ristretto255: { frost: ristretto255_FROST },
  p256: { frost: p256_FROST },
  secp256k1: { frost: secp256k1_FROST },
};

interface FrostVector {
  readonly config: { readonly MAX_PARTICIPANTS: string; readonly MIN_PARTICIPANTS: string };
  readonly inputs: {
    readonly participant_list: readonly number[];
    readonly group_secret_key: string;
    readonly group_public_key?: string;
    readonly verifying_key_key?: string;
    readonly message: string;
    readonly share_polynomial_coefficients: readonly string[];
    readonly participant_shares: readonly { readonly identifier: number; readonly participant_share: string }[];
  };
  readonly round_one_outputs: {
    readonly outputs: readonly (Readonly<Record<string, string>> & { readonly identifier: number })[];
  };
  readonly round_two_outputs: { readonly outputs: readonly { readonly identifier: number; readonly sig_share: string }[] };
  readonly final_output: { readonly sig: string };
}

/** Replays a signing vector: shares from the polynomial, nonces, commitments, signature shares, signature. */
function replaySigning(
  tally: Tally,
  name: string,
  frost: FROST,
  vector: FrostVector,
  ordinary?: (pk: Uint8Array, m: Uint8Array, s: Uint8Array) => boolean,
): void {
  const { inputs } = vector;
  const { Fn } = frost.utils;
  const secret = Fn.fromBytes(fromHex(inputs.group_secret_key));
  const coefficients = inputs.share_polynomial_coefficients.map((c) => Fn.fromBytes(fromHex(c)));
  const signers = { min: Number(vector.config.MIN_PARTICIPANTS), max: Number(vector.config.MAX_PARTICIPANTS) };
  const { commitment } = frost.utils.generateSecretPolynomial(signers, fromHex(inputs.group_secret_key), coefficients);
  const groupKey = inputs.group_public_key ?? inputs.verifying_key_key ?? "";
  tally.check(`${name}: group key`, () => hex(commitment[0] ?? new Uint8Array()) === groupKey);
  const shares = new Map<number, Uint8Array>();
  for (const { identifier, participant_share } of inputs.participant_shares) {
    const value = [secret, ...coefficients].reduceRight((sum, c) => Fn.add(Fn.mul(sum, BigInt(identifier)), c), 0n);
    tally.check(`${name}: share ${identifier}`, () => hex(Fn.toBytes(value)) === participant_share);
    shares.set(identifier, fromHex(participant_share));
  }
  const id = (index: number) => frost.Identifier.fromNumber(index);
  // The public half is dealt with the vector's own polynomial, so that its commitments and verifying shares are the vector's.
  let drawn = 0;
  const dealt = { public: { signers, commitments: commitment, verifyingShares: {} as Record<string, Uint8Array> } };
  for (const index of inputs.participant_list) {
    dealt.public.verifyingShares[id(index)] = basePointBytes(frost, shares.get(index) ?? new Uint8Array());
  }
  const message = fromHex(inputs.message);
  const rounds = vector.round_one_outputs.outputs.map((output) => {
    const randomness = [output["hiding_nonce_randomness"], output["binding_nonce_randomness"]].map((r) => fromHex(String(r)));
    drawn = 0;
    const share = shares.get(output.identifier) ?? new Uint8Array();
    const made = frost.commit(
      { identifier: id(output.identifier), signingShare: share as never },
      () => randomness[drawn++] as never,
    );
    tally.check(
      `${name}: round one ${output.identifier}`,
      () =>
        hex(made.nonces.hiding) === output["hiding_nonce"] &&
        hex(made.nonces.binding) === output["binding_nonce"] &&
        hex(made.commitments.hiding) === output["hiding_nonce_commitment"] &&
        hex(made.commitments.binding) === output["binding_nonce_commitment"],
    );
    return { index: output.identifier, share, made };
  });
  const list = rounds.map((r) => r.made.commitments);
  const parts: Record<string, Uint8Array> = {};
  for (const { index, share, made } of rounds) {
    const part = frost.signShare(
      { identifier: id(index), signingShare: share as never },
      dealt.public as never,
      made.nonces,
      list as never,
      message,
    );
    const expected = vector.round_two_outputs.outputs.find((o) => o.identifier === index)?.sig_share;
    tally.check(`${name}: signature share ${index}`, () => hex(part) === expected);
    parts[id(index)] = part;
  }
  tally.check(`${name}: signature`, () => {
    const signature = frost.aggregate(dealt.public as never, list as never, message, parts as never);
    return (
      hex(signature) === vector.final_output.sig &&
      frost.verify(signature, message, fromHex(groupKey)) &&
      (ordinary === undefined || ordinary(fromHex(groupKey), message, signature))
    );
  });
}

function basePointBytes(frost: FROST, scalar: Uint8Array): Uint8Array {
  const value = frost.utils.Fn.fromBytes(scalar);
  return (
    frost.utils.generateSecretPolynomial({ min: 2, max: 2 }, frost.utils.Fn.toBytes(value), [1n]).commitment[0] ??
    new Uint8Array()
  );
}

interface DkgVector {
  readonly config: { readonly MAX_PARTICIPANTS: number; readonly MIN_PARTICIPANTS: number };
  readonly inputs: Readonly<Record<string, unknown>> & { readonly verifying_key: string };
}
interface DkgParticipantVector {
  readonly identifier: number;
  readonly signing_key: string;
  readonly coefficient: string;
  readonly vss_commitments: readonly string[];
  readonly proof_of_knowledge: string;
  readonly signing_shares: Readonly<Record<string, string>>;
  readonly verifying_share: string;
  readonly signing_share: string;
}

/** Replays key generation from the second round on: proofs and dealt shares of the vector in, key packages out. */
function replayDkg(tally: Tally, name: string, frost: FROST, vector: DkgVector): void {
  const max = vector.config.MAX_PARTICIPANTS;
  const min = vector.config.MIN_PARTICIPANTS;
  const { Fn } = frost.utils;
  const people = Array.from({ length: max }, (_, i) => vector.inputs[String(i + 1)] as DkgParticipantVector);
  const id = (index: number) => frost.Identifier.fromNumber(index);
  for (const me of people) {
    const others = people.filter((p) => p.identifier !== me.identifier);
    const pack = (p: DkgParticipantVector) => ({
      identifier: id(p.identifier),
      commitment: p.vss_commitments.map(fromHex),
      proofOfKnowledge: fromHex(p.proof_of_knowledge),
    });
    const secret = {
      identifier: BigInt(me.identifier),
      coefficients: [Fn.fromBytes(fromHex(me.signing_key)), Fn.fromBytes(fromHex(me.coefficient))],
      commitment: me.vss_commitments.map(fromHex),
      signers: { min, max },
      step: 1 as const,
    };
    tally.check(`${name}: participant ${me.identifier}`, () => {
      frost.DKG.round2(secret as never, others.map(pack) as never);
      const received = others.map((p) => ({
        identifier: id(p.identifier),
        signingShare: fromHex(me.signing_shares[String(p.identifier)] ?? ""),
      }));
      const key = frost.DKG.round3(secret as never, others.map(pack) as never, received as never);
      return (
        hex(key.secret.signingShare) === me.signing_share &&
        hex(key.public.verifyingShares[id(me.identifier)] ?? new Uint8Array()) === me.verifying_share &&
        hex(key.public.commitments[0] ?? new Uint8Array()) === vector.inputs.verifying_key
      );
    });
  }
}

const frost: ConformanceSuite = {
  name: "crypto/frost",
  floor: 1,
  async run(dataDir) {
    const tally = new Tally();
    const dir = join(dataDir, "crypto/frost-vectors");
    if (!existsSync(dir)) return tally.result();
    for (const file of readdirSync(dir)
      .filter((f) => f.endsWith(".json"))
      .sort()) {
      const [, suiteName = ""] = /^(?:cfrg|zf)-frost-([a-z0-9]+)-/.exec(file) ?? [];
      const suite = SUITES[suiteName];
      if (suite === undefined) {
        tally.skipped++;
        continue;
      }
      const { Fn } = suite.frost.utils;
      if (/-vectors_dkg\.json$/.test(file)) replayDkg(tally, file, suite.frost, readJson(dir, file));
      else if (/-repair-share\.json$/.test(file)) {
        const sums = readJson<Record<string, Record<string, string>>>(dir, file);
        for (const group of Object.values(sums)) {
          const entries = Object.entries(group);
          const terms = entries.filter(([key]) => /_\d$/.test(key)).map(([, value]) => fromHex(value));
          const [sumName, expected] = entries.find(([key]) => key.endsWith("_sum")) ?? ["", ""];
          tally.check(`${file}: ${sumName}`, () =>
            suiteName === "ed25519"
              ? hex(sumRepair(terms)) === expected
              : hex(Fn.toBytes(terms.reduce((sum, t) => Fn.add(sum, Fn.fromBytes(t)), 0n))) === expected,
          );
        }
      } else if (/-elements\.json$/.test(file)) {
        const { elements } = readJson<{ elements: { invalid_element: string } }>(dir, file);
        tally.check(`${file}: invalid element refused`, () => refusesElement(suiteName, fromHex(elements.invalid_element)));
      } else if (/-samples\.json$/.test(file)) {
        const samples = readJson<Record<string, string>>(dir, file);
        tally.check(`${file}: identifier`, () => suite.frost.Identifier.fromNumber(42) === samples["identifier"]);
        tally.check(
          `${file}: scalar`,
          () => hex(Fn.toBytes(Fn.fromBytes(fromHex(samples["scalar1"] ?? "")))) === samples["scalar1"],
        );
        for (const name of ["element1", "element2"]) {
          tally.check(`${file}: ${name} is not refused`, () => !refusesElement(suiteName, fromHex(samples[name] ?? "")));
        }
      } else replaySigning(tally, file, suite.frost, readJson(dir, file), suite.ordinary);
    }
    return tally.result();
  },
};

/** Whether an element is refused where it enters: for Ed25519 by our own reader of public halves, else by FROST. */
function refusesElement(suiteName: string, element: Uint8Array): boolean {
  try {
    if (suiteName === "ed25519") {
      const text = Buffer.from(element).toString("base64");
      crkFromJson({
        set_id: Buffer.alloc(16).toString("base64"),
        epoch: 1,
        threshold: 2,
        total_shares: 2,
        public_key: text,
        commitments: [text, text],
        verifying_shares: [],
      });
    } else p256.Point.fromBytes(element).assertValidity();
    return false;
  } catch (error) {
    // The public half is incomplete on purpose: only the complaint about the point itself counts.
    return suiteName !== "ed25519" || /point|group/.test((error as Error).message);
  }
}

interface HpkeVector {
  readonly mode: number;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly info: string;
  readonly ikmE: string;
  readonly ikmR: string;
  readonly ikmS?: string;
  readonly psk?: string;
  readonly psk_id?: string;
  readonly enc: string;
  readonly encryptions: readonly Readonly<Record<"pt" | "aad" | "ct" | "sequence number", string>>[];
  readonly exports: readonly { readonly exporter_context: string; readonly L: string; readonly exported_value: string }[];
}

const hpke: ConformanceSuite = {
  name: "crypto/rfc9180",
  floor: 1,
  async run(dataDir) {
    const tally = new Tally();
    const files = casesIn<readonly HpkeVector[]>(dataDir, "crypto/hpke-vectors", (x) =>
      rowsHave(x, "mode", "kem_id", "encryptions"),
    );
    const vectors = files.flatMap(({ content }) => content);
    for (const provider of PROVIDERS) {
      for (const vector of vectors) {
        // DHKEM(X25519, HKDF-SHA256) and HKDF-SHA256 alone are built
        if (Number(vector.kem_id) !== 0x20 || Number(vector.kdf_id) !== 1 || ![1, 2, 3].includes(Number(vector.aead_id))) {
          tally.skipped++;
          continue;
        }
        const name = `${provider.name} mode ${vector.mode} aead ${vector.aead_id}`;
        const aeadName = ({ 1: "aes-128-gcm", 2: "aes-256-gcm", 3: "chacha20-poly1305" } as const)[vector.aead_id as 1 | 2 | 3];
        const recipient = hpkeDeriveSecret(provider, fromHex(vector.ikmR));
        const sender =
          vector.ikmS === undefined || vector.mode < 2 ? undefined : hpkeDeriveSecret(provider, fromHex(vector.ikmS));
        const options = {
          aead: aeadName,
          info: fromHex(vector.info),
          ...(vector.mode % 2 === 1 ? { psk: { key: fromHex(vector.psk ?? ""), id: fromHex(vector.psk_id ?? "") } } : {}),
        };
        const { enc, context } = hpkeSender(provider, provider.x25519PublicKey(recipient), {
          ...options,
          ...(sender === undefined ? {} : { senderSecret: sender }),
          random: () => hpkeDeriveSecret(provider, fromHex(vector.ikmE)),
        });
        tally.check(`${name}: encapsulated key`, () => hex(enc) === vector.enc);
        const receiver = hpkeReceiver(provider, recipient, enc, {
          ...options,
          ...(sender === undefined ? {} : { senderKey: provider.x25519PublicKey(sender) }),
        });
        const wanted = new Map(vector.encryptions.map((e) => [Number(e["sequence number"]), e]));
        for (let n = 0; n <= Math.max(...wanted.keys()); n++) {
          const want = wanted.get(n);
          const sealed = context.seal(fromHex(want?.pt ?? ""), fromHex(want?.aad ?? ""));
          const opened = receiver.open(sealed, fromHex(want?.aad ?? ""));
          if (want !== undefined) tally.check(`${name}: message ${n}`, () => hex(sealed) === want.ct && hex(opened) === want.pt);
        }
        for (const want of vector.exports) {
          tally.check(`${name}: export ${want.exporter_context}`, () =>
            [context, receiver].every(
              (c) => hex(c.exportSecret(fromHex(want.exporter_context), Number(want.L))) === want.exported_value,
            ),
          );
        }
      }
    }
    return tally.result();
  },
};

type MerkleVector = Readonly<Record<string, string | number>> & {
  readonly proof: readonly string[] | null;
  readonly wantErr: boolean;
};

function merkle(
  kind: string,
  verify: (vector: MerkleVector, hash: (field: string) => Uint8Array, proof: Uint8Array[]) => boolean,
): ConformanceSuite {
  return {
    name: `crypto/merkle/${kind}`,
    floor: 1,
    async run(dataDir) {
      const tally = new Tally();
      const dir = join(dataDir, "crypto/merkle-vectors", kind);
      if (!existsSync(dir)) return tally.result();
      for (const file of readdirSync(dir, { recursive: true, encoding: "utf8" })
        .filter((f) => f.endsWith(".json"))
        .sort()) {
        const vector = readJson<MerkleVector>(dir, file);
        const hash = (field: string): Uint8Array => fromBase64(String(vector[field] ?? ""));
        tally.check(file, () => verify(vector, hash, (vector.proof ?? []).map(fromBase64)) === !vector.wantErr);
      }
      return tally.result();
    },
  };
}

const merkleSuites = [
  merkle("inclusion", (v, hash, proof) =>
    verifyInclusion({
      index: Number(v["leafIdx"]),
      size: Number(v["treeSize"]),
      leaf: hash("leafHash"),
      proof,
      root: hash("root"),
    }),
  ),
  merkle("consistency", (v, hash, proof) =>
    verifyConsistency({
      oldSize: Number(v["size1"]),
      newSize: Number(v["size2"]),
      oldRoot: hash("root1"),
      newRoot: hash("root2"),
      proof,
    }),
  ),
  merkle("subtreeinclusion", (v, hash, proof) =>
    verifySubtreeInclusion({
      index: Number(v["leafIdx"]),
      start: Number(v["start"]),
      end: Number(v["end"]),
      leaf: hash("leafHash"),
      subtreeRoot: hash("root"),
      proof,
    }),
  ),
  merkle("subtreeconsistency", (v, hash, proof) =>
    verifySubtreeConsistency({
      start: Number(v["start"]),
      end: Number(v["end"]),
      size: Number(v["size"]),
      subtreeRoot: hash("root1"),
      root: hash("root2"),
      proof,
    }),
  ),
];

/** RFC 6238 appendix B: seconds, then the codes by SHA-1, SHA-256 and SHA-512. */
const TOTP_VECTORS = [
  [59, "94287082", "46119246", "90693936"],
  [1111111109, "07081804", "68084774", "25091201"],
  [1111111111, "14050471", "67062674", "99943326"],
  [1234567890, "89005924", "91819424", "93441116"],
  [2000000000, "69279037", "90698825", "38618901"],
  [20000000000, "65353130", "77737706", "47863826"],
] as const;

const totp: ConformanceSuite = {
  name: "crypto/rfc6238",
  floor: 1,
  async run() {
    const tally = new Tally();
    for (const provider of PROVIDERS) {
      for (const [seconds, ...codes] of TOTP_VECTORS) {
        for (const [i, [algorithm, length]] of (
          [
            ["sha1", 20],
            ["sha256", 32],
            ["sha512", 64],
          ] as const
        ).entries()) {
          const secret = utf8("1234567890".repeat(7).slice(0, length));
          tally.check(
            `${provider.name} ${algorithm} at ${seconds}`,
            () => totpCode(provider, secret, Math.floor(seconds / 30), { algorithm, digits: 8 }) === codes[i],
          );
        }
      }
    }
    return tally.result();
  },
};

/** What we issue, judged by the openssl binary. */
const issued: ConformanceSuite = {
  name: "crypto/openssl",
  floor: 1,
  async run() {
    const tally = new Tally();
    const time = ["-attime", String(NOW / 1000)];
    for (const kind of ["ed25519", "p256"] as const) {
      const { root, ca, leaf, signer } = await makePki(kind, "conformance");
      const [good, bad] = [await leaf(), await leaf()];
      const lists = [];
      for (const issuer of [ca, root]) {
        const entries = issuer === ca ? [{ serial: bad.serial, revokedAt: NOW - DAY, reason: "superseded" as const }] : [];
        lists.push(
          revocationListPem(
            await createRevocationList(issuer, { entries, number: 1, thisUpdate: NOW - DAY, nextUpdate: NOW + DAY }),
          ),
        );
      }
      const request = await createRequest(signer(), {
        subject: [{ type: "CN", value: "node-1" }],
        subjectAltNames: [{ kind: "dns", value: "node-1.acme" }],
      });
      const files = {
        "root.pem": certificatePem(root.certificate),
        "ca.pem": certificatePem(ca.certificate),
        "good.pem": certificatePem(good),
        "bad.pem": certificatePem(bad),
        "crl.pem": lists[0] ?? "",
        "crls.pem": lists.join(""),
        "request.pem": requestPem(request),
      };
      const chain = ["-x509_strict", "-check_ss_sig", "-CAfile", "root.pem", "-untrusted", "ca.pem"];
      const says = (text: string | RegExp, ...args: string[]): boolean => new RegExp(text).test(openssl(files, ...args).text);
      tally.check(`${kind}: verify -x509_strict`, () => says("good.pem: OK", "verify", ...time, ...chain, "good.pem"));
      tally.check(`${kind}: verify -crl_check_all, not revoked`, () =>
        says("good.pem: OK", "verify", ...time, ...chain, "-crl_check_all", "-CRLfile", "crls.pem", "good.pem"),
      );
      tally.check(`${kind}: verify -crl_check_all, revoked`, () =>
        says("certificate revoked", "verify", ...time, ...chain, "-crl_check_all", "-CRLfile", "crls.pem", "bad.pem"),
      );
      tally.check(`${kind}: crl`, () => says("verify OK", "crl", "-in", "crl.pem", "-CAfile", "ca.pem", "-noout"));
      tally.check(`${kind}: req -verify`, () => says("verify OK", "req", "-verify", "-noout", "-in", "request.pem"));
      const asked = openssl(
        files,
        "ocsp",
        "-issuer",
        "ca.pem",
        "-cert",
        "good.pem",
        "-cert",
        "bad.pem",
        "-nonce",
        "-reqout",
        "out",
      ).out;
      const { ids, nonce } = parseOcspRequest(asked);
      const response = await createOcspResponse(
        nobleCrypto,
        { signer: ca.signer },
        {
          statuses: ids.map((id) => ({
            id,
            status: bytesEqual(id.serial, bad.serial)
              ? { kind: "revoked" as const, revokedAt: NOW - DAY }
              : { kind: "good" as const },
          })),
          producedAt: NOW,
          thisUpdate: NOW - DAY,
          nextUpdate: NOW + DAY,
          ...(nonce === undefined ? {} : { nonce }),
        },
      );
      const judged = openssl(
        { ...files, "request.der": asked, "response.der": response },
        ...[
          "ocsp",
          "-no_nonce",
          "-reqin",
          "request.der",
          "-respin",
          "response.der",
          "-issuer",
          "ca.pem",
          "-cert",
          "good.pem",
          "-cert",
          "bad.pem",
        ],
        ...[
          "-CAfile",
          "root.pem",
          "-verify_other",
          "ca.pem",
          ...time,
          "-validity_period",
          "99999999",
          "-status_age",
          "999999999",
        ],
      ).text;
      tally.check(`${kind}: ocsp signature`, () => /Response verify OK/.test(judged));
      tally.check(
        `${kind}: ocsp answers`,
        () => /good\.pem: (?:good|WARNING)/.test(judged) && /bad\.pem: (?:revoked|WARNING)/.test(judged),
      );
    }
    return tally.result();
  },
};

if (!hasOpenssl) console.log("crypto/openssl: skipped, there is no openssl binary");

export const suites: readonly ConformanceSuite[] = [
  ...wycheproof,
  frost,
  hpke,
  totp,
  ...merkleSuites,
  ...(hasOpenssl ? [issued] : []),
];
