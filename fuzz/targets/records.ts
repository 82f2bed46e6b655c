import { bindRecord, fromUtf8, nobleCrypto, openRecord, recordKeyVersion, sealRecord, utf8 } from "@seneschal/crypto";
import { hpkeOpen, openMessage, sealMessage } from "@seneschal/crypto/hpke";
import { openShare, Share } from "@seneschal/crypto/threshold";
import { type FuzzTarget, law, orRefused } from "../target.ts";

const key = new Uint8Array(32).fill(7);
const secret = new Uint8Array(32).fill(9);
const binding = bindRecord({ domain: "seneschal/fuzz/v1", workspaceId: "w" });
const envelope = { sender_org_id: "a", sender_id: "b", recipient_org_id: "c", recipient_id: "d", subject: "e" };
const random = (length: number): Uint8Array => new Uint8Array(length).fill(3);
const sealed = sealRecord(nobleCrypto, { key, version: 1 }, binding, utf8("hello"), random);
const publicKey = nobleCrypto.x25519PublicKey(secret);
const message = sealMessage(nobleCrypto, { senderSecret: secret, recipientKey: publicKey }, envelope, utf8("hello"), random);

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Sealed records, HPKE messages, shares and their envelopes: nothing but what was sealed opens. */
export const target: FuzzTarget = {
  words: ["SNS\x01", "\x01\x00\x00\x00\x01", "\x01\x00\x00\x00\x00"],
  run(bytes) {
    orRefused(() => recordKeyVersion(bytes));
    const opened = orRefused(() => openRecord(nobleCrypto, (version) => (version === 1 ? key : undefined), binding, bytes));
    if (opened !== undefined) law(fromUtf8(opened) === "hello" && same(bytes, sealed), "only what was sealed opens");
    const read = orRefused(() => openMessage(nobleCrypto, { recipientSecret: secret, senderKey: publicKey }, envelope, bytes));
    if (read !== undefined) law(same(bytes, message), "only what was sealed opens");
    orRefused(() => hpkeOpen(nobleCrypto, secret, bytes, { info: new Uint8Array(), aad: new Uint8Array() }));
    orRefused(() => openShare(nobleCrypto, key, bytes, { crkId: "c", index: 1, epoch: 0, publicKey }));
    const share = orRefused(() => Share.fromBytes(bytes));
    if (share !== undefined) law(same(share.toBytes(), bytes), "a share has one form");
  },
};
