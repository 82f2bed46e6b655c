/**
 * The vectors of docs/custody.md: everything in them is derived from the labels of the tests' seeded randomness, so that they can be
 * made again: `node --import ./tools/run-source.mjs --conditions=@seneschal/source packages/crypto/test/custody/write-vectors.ts`.
 */
import { ARGON2_FLOOR, base64, fromBase64, fromUtf8, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  type Act,
  type CommitmentAct,
  cardFingerprint,
  type DeviceSeal,
  encodeTranscript,
  entryHash,
  prfSeal,
  sealKeyFile,
  stateCard,
  type TranscriptEntry,
  tokenSeal,
  verifyDealtTranscript,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { signingBytes } from "@seneschal/crypto/signing";
import { dealCrk, deriveShareKey, sealShare } from "@seneschal/crypto/threshold";
import { packageInfo, sealPackage } from "../../src/custody/ceremony-package.ts";
import { sealedFor, transportKey } from "../../src/custody/transcript-view.ts";
import { xeddsaSign } from "../../src/custody/xeddsa.ts";
import { Point, readPoint } from "../../src/threshold/scalar-field.ts";
import { confirmation, confirmedBy, dealtBy, gateway } from "./dealt-rig.ts";
import { begun, CEREMONY, NOW, person, refreshOf, repairOf, reshareOf, startOf } from "./rig.ts";

const transcriptOf = (name: string, entries: readonly TranscriptEntry[]) => fileOf(name, fromUtf8(encodeTranscript(entries)));
const fileOf = (name: string, lines: string) => {
  const report = verifyTranscript(nobleCrypto, utf8(lines));
  const verdict = report.valid
    ? {
        valid: true,
        status: report.status,
        transcript: report.transcript ?? null,
        blame: report.blame ?? null,
        public_key: report.crk?.public_key ?? null,
      }
    : { valid: false, refused: report.refused };
  return { name, lines, verdict };
};

/** The ceremony up to the round of packages, and what seat 2 then says of them. */
function spoilt(change: (act: Extract<Act, { type: "packages" }>, ceremony: ReturnType<typeof begun>) => readonly string[]) {
  const ceremony = begun(startOf(3, 2));
  const { relay, step, settle } = ceremony;
  for (const seat of [1, 2, 3]) for (const entry of step(seat).entries) relay.post(entry);
  const act = step(2).entries[0]!.act as Extract<Act, { type: "packages" }>;
  relay.say(person("bob"), { type: "packages", sealed: change(act, ceremony) });
  settle([1, 3]);
  return relay.entries;
}

/** Three who lie together: their coefficients of degree 1 cancel each other out, and they accept packages in which nothing is. */
function cancelling() {
  const { relay, people, step } = begun(startOf(3, 2));
  for (const seat of [1, 2]) for (const entry of step(seat).entries) relay.post(entry);
  const [join, commitment] = step(3).entries.map(({ act }) => act) as [Act, CommitmentAct];
  const sum = [1, 2].reduce((point, seat) => {
    return point.add(readPoint(fromBase64(relay.view.committed.get(seat)?.commitments[1] ?? "")));
  }, Point.ZERO);
  const cy = people[2]!;
  relay.say(cy, join);
  relay.say(cy, { ...commitment, commitments: [commitment.commitments[0]!, base64(sum.negate().toBytes())] });
  const sealed = [1, 2].map((i) => base64(seeded(`nothing/${i}`)(80)));
  for (const who of people) relay.say(who, { type: "packages", sealed });
  for (const who of people) relay.say(who, { type: "accepted" });
  return relay.entries;
}

/** A reshare or repair in which a seat says something else from a round on, and the others go on. */
function misled(
  { start, shares }: ReturnType<typeof reshareOf> | ReturnType<typeof repairOf>,
  rounds: number,
  seat: number,
  says: (ceremony: ReturnType<typeof begun>) => Act,
) {
  const ceremony = begun(start, shares);
  const { relay, people, step, settle } = ceremony;
  for (let i = 0; i < rounds; i++) for (const at of people.keys()) for (const entry of step(at + 1).entries) relay.post(entry);
  relay.say(people[seat - 1]!, says(ceremony));
  settle(people.map((_, i) => i + 1).filter((other) => other !== seat));
  return relay.entries;
}

/** A reshare or repair, and the shares that it gives, in hex. */
function given({ start, shares }: ReturnType<typeof reshareOf> | ReturnType<typeof repairOf>) {
  const ceremony = begun(start, shares);
  ceremony.settle();
  const outcomes = ceremony.people.map((_, i) => ceremony.step(i + 1).outcome);
  return {
    entries: ceremony.relay.entries,
    signing_shares: outcomes.flatMap((outcome) => (outcome.kind === "active" ? [hex(outcome.share.payload())] : [])),
  };
}

export async function custodyVectors() {
  const whole = begun(startOf(3, 2));
  whole.settle();
  const { entries, view } = whole.relay;
  const refresh = refreshOf(3, 2);
  const renewed = begun(refresh.start, refresh.shares);
  renewed.settle();
  const reshared = given(reshareOf(4, 2));
  const repaired = given(repairOf(3));
  const transport = whole.states.map((state) => state.derive(nobleCrypto, "transport-key", state.start)(32));
  const shares = whole.people.map((_, i) => {
    const { outcome } = whole.step(i + 1);
    if (outcome.kind !== "active") throw new Error(outcome.kind);
    return hex(outcome.share.payload());
  });

  const ada = person("ada");
  const { proofs: _, ...claim } = ada.card;
  const secret = seeded("xeddsa")(32);
  const message = utf8("message");
  const passphrase = "pass\u0301word of ada";
  const file = await sealKeyFile(nobleCrypto, ada, passphrase, seeded("file"), ARGON2_FLOOR);
  const byDevice = async (label: string, seal: DeviceSeal) => {
    const answer = seeded(`${label}/answer`)(32);
    const sealed = await sealKeyFile(nobleCrypto, ada, { seal, answer }, seeded(`${label}/file`));
    return { answer: hex(answer), file: fromUtf8(sealed), keys: hex(ada.keys.toBytes()) };
  };
  const { crk, shares: dealt } = dealCrk({ threshold: 2, total: 3, random: seeded("dealt") });
  const salt = seeded("salt")(16);
  const derived = await deriveShareKey(nobleCrypto, "pass\u0301word", salt, ARGON2_FLOOR);
  const binding = { crkId: "0190a5e0-crk", publicKey: crk.publicKey };
  const { time: kdf_time, memoryKiB: kdf_memory, parallelism: kdf_threads } = ARGON2_FLOOR;
  const place = { ceremony: CEREMONY, from: 1, to: 2, transcript: view.round! };
  const second = entries[1]!;
  const { signature: __, ...signed } = second;
  const falseComplaint = begun(startOf(3, 2));
  for (let i = 0; i < 2; i++)
    for (const seat of [1, 2, 3]) for (const e of falseComplaint.step(seat).entries) falseComplaint.relay.post(e);
  falseComplaint.relay.say(ada, { type: "complaint", against: 3, transport_secret: base64(transport[0]!) });

  return {
    names: {
      fit: ["Ada Lovelace", "Zo\u00eb", "\u738b\u5c0f\u660e", "\u{1f511}".repeat(128)],
      refused: [
        "",
        "x".repeat(129),
        "a\u0085",
        "a\u00ad",
        "a\u200b",
        "a\u202e",
        "a\u2028",
        "a\u2029",
        "\ud800",
        "Zoe\u0308",
        "\u212b",
      ],
    },
    xeddsa: {
      secret: hex(secret),
      public_key: hex(nobleCrypto.x25519PublicKey(secret)),
      message: hex(message),
      random: hex(seeded("z")(64)),
      signature: hex(xeddsaSign(nobleCrypto, secret, message, seeded("z"))),
    },
    card: {
      keys: hex(ada.keys.toBytes()),
      card: ada.card,
      signed: fromUtf8(signingBytes("custodianCard", claim)),
      fingerprint: cardFingerprint(nobleCrypto, ada.card),
    },
    key_file: { passphrase, file: fromUtf8(file), keys: hex(ada.keys.toBytes()) },
    key_file_of_prf: await byDevice(
      "prf",
      prfSeal({ rpId: "custody.example", credentialId: seeded("credential")(64) }, seeded("prf")),
    ),
    key_file_of_token: await byDevice("token", tokenSeal(nobleCrypto, { token: "ada", key: "custody" }, seeded("token"))),
    own: {
      keys: hex(ada.keys.toBytes()),
      purpose: "share/crk-1",
      plaintext: hex(dealt[0]!.toBytes()),
      sealed: base64(ada.keys.sealOwn("share/crk-1", dealt[0]!.toBytes(), seeded("own"))),
    },
    sealed_share: {
      password: "pass\u0301word",
      derived_key: hex(derived),
      crk_id: binding.crkId,
      index: 2,
      epoch: 1,
      public_key: base64(crk.publicKey),
      encrypted: {
        encrypted_data: base64(sealShare(nobleCrypto, derived, dealt[1]!, binding, seeded("nonce"))),
        salt: base64(salt),
        kdf_time,
        kdf_memory,
        kdf_threads,
      },
      envelope: dealt[1]!.encode(),
      signing_share: hex(dealt[1]!.payload()),
    },
    entry: { entry: second, signed: fromUtf8(signingBytes("custodyEntry", signed)), hash: entryHash(nobleCrypto, second) },
    package: {
      ...place,
      info: fromUtf8(packageInfo(place)),
      transport_secret: hex(transport[1]!),
      sealed: sealedFor(view, 1, 2)!.sealed,
    },
    reshared: { signing_shares: reshared.signing_shares },
    repaired: { index: 3, signing_shares: repaired.signing_shares },
    generated: { transport_secrets: transport.map(hex), signing_shares: shares },
    transcripts: [
      transcriptOf("a key generation of three, threshold two", entries),
      transcriptOf("a refresh of three, threshold two", renewed.relay.entries),
      transcriptOf("all have accepted, nobody has confirmed", entries.slice(0, 13)),
      transcriptOf(
        "seat 2 sends seat 1 a package that does not open",
        spoilt(({ sealed }) => [...sealed].reverse()),
      ),
      transcriptOf(
        "seat 2 sends seat 3 a value off its polynomial",
        spoilt(({ sealed }, { relay }) => {
          const wrong = { ceremony: CEREMONY, from: 2, to: 3, transcript: relay.view.round! };
          const key = transportKey(relay.view, 2, 3)!;
          return [sealed[0]!, sealPackage(nobleCrypto, wrong, key, new Uint8Array(32).fill(1), seeded("lie"))];
        }),
      ),
      transcriptOf("seat 1 complains of a package that holds", falseComplaint.relay.entries),
      transcriptOf("commitments cancel each other out, and nobody has complained", cancelling()),
      transcriptOf("a reshare from two of four to two of three, one of whom had a share", reshared.entries),
      transcriptOf("a repair of the share of index 3 by two", repaired.entries),
      transcriptOf(
        "in a reshare seat 4 sends seat 2 a package that does not open",
        misled(reshareOf(4, 2), 1, 4, ({ step }) => {
          const { sealed } = step(4).entries[0]!.act as Extract<Act, { type: "packages" }>;
          return { type: "packages", sealed: [sealed[0]!, base64(seeded("nothing")(80)), sealed[2]!] };
        }),
      ),
      transcriptOf(
        "in a reshare seat 4 commits to another share than it has",
        misled(reshareOf(4, 2), 0, 4, ({ step }) => {
          const { commitments } = step(4).entries[0]!.act as CommitmentAct;
          return { type: "commitment", commitments: [...commitments].reverse() };
        }),
      ),
      transcriptOf(
        "in a repair seat 3 contributes a wrong sum",
        misled(repairOf(3), 2, 3, ({ relay: { view } }) => {
          const wrong = { ceremony: CEREMONY, from: 3, to: 1, transcript: view.round! };
          const key = transportKey(view, 3, 1)!;
          return {
            type: "contribution",
            sealed: sealPackage(nobleCrypto, wrong, key, new Uint8Array(32).fill(1), seeded("lie")),
          };
        }),
      ),
      transcriptOf(
        "in a repair seat 3 complains of what holds",
        misled(repairOf(3), 2, 3, ({ states }) => {
          const secret = states[2]!.derive(nobleCrypto, "transport-key", states[2]!.start)(32);
          return { type: "complaint", against: 2, transport_secret: base64(secret) };
        }),
      ),
      fileOf("nothing", ""),
      fileOf("the last line does not end", fromUtf8(encodeTranscript(entries)).slice(0, -1)),
      fileOf("lines end by two characters", fromUtf8(encodeTranscript(entries)).replaceAll("\n", "\r\n")),
      fileOf("a line is no JSON", `${fromUtf8(encodeTranscript(entries.slice(0, 2)))}{\n`),
      fileOf("a line is a number that is written in another way", "1.0\n"),
      transcriptOf("an entry is left out", [...entries.slice(0, 4), ...entries.slice(5)]),
      transcriptOf("an entry is signed by another", [
        ...entries.slice(0, 4),
        { ...entries[4]!, signature: entries[3]!.signature },
      ]),
    ],
    dealt: dealtVectors(),
    card_statement: await statementVector(),
  };
}

/** What an organisation states of a card, as another one verifies it. */
async function statementVector() {
  const { card } = person("ada");
  const statement = await stateCard(card, { forOrg: "globex", at: NOW }, gateway.sign);
  return { signing_key: gateway.key, org: "acme", for_org: "globex", identity: "ada", at: NOW, statement };
}

/** Transcripts of ceremonies in which a server deals, and what is said of each. */
function dealtVectors() {
  const file = (name: string, entries: readonly object[], change = (lines: string) => lines) => {
    const lines = change(fromUtf8(encodeTranscript(entries)));
    const report = verifyDealtTranscript(nobleCrypto, utf8(lines), { gatewayKey: gateway.key });
    if (!report.valid) return { name, lines, verdict: { valid: false, refused: report.refused } };
    const { status, transcript, confirmed, dealt } = report.standing;
    const public_key = dealt?.crk.public_key ?? null;
    return { name, lines, verdict: { valid: true, status, transcript, confirmed, public_key } };
  };
  const whole = confirmedBy("rotated").entries;
  const forged = dealtBy("witnessed");
  forged.say({ author: "ada", act: confirmation(forged), keys: person("ada").keys });
  const [start] = dealtBy("dealt").entries;
  const [, confirmed] = [forged.entries.slice(0, -1), forged.entries.at(-1)!];
  return {
    gateway_key: gateway.key,
    transcripts: [
      ...(["dealt", "witnessed", "rotated", "password"] as const).map((kind) =>
        file(`${kind}, confirmed`, confirmedBy(kind).entries),
      ),
      file("a password ceremony that is open", dealtBy("password").entries.slice(0, 3)),
      file("an entry is left out", [...whole.slice(0, 2), ...whole.slice(3)]),
      file(
        "an act is another",
        whole.map((entry) => (entry.act.type === "share" ? { ...entry, act: { ...entry.act, index: 2 } } : entry)),
      ),
      file("a confirmation is signed by another", [...forged.entries.slice(0, -1), { ...confirmed, author: "bob" }]),
      file("dealt without the witness", [...whole.slice(0, 3), ...whole.slice(4)]),
      file("another gateway's key", [{ ...start!, act: { ...start!.act, gateway_key: person("ada").card.signing_key } }]),
      file("nothing", []),
      file("the last line does not end", whole, (lines) => lines.slice(0, -1)),
    ],
  };
}

/** The file's text: JSON that people can read. */
export async function vectorsText(): Promise<string> {
  return `${JSON.stringify(await custodyVectors(), undefined, 2)}\n`;
}
