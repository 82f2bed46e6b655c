import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { crkFromJson, deriveShareKey, openShare, Share, Signer } from "@seneschal/crypto/threshold";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { begin } from "./begin.ts";
import { type Registered, registered } from "./registered.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { makeCrk, shareList, signData } from "./sign.ts";

const base64 = (data: Uint8Array | string): string => Buffer.from(data).toString("base64");
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
const code = (answer: { body: { error: { code: string } } }): string => answer.body.error.code;

describe("customer root keys", () => {
  let rig: Rig;
  let org = 0;
  /** A new organisation's super admin, known by token only. */
  const newOrg = (): { caller: (sub?: string, role?: string) => Caller; id: string } => {
    org += 1;
    const id = `org-${org}`;
    return { id, caller: (sub = "root", role = "super_admin") => rig.bearer({ sub, org: id, roles: [role] }) };
  };

  /** People of a new organisation who can hold shares, from index 1 on. */
  const people = async ({ caller, id }: ReturnType<typeof newOrg>, count: number): Promise<readonly Registered[]> => {
    const all: Registered[] = [];
    await begin(rig.gateway, id);
    for (let i = 1; i <= count; i++) all.push(await registered(rig, caller(), { org: id, sub: `custodian-${i}` }));
    return all;
  };
  const named = (all: readonly Registered[]) =>
    all.map(({ id }, i) => ({ index: i + 1, identity_id: id, identity_type: "user" }));

  beforeAll(async () => {
    rig = await openRig({ organizations: ["acme", "globex", "initech"] });
  });
  afterAll(() => rig.close());

  it("a generated key signs as ordinary Ed25519, and its organisation came into being with it", async () => {
    const { caller, id } = newOrg();
    expect((await caller()("GET", `/api/v1/organizations/${id}`)).status).toBe(404);
    const { body } = await caller()("POST", "/api/v1/crk/generate", { org_id: id, total_shares: 5, threshold: 3 });
    expect(body).toMatchObject({ version: 1, threshold: 3, total_shares: 5, status: "active", rotated_at: null, org_id: id });
    expect(body.crk.id).toBe(body.id);
    expect((await caller()("GET", `/api/v1/organizations/${id}`)).body.crk.public_key).toBe(body.public_key);
    const data = base64("anything");
    const shares = shareList([body.shares[4], body.shares[0], body.shares[2]]);
    const signed = await caller()("POST", "/api/v1/crk/sign", { shares, public_key: body.public_key, data });
    expect(nodeCrypto.ed25519Verify(bytes(body.public_key), bytes(data), bytes(signed.body.signature))).toBe(true);
    const check = { public_key: body.public_key, data, signature: signed.body.signature };
    expect((await caller()("POST", "/api/v1/crk/verify", check)).body).toEqual({ valid: true });
    expect((await caller()("POST", "/api/v1/crk/verify", { ...check, data: base64("other") })).body).toEqual({ valid: false });
    const again = await caller()("POST", "/api/v1/crk/generate", { total_shares: 5, threshold: 3 });
    expect([again.status, code(again)]).toEqual([409, "CRK_EXISTS"]);
  });

  it("a threshold that is none is refused, and nothing is made", async () => {
    const { caller, id } = newOrg();
    for (const [total_shares, threshold] of [
      [5, 1],
      [3, 4],
      [256, 3],
      [0, 0],
      [5, -2],
    ]) {
      const answer = await caller()("POST", "/api/v1/crk/generate", { total_shares, threshold });
      expect([answer.status, code(answer)]).toEqual([422, "INVALID_THRESHOLD"]);
    }
    expect((await caller()("GET", `/api/v1/organizations/${id}`)).status).toBe(404);
  });

  it("a wrong share is named by its index before anything is signed", async () => {
    const { caller } = newOrg();
    const crk = await makeCrk(caller(), 5, 3);
    const stranger = await makeCrk(newOrg().caller(), 5, 3);
    const [one, two, three] = crk.shares;
    const sign = (shares: unknown[]) => caller()("POST", "/api/v1/crk/sign", { shares, public_key: crk.public_key, data: "" });
    const few = await sign([one, two]);
    expect([few.status, code(few)]).toEqual([422, "CRK_THRESHOLD_NOT_MET"]);
    const flipped = bytes(three?.data ?? "");
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    for (const bad of [{ index: 3, data: base64(flipped) }, stranger.shares[2], { index: 3, data: two?.data }]) {
      const answer = await sign([one, two, bad]);
      expect([answer.status, code(answer), answer.body.error.details.indexes]).toEqual([422, "SHARE_INVALID", [3]]);
    }
    const twice = await sign([one, two, two]);
    expect([twice.status, twice.body.error.details.indexes]).toEqual([422, [2]]);
  });

  it("no organisation signs with another's key", async () => {
    const crk = await makeCrk(newOrg().caller());
    const other = newOrg().caller();
    await makeCrk(other);
    const answer = await other("POST", "/api/v1/crk/sign", { shares: crk.shares, public_key: crk.public_key, data: "" });
    expect([answer.status, code(answer)]).toEqual([403, "FORBIDDEN"]);
    const named = await other("POST", "/api/v1/crk/rotate", { org_id: "org-1", threshold: 2 });
    expect([named.status, code(named)]).toEqual([403, "FORBIDDEN"]);
  });

  it("a rotation ceremony deals new shares of the same key; the old ones stop working", async () => {
    const acme = rig.admin("acme");
    const crk = await makeCrk(acme, 5, 3);
    const started = await acme("POST", "/api/v1/crk/rotate", { org_id: "acme", threshold: 4, total_shares: 7 });
    expect(started.body).toMatchObject({ operation: "rotate", status: "pending", required_shares: 3, threshold: 4 });
    const path = `/api/v1/crk/ceremony/${started.body.id}`;
    const submitters = ["super_admin", "security_admin", "operations_admin"] as const;
    for (const [i, role] of submitters.entries()) {
      const share = crk.shares[i];
      expect((await rig.admin("acme", role)("POST", `${path}/share`, { share })).status).toBe(204);
    }
    const repeated = await acme("POST", `${path}/share`, crk.shares[0]);
    expect([repeated.status, code(repeated)]).toEqual([409, "CONFLICT"]);
    const status = await acme("GET", path);
    expect(status.body.submitted_indexes).toEqual([1, 2, 3]);
    expect(status.text).not.toContain(crk.shares[0]?.data);

    const admins = rig.dev.organizations["acme"]?.admins;
    for (const witness of [admins?.super_admin.id, admins?.security_admin.id]) {
      const refused = await acme("POST", `${path}/complete`, { witness });
      expect([refused.status, code(refused)]).toEqual([403, "FORBIDDEN"]);
    }
    const nobody = await acme("POST", `${path}/complete`, { witness: rig.dev.organizations["globex"]?.admins.auditor.id });
    expect([nobody.status, nobody.body.error.details.field]).toEqual([400, "witness"]);
    const done = await acme("POST", `${path}/complete`, { witness: admins?.auditor.id });
    expect(done.status, done.text).toBe(200);
    // Whom the caller names has confirmed nothing: the result says so, and the audit log.
    const unconfirmed = { witness: admins?.auditor.id, witness_confirmed: false };
    expect(done.body.ceremony).toMatchObject(unconfirmed);
    const [event] = (await acme("GET", "/api/v1/audit?event_type=crk.rotate&limit=1")).body.events;
    expect(event).toMatchObject({ metadata: { ceremony_id: started.body.id, ...unconfirmed } });
    expect(done.body.crk).toMatchObject({
      public_key: crk.public_key,
      version: 2,
      threshold: 4,
      total_shares: 7,
      status: "active",
    });
    expect(done.body.shares).toHaveLength(7);
    expect((await acme("POST", `${path}/complete`, { witness: admins?.auditor.id })).status).toBe(409);

    const sign = (shares: unknown) => acme("POST", "/api/v1/crk/sign", { shares, public_key: crk.public_key, data: base64("x") });
    const stale = await sign(crk.shares);
    expect([stale.status, code(stale)]).toEqual([422, "SHARE_INVALID"]);
    const signed = await sign(shareList(done.body.shares).slice(3));
    expect(nodeCrypto.ed25519Verify(bytes(crk.public_key), bytes(base64("x")), bytes(signed.body.signature))).toBe(true);
  });

  it("a cancelled or expired rotation leaves the old shares good", async () => {
    const caller = (): Caller => rig.admin("initech");
    const custodian = rig.admin("initech", "auditor");
    const crk = await makeCrk(caller());
    for (const end of ["cancel", "expire"] as const) {
      const { body } = await caller()("POST", "/api/v1/crk/rotate", { threshold: 2 });
      const path = `/api/v1/crk/ceremony/${body.id}`;
      expect((await custodian("POST", `${path}/share`, crk.shares[0])).status).toBe(204);
      const second = await caller()("POST", "/api/v1/crk/rotate", { threshold: 2 });
      expect([second.status, code(second)]).toEqual([409, "STATE_CONFLICT"]);
      if (end === "cancel") expect((await caller()("DELETE", path)).status).toBe(204);
      else {
        rig.clock.advance(25 * 3_600_000);
        expect((await caller()("GET", path)).body.status).toBe("expired");
        const late = await caller()("POST", `${path}/share`, crk.shares[1]);
        expect([late.status, code(late)]).toEqual([409, "STATE_CONFLICT"]);
        await rig.gateway.sweep(rig.clock.now());
      }
      expect(await rig.store.count("ceremony_shares", "by_ceremony", [body.id])).toBe(0);
      expect(await signData(caller(), crk, "")).toMatch(/=$/);
    }
  });

  it("a sign ceremony signs what was announced at its start; a reconstruct ceremony never shows a key", async () => {
    const acme = rig.admin("globex");
    const crk = await makeCrk(acme, 3, 2);
    const witness = rig.dev.organizations["globex"]?.admins.auditor.id;
    const hold = async (start: object): Promise<string> => {
      const { body } = await acme("POST", "/api/v1/crk/ceremony/start", start);
      for (const [i, by] of [acme, rig.admin("globex", "security_admin")].entries()) {
        await by("POST", `/api/v1/crk/ceremony/${body.id}/share`, { share: crk.shares[i] });
      }
      const done = await acme("POST", `/api/v1/crk/ceremony/${body.id}/complete`, { witness });
      expect(done.status, done.text).toBe(200);
      expect(done.body.shares).toEqual([]);
      return done.body.result;
    };
    const data = base64("the announced text");
    const signature = await hold({ operation: "sign", threshold: 2, data });
    expect(nodeCrypto.ed25519Verify(bytes(crk.public_key), bytes(data), bytes(signature))).toBe(true);
    expect(await hold({ operation: "reconstruct", threshold: 2 })).toBe(crk.public_key);
    const missing = await acme("POST", "/api/v1/crk/ceremony/start", { operation: "sign", threshold: 2 });
    expect([missing.status, missing.body.error.details.field]).toEqual([400, "data"]);
  });

  it("a password ceremony seals each share under a key that only its custodian can derive", async () => {
    const org = newOrg();
    const { caller, id } = org;
    const custodians = await people(org, 3);
    const of = (index: number): Caller => custodians[index - 1]?.call ?? caller();
    const params = { time: 2, memory: 19_456, threads: 1 };
    const { body } = await caller()("POST", "/api/v1/crk/generate-ceremony/start", { org_id: id, total_shares: 3, threshold: 2 });
    const path = `/api/v1/crk/generate-ceremony/${body.id}`;
    const keys: Uint8Array[] = [];
    for (const index of [1, 2, 3]) {
      const salt = systemRandom(16);
      const argon = { time: params.time, memoryKiB: params.memory, parallelism: params.threads };
      const derived = await deriveShareKey(nodeCrypto, `password of ${index}`, salt, argon);
      keys.push(derived);
      const early = await caller()("POST", `${path}/complete`);
      expect([early.status, code(early)]).toEqual([409, "STATE_CONFLICT"]);
      const seed = {
        index,
        custodian_name: `custodian ${index}`,
        derived_key: base64(derived),
        salt: base64(salt),
        kdf_params: params,
      };
      expect((await of(index)("POST", `${path}/seed`, seed)).status).toBe(204);
      const twice = await of(index)("POST", `${path}/seed`, seed);
      expect([twice.status, code(twice)]).toEqual([409, "CONFLICT"]);
    }
    expect((await caller()("GET", path)).body.status).toBe("seeded");
    const done = await caller()("POST", `${path}/complete`);
    expect(done.body).toMatchObject({ status: "complete", crk: { threshold: 2, total_shares: 3 } });
    for (const key of keys) expect(done.text).not.toContain(base64(key));
    expect((await caller()("POST", `${path}/complete`)).status).toBe(409);

    const { crk } = done.body;
    const shares: { index: number; data: string }[] = [];
    for (const index of [1, 3]) {
      const own = await of(index)("GET", `/api/v1/crk/shares/${crk.id}/${index}`);
      expect(own.body).toMatchObject({
        index,
        kdf_time: 2,
        kdf_memory: 19_456,
        kdf_threads: 1,
        custodian_name: `custodian ${index}`,
      });
      const binding = { crkId: crk.id, index, epoch: 1, publicKey: bytes(crk.public_key) };
      const share = openShare(nodeCrypto, keys[index - 1] ?? new Uint8Array(), bytes(own.body.encrypted_data), binding);
      shares.push({ index, data: share.encode() });
    }
    // Another's share is answered as one that there is not.
    for (const index of [2, 200]) {
      const foreign = await of(1)("GET", `/api/v1/crk/shares/${crk.id}/${index}`);
      expect([foreign.status, code(foreign)]).toEqual([404, "NOT_FOUND"]);
    }
    const signed = await caller()("POST", "/api/v1/crk/sign", { shares, public_key: crk.public_key, data: "" });
    expect(signed.status, signed.text).toBe(200);
  });

  it("in a signing session no share leaves its custodian; a wrong one is refused and the session goes on", async () => {
    const org = newOrg();
    const { caller } = org;
    const custodians = await people(org, 3);
    const crk = await makeCrk(caller(), 3, 2, named(custodians));
    const message = base64("signed by people far apart");
    const { body } = await caller()("POST", "/api/v1/crk/signing-sessions", { data: message });
    const path = `/api/v1/crk/signing-sessions/${body.id}`;
    const material = crkFromJson(body.crk);
    const signers = [crk.shares[0], crk.shares[2]].map(
      (share) => new Signer(material, Share.decode(share?.data ?? ""), body.round, systemRandom),
    );
    const of = (index: number): Caller => custodians[index - 1]?.call ?? caller();
    for (const { commitment } of signers) {
      const bad = { ...commitment, hiding: base64(new Uint8Array(32).fill(0xff)) };
      expect(code(await of(commitment.index)("POST", `${path}/commit`, bad))).toBe("SHARE_INVALID");
      expect((await of(commitment.index)("POST", `${path}/commit`, commitment)).status).toBe(200);
    }
    const { commitments, status } = (await caller()("GET", path)).body;
    expect(status).toBe("signing");
    for (const signer of signers) {
      const part = signer.sign(body.round, commitments);
      const garbage = { index: part.index, share: base64(new Uint8Array(32).fill(1)) };
      const refused = await of(part.index)("POST", `${path}/sign`, garbage);
      expect([refused.status, code(refused), refused.body.error.details.indexes]).toEqual([422, "SHARE_INVALID", [part.index]]);
      expect((await caller()("GET", path)).body).toMatchObject({ status: "signing", cheaters: [] });
      expect((await of(part.index)("POST", `${path}/sign`, part)).status).toBe(200);
    }
    const done = await caller()("POST", `${path}/aggregate`);
    expect(nodeCrypto.ed25519Verify(bytes(crk.public_key), bytes(message), bytes(done.body.signature))).toBe(true);
    expect(
      done.body.seats.map((seat: { identity_id: string; taken_at: string | null }) => [seat.identity_id, seat.taken_at !== null]),
    ).toEqual(custodians.map(({ id }, i) => [id, i !== 1]));
  });
});
