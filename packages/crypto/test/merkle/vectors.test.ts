import { readFile } from "node:fs/promises";
import { fromBase64, fromHex, nobleCrypto } from "@seneschal/crypto";
import { type Checkpoint, cosignNote, judgeOffer, parseCheckpoint, parseVerifierKey, verifyNote } from "@seneschal/crypto/merkle";
import { expect, test } from "vitest";
import { vectorsText, type witnessVectors } from "./vectors.ts";

const text = await readFile(new URL("witness-vectors.json", import.meta.url), "utf8");
const vectors = JSON.parse(text) as Awaited<ReturnType<typeof witnessVectors>>;
const { log, witness } = vectors;

test("the vectors are what this release makes", async () => {
  expect(JSON.parse(await vectorsText())).toEqual(vectors);
});

test("a witness that judges each request by what it cosigned last gives the answers of the vectors, cosignatures byte by byte", async () => {
  const { key } = parseVerifierKey(witness.verifier_key);
  let kept: { readonly checkpoint: Checkpoint; readonly note: string } | undefined;
  for (const { name, at, request, reply } of vectors.history) {
    const { note, log_key, first, proof } = request;
    const offered = parseCheckpoint(verifyNote(note, [parseVerifierKey(log_key).key]).text);
    const same = kept === undefined || (log_key === log.verifier_key && offered.origin === kept.checkpoint.origin);
    const growth = same ? judgeOffer(kept?.checkpoint, offered, first, proof.map(fromBase64)) : "other_log";
    const before = { size: kept?.checkpoint.size ?? 0, note: kept?.note ?? "" };
    if (growth === "other_size") expect({ outcome: growth, ...before }, name).toEqual(reply);
    else if (growth !== "first" && growth !== "same" && growth !== "grown")
      expect({ outcome: "refused", growth, ...before }, name).toEqual(reply);
    else {
      const cosigned = await cosignNote(note, key, at, (message) => nobleCrypto.ed25519Sign(fromHex(witness.seed), message));
      expect({ outcome: "cosigned", note: cosigned }, name).toEqual(reply);
      expect(verifyNote(cosigned, [key, parseVerifierKey(log_key).key])).toMatchObject({
        signedBy: [log.name],
        cosignedAt: { [witness.name]: at },
      });
      kept = { checkpoint: offered, note: cosigned };
    }
  }
});
