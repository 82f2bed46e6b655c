import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openMessage, sealMessage } from "../../src/hpke/index.ts";
import { nobleCrypto } from "../../src/index.ts";

const secret = (fill: number) => new Uint8Array(32).fill(fill);
const random = (length: number) => new Uint8Array(length).fill(9);
const envelope = {
  ...{ sender_org_id: "acme", sender_id: "ada", recipient_org_id: "globex", recipient_id: "bob", subject: "plan" },
};
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
});
