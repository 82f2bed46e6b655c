/** Two people exchange a message that no gateway on the way can read. */
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openMessage, sealMessage } from "@seneschal/crypto/hpke";

// Each keeps a secret and hands out its public half.
const ada = systemRandom(32);
const bob = systemRandom(32);
const envelope = {
  sender_org_id: "acme",
  sender_id: "ada",
  recipient_org_id: "globex",
  recipient_id: "bob",
  subject: "merger",
};

const keys = { senderSecret: ada, recipientKey: nodeCrypto.x25519PublicKey(bob) };
const sealed = sealMessage(nodeCrypto, keys, envelope, new TextEncoder().encode("meet at noon"), systemRandom);

// This is what POST /api/v1/messages takes; the recipient finds it in GET /api/v1/messages.
const { recipient_org_id, recipient_id, subject } = envelope;
const request = { recipient_org_id, recipient_id, subject, body: Buffer.from(sealed).toString("base64") };

const opened = openMessage(
  nodeCrypto,
  { recipientSecret: bob, senderKey: nodeCrypto.x25519PublicKey(ada) },
  envelope,
  new Uint8Array(Buffer.from(request.body, "base64")),
);
const text = new TextDecoder().decode(opened);
if (text !== "meet at noon") throw new Error("the message did not open");
console.log(`${request.body.length} characters of ciphertext say: ${text}`);
