import { readFile } from "node:fs/promises";
import { fromBase64, fromHex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { openKeyFile, readCard, readCardStatement, verifyDealtTranscript, verifyTranscript } from "@seneschal/crypto/custody";
import { openShare } from "@seneschal/crypto/threshold";
import { expect, test } from "vitest";
import { name } from "../../src/custody/shape.ts";
import { type custodyVectors, vectorsText } from "./vectors.ts";

const text = await readFile(new URL("vectors.json", import.meta.url), "utf8");
const vectors = JSON.parse(text) as Awaited<ReturnType<typeof custodyVectors>>;

test("the vectors are what this release makes", async () => {
  expect(JSON.parse(await vectorsText())).toEqual(vectors);
});

test("a custodian of this release opens the key file, what it sealed for itself, and reads the card of the vectors", async () => {
  const { keys } = await openKeyFile(nobleCrypto, utf8(vectors.key_file.file), vectors.key_file.passphrase);
  expect(keys.toBytes()).toEqual(fromHex(vectors.key_file.keys));
  expect(keys.openOwn(vectors.own.purpose, fromBase64(vectors.own.sealed))).toEqual(fromHex(vectors.own.plaintext));
  expect(readCard(nobleCrypto, vectors.card.card)).toEqual(vectors.card.card);
});

test.each(["key_file_of_prf", "key_file_of_token"] as const)("what the device answers opens the vector %s", async (name) => {
  const { file, answer, keys } = vectors[name];
  expect((await openKeyFile(nobleCrypto, utf8(file), fromHex(answer))).keys.toBytes()).toEqual(fromHex(keys));
});

test("names of the vectors fit or are refused", () => {
  expect([vectors.names.fit.every(name), vectors.names.refused.some(name)]).toEqual([true, false]);
});

test("a sealed share of the vectors opens to the share in its envelope", () => {
  const { sealed_share: sealed } = vectors;
  const binding = { crkId: sealed.crk_id, index: sealed.index, epoch: sealed.epoch, publicKey: fromBase64(sealed.public_key) };
  const bytes = fromBase64(sealed.encrypted.encrypted_data);
  expect(openShare(nobleCrypto, fromHex(sealed.derived_key), bytes, binding).encode()).toBe(sealed.envelope);
});

test.each(vectors.transcripts)("transcript: $name", ({ lines, verdict }) => {
  const report = verifyTranscript(nobleCrypto, utf8(lines));
  if (!report.valid) return expect({ valid: false, refused: report.refused }).toEqual(verdict);
  const { status, transcript = null, blame = null, crk } = report;
  expect({ valid: true, status, transcript, blame, public_key: crk?.public_key ?? null }).toEqual(verdict);
});

test.each(vectors.dealt.transcripts)("transcript of what a server dealt: $name", ({ lines, verdict }) => {
  const report = verifyDealtTranscript(nobleCrypto, utf8(lines), { gatewayKey: vectors.dealt.gateway_key });
  if (!report.valid) return expect({ valid: false, refused: report.refused }).toEqual(verdict);
  const { status, transcript, confirmed, dealt } = report.standing;
  expect({ valid: true, status, transcript, confirmed, public_key: dealt?.crk.public_key ?? null }).toEqual(verdict);
});

test("a statement of a card in the vectors is of that organisation, person, reader and time, or of none", () => {
  const { signing_key, org, for_org: forOrg, identity, at, statement } = vectors.card_statement;
  const expected = { signingKey: fromBase64(signing_key), org, forOrg, identity, at };
  const read =
    (value: object, change: object = {}) =>
    () =>
      readCardStatement(nobleCrypto, value, { ...expected, ...change });
  expect(read(statement)()).toEqual(statement);
  for (const [value, change, reason] of [
    [{ ...statement, extra: 1 }, {}, "malformed"],
    [{ ...statement, at: at + 1 }, {}, "signature"],
    [statement, { signingKey: fromBase64(vectors.card.card.signing_key) }, "signature"],
    [statement, { org: "initech" }, "other"],
    [statement, { forOrg: "initech" }, "other"],
    [statement, { identity: "bob" }, "other"],
    [statement, { at: at + 901 }, "expired"],
    [statement, { at: at - 301 }, "expired"],
  ] as const)
    expect(read(value, change)).toThrow(reason);
  expect(read(statement, { at: undefined })()).toEqual(statement);
});
