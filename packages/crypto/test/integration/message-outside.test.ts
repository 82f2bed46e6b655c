import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openMessage } from "@seneschal/crypto/hpke";
import { expect, test } from "vitest";
import { fromBase64, nobleCrypto } from "../../src/index.ts";
import type { MessageVector } from "../hpke/message.test.ts";

const python = spawnSync("python3", ["-c", "import cryptography"]).status === 0;
if (!python) console.warn("no python3 with cryptography: messages are not opened from outside");

/** What the program of docs/gateway.md makes of the vectors from its standard input. */
const program = `
import sys
from cryptography.exceptions import InvalidTag
from message import *
given = json.load(sys.stdin)
raw = lambda name: bytes.fromhex(given[name])
def refused(key=raw("sender_key"), **change):
    try: unseal(raw("recipient_secret"), key, given["message"] | change)
    except InvalidTag: return True
body = base64.b64decode(given["message"]["body"])
print(json.dumps({
    "keys": [public(raw("sender_secret")).hex(), public(raw("recipient_secret")).hex()],
    "associated": associated(given["message"]).decode(),
    "opened": unseal(raw("recipient_secret"), raw("sender_key"), given["message"]).decode(),
    "sealed": seal(raw("sender_secret"), raw("recipient_key"), given["message"], given["plaintext"].encode(), raw("ephemeral_secret")),
    "refused": [refused(**{name: given["message"][name] + "x"}) for name in ENVELOPE]
        + [refused(key=raw("recipient_key")), refused(body=base64.b64encode(body[:-1] + bytes([body[-1] ^ 1])).decode())],
    "fresh": seal(raw("sender_secret"), raw("recipient_key"), given["message"], b"from outside"),
}))
`;

test.skipIf(!python)("a program that was written from the page opens and seals messages, to the byte", async () => {
  const input = await readFile(new URL("../hpke/message-vectors.json", import.meta.url), "utf8");
  const vector = JSON.parse(input) as MessageVector;
  const cwd = fileURLToPath(new URL("../../../../examples", import.meta.url));
  const { stdout, stderr } = spawnSync("python3", ["-c", program], { input, encoding: "utf8", cwd });
  expect(stderr).toBe("");
  const { fresh, ...said } = JSON.parse(stdout) as { readonly fresh: string };
  expect(said).toEqual({
    keys: [vector.sender_key, vector.recipient_key],
    associated: vector.associated_data,
    opened: vector.plaintext,
    sealed: vector.message.body,
    refused: Array.from({ length: 7 }, () => true),
  });
  const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));
  const keys = { recipientSecret: hex(vector.recipient_secret), senderKey: hex(vector.sender_key) };
  expect(Buffer.from(openMessage(nobleCrypto, keys, vector.message, fromBase64(fresh))).toString()).toBe("from outside");
});
