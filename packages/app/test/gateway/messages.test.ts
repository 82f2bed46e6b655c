import { randomUUID } from "node:crypto";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openMessage, sealMessage } from "@seneschal/crypto/hpke";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asPartner, federate, openSide, type Side } from "./federated.ts";
import { type Registered, registered } from "./registered.ts";

const base = "/api/v1/messages";
const body = Buffer.from("ciphertext").toString("base64");

describe("messages", () => {
  let acme: Side;
  let globex: Side;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    await federate(acme, globex);
  });
  afterAll(() => Promise.all([acme.rig.close(), globex.rig.close()]));

  const known = new Map<string, Promise<Registered>>();
  /** Whom the organisation knows by that name: the same one at each call. */
  const person = (side: Side, sub: string): Promise<Registered> => {
    const key = `${side.org}/${sub}`;
    const found = known.get(key) ?? registered(side.rig, side.call, { sub, org: side.org });
    known.set(key, found);
    return found;
  };
  const letter = (given: object = {}) => ({
    recipient_org_id: "acme",
    recipient_id: randomUUID(),
    subject: "hello",
    body,
    ...given,
  });

  it("within an instance delivery is at once; reading marks the recipient's copy; each deletes its own", async () => {
    const [{ id: sender_id, call: ada }, { id: recipient_id, call: bob }, { call: eve }] = await Promise.all(
      ["ada", "bob", "eve"].map((sub) => person(acme, sub)) as [Promise<Registered>, Promise<Registered>, Promise<Registered>],
    );
    const sent = await ada("POST", base, letter({ recipient_id, conversation_id: "c1" }));
    expect(sent.status, sent.text).toBe(201);
    expect(sent.body).toMatchObject({ status: "delivered", direction: "sent", sender_id, conversation_id: "c1" });
    const path = `${base}/${sent.body.id}`;
    const inbox = (await bob("GET", base)).body;
    expect(inbox).toMatchObject({ count: 1, total: 1, messages: [{ id: sent.body.id, status: "delivered", read_at: null }] });
    expect((await eve("GET", path)).status).toBe(404);
    expect((await eve("DELETE", path)).status).toBe(404);
    expect((await ada("GET", path)).body).toMatchObject({ direction: "sent", status: "delivered", read_at: null });
    const read = (await bob("GET", path)).body;
    expect(read).toMatchObject({ direction: "received", status: "read", body });
    expect((await bob("GET", path)).body.read_at).toBe(read.read_at);
    expect((await bob("DELETE", path)).status).toBe(204);
    expect((await bob("GET", path)).status).toBe(404);
    expect((await ada("GET", `${base}/sent`)).body).toMatchObject({ total: 1 });
    expect((await ada("DELETE", path)).status).toBe(204);
    expect((await ada("GET", `${base}/sent`)).body).toEqual({ messages: [], count: 0, total: 0 });
  });

  it("a message to oneself is in both lists, and gone after one deletion", async () => {
    const { id: recipient_id, call: self } = await person(acme, "narcissus");
    const { body: sent } = await self("POST", base, letter({ recipient_id }));
    expect((await self("GET", `${base}/${sent.id}`)).body).toMatchObject({ direction: "received", status: "read" });
    expect((await self("GET", `${base}/sent`)).body.total).toBe(1);
    expect((await self("DELETE", `${base}/${sent.id}`)).status).toBe(204);
    expect((await self("GET", `${base}/sent`)).body.total + (await self("GET", base)).body.total).toBe(0);
  });

  it("only who has a record in the organisation gets mail there: nobody else, here or from a partner", async () => {
    const { call: ada } = await person(acme, "ada");
    const { id: removed } = await person(acme, "leaver");
    expect((await acme.call("DELETE", `/api/v1/identities/users/${removed}`)).status).toBe(204);
    const partner = await asPartner(globex, acme);
    const delivery = {
      sender_org_id: "globex",
      sender_id: "hank",
      expires_at: new Date(acme.rig.clock.now() + 3_600_000).toISOString(),
    };
    const sent = (await ada("GET", `${base}/sent`)).body.total;
    for (const recipient_id of [removed, "ada", "mistyped", randomUUID()]) {
      for (const refused of [
        await ada("POST", base, letter({ recipient_id })),
        await partner("POST", `${base}/deliver`, letter({ ...delivery, id: randomUUID(), recipient_id })),
      ]) {
        expect([refused.status, refused.body.error.code], recipient_id).toEqual([404, "NOT_FOUND"]);
      }
    }
    expect((await ada("GET", `${base}/sent`)).body.total).toBe(sent);
  });

  it("an unknown organisation, another organisation's identity and a bad expiry are refused", async () => {
    const { call: ada } = await person(acme, "ada");
    const unknown = await ada("POST", base, letter({ recipient_org_id: "initech" }));
    expect([unknown.status, unknown.body.error.code]).toEqual([409, "FEDERATION_INACTIVE"]);
    const past = await ada("POST", base, letter({ expires_at: new Date(acme.rig.clock.now() - 1).toISOString() }));
    expect([past.status, past.body.error.details.field]).toEqual([400, "expires_at"]);
    const far = await ada("POST", base, letter({ expires_at: new Date(acme.rig.clock.now() + 366 * 86_400_000).toISOString() }));
    expect(far.status).toBe(400);
    const large = await ada("POST", base, letter({ body: Buffer.alloc(65_537).toString("base64") }));
    expect(large.status).toBe(400);
  });

  it("to a partner it goes over the channel and arrives once", async () => {
    const { id: sender_id, call: ada } = await person(acme, "ada");
    const { id: recipient_id, call: hank } = await person(globex, "hank");
    const { body: sent } = await ada("POST", base, letter({ recipient_org_id: "globex", recipient_id }));
    await acme.rig.gateway.deliver(acme.rig.clock.now());
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    expect((await ada("GET", `${base}/${sent.id}`)).body).toMatchObject({ status: "delivered", error_detail: null });
    const inbox = (await hank("GET", base)).body;
    expect(inbox).toMatchObject({ total: 1, messages: [{ id: sent.id, sender_org_id: "acme", sender_id, body }] });
  });

  it("a partner's delivery is taken once, also after the copy was deleted, and never with another content", async () => {
    const partner = await asPartner(globex, acme);
    const expires_at = new Date(acme.rig.clock.now() + 3_600_000).toISOString();
    const { id: recipient_id, call: carol } = await person(acme, "carol");
    const delivery = {
      ...letter({ recipient_id }),
      id: randomUUID(),
      sender_org_id: "globex",
      sender_id: "hank",
      expires_at,
      status: "pending",
      direction: "sent",
    };
    const first = await partner("POST", `${base}/deliver`, delivery);
    expect([first.status, first.body]).toEqual([201, { message_id: delivery.id }]);
    expect((await partner("POST", `${base}/deliver`, delivery)).status).toBe(201);
    expect((await carol("GET", base)).body.total).toBe(1);
    expect((await carol("DELETE", `${base}/${delivery.id}`)).status).toBe(204);
    expect((await partner("POST", `${base}/deliver`, delivery)).body).toEqual({ message_id: delivery.id });
    expect((await carol("GET", base)).body.total).toBe(0);
    const changed = await partner("POST", `${base}/deliver`, { ...delivery, subject: "changed" });
    expect([changed.status, changed.body.error.code]).toEqual([409, "CONFLICT"]);
  });

  it("a partner delivers neither for, nor to, another organisation, nor to a foreign identity, nor what is over", async () => {
    const partner = await asPartner(globex, acme);
    const expires_at = new Date(acme.rig.clock.now() + 3_600_000).toISOString();
    const delivery = (given: object) => ({
      ...letter(),
      id: randomUUID(),
      sender_org_id: "globex",
      sender_id: "hank",
      expires_at,
      ...given,
    });
    const send = (given: object) => partner("POST", `${base}/deliver`, delivery(given));
    const lied = await send({ sender_org_id: "initech" });
    expect([lied.status, lied.body.error.code]).toEqual([403, "FORBIDDEN"]);
    expect((await send({ sender_org_id: "acme" })).status).toBe(403);
    expect((await send({ recipient_org_id: "globex" })).status).toBe(403);
    expect((await send({ expires_at: "2020-01-01T00:00:00Z" })).status).toBe(400);
    const { body: own } = await acme.call("GET", "/api/v1/federation/globex");
    expect((await send({ recipient_id: own.id })).status).toBe(404);
    expect((await acme.call("POST", `${base}/deliver`, delivery({}))).status).toBe(403);
  });

  it("sealed by its sender it is read by its recipient and nobody on the way; what a gateway changes shows", async () => {
    const [ada, hank] = [systemRandom(32), systemRandom(32)];
    const [sender, reader] = await Promise.all([person(acme, "ada"), person(globex, "hank")]);
    const envelope = {
      sender_org_id: "acme",
      sender_id: sender.id,
      recipient_org_id: "globex",
      recipient_id: reader.id,
      subject: "terms",
    };
    const text = "the price is forty-two million";
    const keys = { senderSecret: ada, recipientKey: nodeCrypto.x25519PublicKey(hank) };
    const sealed = Buffer.from(sealMessage(nodeCrypto, keys, envelope, Buffer.from(text), systemRandom)).toString("base64");
    const { recipient_org_id, recipient_id, subject } = envelope;
    const { body: sent } = await sender.call("POST", base, { recipient_org_id, recipient_id, subject, body: sealed });
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    const { body: got } = await reader.call("GET", `${base}/${sent.id}`);
    const open = (given: object = {}, bytes = Buffer.from(got.body, "base64")) =>
      openMessage(
        ...([
          nodeCrypto,
          { recipientSecret: hank, senderKey: nodeCrypto.x25519PublicKey(ada) },
          { ...got, ...given },
          bytes,
        ] as const),
      );
    expect(Buffer.from(open()).toString()).toBe(text);
    for (const changed of [
      { subject: "other terms" },
      { sender_id: "eve" },
      { sender_org_id: "globex" },
      { recipient_id: "bob" },
    ]) {
      expect(() => open(changed)).toThrow(expect.objectContaining({ code: "decryption_failed" }));
    }
    const flipped = Buffer.from(got.body, "base64");
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    expect(() => open({}, flipped)).toThrow(expect.objectContaining({ code: "decryption_failed" }));
    for (const { rig } of [acme, globex]) {
      const touched = new Map((await rig.store.changes(0, 1_000_000)).map(({ coll, id }) => [`${coll}/${id}`, { coll, id }]));
      const kept = await Promise.all([...touched.values()].map(({ coll, id }) => rig.store.get(coll, id)));
      const audited = await rig.store.auditRead(0, 1_000_000);
      const all = JSON.stringify([kept, audited]);
      expect(all).toContain(sealed);
      for (const secret of [text, Buffer.from(text).toString("base64")]) expect(all).not.toContain(secret);
    }
  });

  it("copies and receipts go some days after the end of the message, and not before", async () => {
    const expires_at = new Date(acme.rig.clock.now() + 3_600_000).toISOString();
    const { id: recipient_id, call: self } = await person(acme, "archivist");
    const { body: sent } = await self("POST", base, letter({ recipient_id, expires_at }));
    const sweepAfter = async (ms: number) => {
      await acme.rig.gateway.sweep(acme.rig.clock.now() + ms);
      return (await self("GET", `${base}/${sent.id}`)).status;
    };
    const day = 86_400_000;
    expect(await sweepAfter(3_600_000 + 3 * day - 1)).toBe(200);
    expect(await sweepAfter(3_600_000 + 3 * day)).toBe(404);
    expect((await self("GET", base)).body.total).toBe(0);
  });

  it("delivered to an admin's record it is the admin's", async () => {
    const admin = globex.rig.dev.organizations["globex"]?.admins.auditor.id ?? "";
    const { call: ada } = await person(acme, "ada");
    const { body: sent } = await ada("POST", base, letter({ recipient_org_id: "globex", recipient_id: admin }));
    await acme.rig.gateway.deliver(acme.rig.clock.now());
    expect((await globex.rig.admin("globex", "auditor")("GET", `${base}/${sent.id}`)).body).toMatchObject({ status: "read" });
  });
});

describe("the outbox", () => {
  let acme: Side;
  let globex: Side;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    await federate(acme, globex);
  });
  afterAll(() => acme.rig.close());

  it("keeps what cannot be delivered, tries less and less often, and fails it when it expires", async () => {
    await globex.rig.close();
    const ada = acme.rig.bearer({ sub: "ada", org: "acme" });
    const start = acme.rig.clock.now();
    const expires_at = new Date(start + 3_600_000).toISOString();
    const { body: sent } = await ada("POST", base, {
      recipient_org_id: "globex",
      recipient_id: "hank",
      subject: "s",
      body,
      expires_at,
    });
    expect(sent.status).toBe("pending");
    const now = async (at: number) => {
      await acme.rig.gateway.deliver(start + at);
      return (await ada("GET", `${base}/${sent.id}`)).body;
    };
    expect(await now(20_000)).toMatchObject({ status: "pending", error_detail: expect.stringContaining("no connection") });
    expect(await now(1_800_000)).toMatchObject({ status: "pending" });
    expect(await now(3_600_001)).toMatchObject({ status: "failed", error_detail: "expired" });
    // Nothing is left to try.
    expect(await now(7_200_000)).toMatchObject({ status: "failed", error_detail: "expired" });
  });

  it("fails what was meant for a federation that ended", async () => {
    const ada = acme.rig.bearer({ sub: "ada", org: "acme" });
    const { body: sent } = await ada("POST", base, { recipient_org_id: "globex", recipient_id: "hank", subject: "s", body });
    await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", {});
    await acme.rig.gateway.deliver(acme.rig.clock.now() + 3_600_000);
    const { body: copy } = await ada("GET", `${base}/${sent.id}`);
    expect(copy).toMatchObject({ status: "failed", error_detail: "the federation is not active" });
  });
});
