import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { custodyVectors } from "../custody/vectors.ts";

const python = spawnSync("python3", ["-c", "from cryptography.hazmat.primitives import hpke"]).status === 0;
if (!python) console.warn("no python3 with cryptography 48: transcripts are not judged from outside");

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

/** What the program says of the vectors from its standard input. */
const program = `
from custody import *
given = json.load(sys.stdin)
file, card, share, package = given["key_file"], given["card"], given["sealed_share"], given["package"]
opened = open_share(share["encrypted"], share["password"], share["crk_id"], share["epoch"], share["index"], share["public_key"])
info = b"seneschal/custody-package/v1\\0" + jcs({k: package[k] for k in ("ceremony", "from", "to", "transcript")})
secret = X25519PrivateKey.from_private_bytes(bytes.fromhex(package["transport_secret"]))
value = int.from_bytes(SUITE.decrypt(b64(package["sealed"]), secret, info), "little")
ceremony = lambda name: load(next(t["lines"].encode() for t in given["transcripts"] if t["name"].startswith(name)))
polynomials = list(ceremony("a key generation").committed.values())
def fits(name, shares, index=None):
    made = ceremony(name).made()
    return [same(mul(int.from_bytes(bytes.fromhex(s), "little"), BASE), at(made, index or i)) for i, s in enumerate(shares, 1)]
def verifier_key(key): return "log+00000000+" + text(b"\\x01" + b64(key))

print(json.dumps({
    "names": [all(map(is_name, given["names"]["fit"])), any(map(is_name, given["names"]["refused"]))],
    "card": card_holds(card["card"]), "fingerprint": fingerprint(card["card"]),
    "keys": open_key_file(file["file"], file["passphrase"]).hex(),
    "by_device": [open_key_file(f["file"], bytes.fromhex(f["answer"])).hex() for f in (given["key_file_of_prf"], given["key_file_of_token"])],
    "own": open_own(bytes.fromhex(given["own"]["keys"]), given["own"]["purpose"], b64(given["own"]["sealed"])).hex(),
    "share": opened[-40:-8].hex(), "hash": entry_hash(given["entry"]["entry"]), "info": info.decode(),
    "value": same(mul(value, BASE), at(polynomials[0], 2)),
    "shares": fits("a key generation", given["generated"]["signing_shares"]),
    "reshared": fits("a reshare", given["reshared"]["signing_shares"]),
    "repaired": fits("a repair", given["repaired"]["signing_shares"], given["repaired"]["index"]),
    "stated": [stated(**{**given["card_statement"], **change}) for change in ({}, {"for_org": "initech"}, {"at": given["card_statement"]["at"] + 901})],
    "dealt": [verify_dealt(t["lines"].encode(), verifier_key(given["dealt"]["gateway_key"])) for t in given["dealt"]["transcripts"]],
    "verdicts": [verify(t["lines"].encode()) for t in given["transcripts"]],
}))
`;

test.skipIf(!python)("the program that was written from the documents opens and judges everything in the vectors", async () => {
  const input = await read("../custody/vectors.json");
  const vectors = JSON.parse(input) as Awaited<ReturnType<typeof custodyVectors>>;
  const run = spawnSync("python3", ["-c", program], {
    input,
    encoding: "utf8",
    cwd: fileURLToPath(new URL("../../../../examples", import.meta.url)),
  });
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toEqual({
    names: [true, false],
    card: true,
    fingerprint: vectors.card.fingerprint,
    keys: vectors.key_file.keys,
    by_device: [vectors.key_file_of_prf.keys, vectors.key_file_of_token.keys],
    own: vectors.own.plaintext,
    share: vectors.sealed_share.signing_share,
    hash: vectors.entry.hash,
    info: vectors.package.info,
    value: true,
    shares: [true, true, true],
    reshared: [true, true, true],
    repaired: [true],
    stated: [true, false, false],
    dealt: vectors.dealt.transcripts.map(({ verdict }) => verdict),
    verdicts: vectors.transcripts.map(({ verdict }) => verdict),
  });
});
