import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MessageEnvelope, openMessage, sealMessage } from "../../src/hpke/index.ts";
import { base64, canonicalJson, fromBase64, nobleCrypto } from "../../src/index.ts";

/** `message-vectors.json`. Keys in hex. */
export interface MessageVector {
  readonly sender_secret: string;
  readonly sender_key: string;
  readonly recipient_secret: string;
  readonly recipient_key: string;
  readonly ephemeral_secret: string;
  readonly message: MessageEnvelope & { readonly body: string };
  readonly associated_data: string;
  readonly plaintext: string;
}

const secret = (fill: number) => new Uint8Array(32).fill(fill);
const random = (length: number) => new Uint8Array(length).fill(9);
const envelope = { sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob", subject: "plan" };
const [ada, bob, eve] = [secret(1), secret(2), secret(3)];
const publicKey = (of: Uint8Array) => nobleCrypto.x25519PublicKey(of);
const seal = (body: Uint8Array) =>
  sealMessage(nobleCrypto, { senderSecret: ada, recipientKey: publicKey(bob) }, envelope, body, random);

describe("a sealed message", () => {
  it("opens to what was sealed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        const keys = { recipientSecret: bob, senderKey: publicKey(ada) };
        expect(openMessage(nobleCrypto, keys, envelope, seal(body))).toEqual(body);
      }),
      { numRuns: 10 },
    );
  });

  it("opens for nobody else, from nobody else, and under no other envelope", () => {
    const sealed = seal(Uint8Array.of(1));
    const open =
      (recipientSecret: Uint8Array, sender: Uint8Array, under = envelope) =>
      () =>
        openMessage(nobleCrypto, { recipientSecret, senderKey: publicKey(sender) }, under, sealed);
    const failed = expect.objectContaining({ code: "decryption_failed" });
    expect(open(eve, ada)).toThrow(failed);
    expect(open(bob, eve)).toThrow(failed);
    for (const field of Object.keys(envelope)) expect(open(bob, ada, { ...envelope, [field]: "x" }), field).toThrow(failed);
  });

  it("is to the byte what the vectors of its page have", async () => {
    const text = await readFile(new URL("message-vectors.json", import.meta.url), "utf8");
    const vector = JSON.parse(text) as MessageVector;
    const hex = (of: string) => new Uint8Array(Buffer.from(of, "hex"));
    const { body, ...message } = vector.message;
    const [sender, recipient] = [hex(vector.sender_secret), hex(vector.recipient_secret)];
    expect([publicKey(sender), publicKey(recipient)]).toEqual([hex(vector.sender_key), hex(vector.recipient_key)]);
    expect(canonicalJson({ ...message })).toBe(vector.associated_data);
    const keys = { senderSecret: sender, recipientKey: publicKey(recipient) };
    const plaintext = new Uint8Array(Buffer.from(vector.plaintext));
    expect(base64(sealMessage(nobleCrypto, keys, message, plaintext, () => hex(vector.ephemeral_secret)))).toBe(body);
    const own = { recipientSecret: recipient, senderKey: publicKey(sender) };
    expect(openMessage(nobleCrypto, own, message, fromBase64(body))).toEqual(plaintext);
  });
});
