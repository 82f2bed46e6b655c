import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { base64 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { bodyHash, type OperationPayload, operationBytes } from "@seneschal/crypto/signing";
import { dealCrk, signWithShares } from "@seneschal/crypto/threshold";
import { expect, test } from "vitest";
import { submit } from "../submit.ts";

const python = spawnSync("python3", ["-c", "import cryptography"]).status === 0;
if (!python) console.warn("no python3 with cryptography: signed operations are not judged from outside");

/**
 * The page's own program, and what it makes of a payload and a body: the message by its table of prefixes, and whether `cryptography` takes
 * the signature. It knows nothing but the page.
 */
const judge = `
import sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
given = json.load(sys.stdin)
def holds(key, message, signature):
    try: Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature: return False
    return True
made, key = given["operation"], bytes.fromhex(given["public_key"])
bytes_of = lambda prefix, value: prefix.encode() + b"\\0" + jcs(value)
prefixes = given["prefixes"]
print(json.dumps({
    "example": message == bytes_of(prefixes["operation"], payload),
    "vectors": [holds(key, v["message"].encode(), bytes.fromhex(v["signature"])) for v in given["vectors"]],
    "messages": [bytes_of(prefixes[v["purpose"]], v["payload"]).decode() == v["message"] for v in given["vectors"] if v["purpose"] != "backup"],
    "bodies": [hashlib.sha256(jcs({k: x for k, x in b["body"].items() if k != "signature"})).hexdigest() == b["sha256"] for b in given["bodies"][:3]],
    "body": hashlib.sha256(jcs(made["body"])).hexdigest() == made["payload"]["body_sha256"],
    "signature": [holds(base64.b64decode(made["public_key"]), bytes_of(prefixes["operation"], p), base64.b64decode(made["signature"])) for p in (made["payload"], {**made["payload"], "exp": 1})],
}))
`;

test.skipIf(!python)("the page on signing is enough to verify what custodians signed, and its vectors", async () => {
  const page = await readFile(new URL("../../../../docs/signing.md", import.meta.url), "utf8");
  const [, example = ""] = /```python\n(import hashlib[^`]*)```/.exec(page) ?? [];
  const vectors = JSON.parse(/```json vectors\n([\s\S]+?)```/.exec(page)?.[1] ?? "null") as object;
  const prefix = (row: string) => new RegExp(`\\| ${row}.*\\| \`(seneschal/[^\`]*)\` \\|`).exec(page)?.[1];
  const { crk, shares } = dealCrk({ threshold: 2, total: 3, random: seeded("signing from outside") });
  const body = { reason: "end of project", revision: 3 };
  const payload: OperationPayload = {
    v: 1,
    op: "workspace.archive",
    org_id: "acme",
    audience: "gw-1",
    resource_type: "workspace",
    resource_id: "w1",
    body_sha256: bodyHash(body),
    crk_id: "crk-1",
    crk_epoch: 1,
    nonce: "5b8efff798038103d269b633813fc60c",
    iat: 1000,
    exp: 1600,
  };
  const signature = signWithShares(crk, submit(shares.slice(1)), operationBytes(payload), seeded("nonces"));
  const input = JSON.stringify({
    ...vectors,
    prefixes: { operation: prefix("an operation"), bundle: prefix("a workspace bundle") },
    operation: { payload, body, signature: base64(signature), public_key: base64(crk.publicKey) },
  });
  const run = spawnSync("python3", ["-c", `import base64\n${example}${judge}`], { input, encoding: "utf8" });
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toEqual({
    example: true,
    vectors: [true, true, true, true],
    messages: [true, true, true],
    bodies: [true, true, true],
    body: true,
    signature: [true, false],
  });
});
