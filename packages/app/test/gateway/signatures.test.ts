import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, openRig, type Rig } from "./rig.ts";
import { type HeldCrk, makeCrk, signData, signOperation } from "./sign.ts";

const code = (answer: { body: { error: { code: string } } }): string => answer.body?.error?.code;

describe("signatures by the root key", () => {
  let rig: Rig;
  let acme: Caller;
  let globex: Caller;
  let crk: HeldCrk;
  let foreign: HeldCrk;
  let names = 0;

  /** A CRK-protected workspace of acme. */
  const protectedWorkspace = async (): Promise<string> => {
    names += 1;
    const body = { name: `protected ${names}` };
    const crk_signature = await signOperation(acme, crk, "workspace.create", "", body);
    return (await acme("POST", "/api/v1/workspaces", { ...body, crk_signature })).body.id;
  };

  beforeAll(async () => {
    rig = await openRig();
    acme = rig.admin("acme");
    globex = rig.admin("globex");
    crk = await makeCrk(acme);
    foreign = await makeCrk(globex);
  });
  afterAll(() => rig.close());

  it("a refusal for want of a signature names the field that takes it", async () => {
    const id = await protectedWorkspace();
    const requests = [
      ["POST", "/api/v1/policies", { name: "all", rego: "package all\nallow := true" }, "crk_signature"],
      ["POST", "/api/v1/backups", {}, "crk_signature"],
      ["POST", "/api/v1/federation/init", {}, "crk_signature"],
      ["PUT", `/api/v1/workspaces/${id}`, { purpose: "new" }, "signature"],
      ["DELETE", `/api/v1/workspaces/${id}`, {}, "signatures"],
    ] as const;
    for (const [method, path, body, field] of requests) {
      const answer = await acme(method, path, body);
      expect([path, code(answer), answer.body.error.details.field]).toEqual([path, "SIGNATURE_REQUIRED", field]);
    }
  });

  it("a signing session shows the operation that its bytes are, and begins for none that nobody should sign", async () => {
    const start = (data: string | Buffer, body?: object) => {
      const bytes = typeof data === "string" ? data : data.toString("base64");
      return acme("POST", "/api/v1/crk/signing-sessions", { data: bytes, ...(body === undefined ? {} : { body }) });
    };
    const id = await protectedWorkspace();
    const request = { operation: "workspace.update", resource_id: id, body: { purpose: "new" } };
    const { message, covered } = (await acme("POST", "/api/v1/crk/signing-requests", request)).body;
    expect(covered).toEqual({ revision: expect.any(Number) });
    const body = { ...request.body, ...covered };
    const { signs, id: session } = (await start(message, body)).body;
    expect(signs).toMatchObject({
      purpose: "operation",
      body,
      payload: { op: "workspace.update", org_id: "acme", resource_type: "workspace", resource_id: id, exp: expect.any(Number) },
    });
    expect((await acme("GET", `/api/v1/crk/signing-sessions/${session}`)).body.signs).toEqual(signs);
    expect((await start(message)).body.signs).toEqual({ ...signs, body: null });
    expect((await start(Buffer.from("release 7"))).body.signs).toBeNull();
    const refusals = [
      [await start(message, request.body), "body"],
      [await start(Buffer.from("release 7"), {}), "body"],
      [await start(Buffer.concat([Buffer.from(message, "base64"), Buffer.from(" ")])), "data"],
      [await start(Buffer.from("seneschal/operation/v1\0{}")), "data"],
    ] as const;
    for (const [answer, field] of refusals) {
      expect([code(answer), answer.body.error.details.field]).toEqual(["VALIDATION_ERROR", field]);
    }
  });

  it("a protected workspace changes by signature only; every wrong one is refused and changes nothing", async () => {
    const id = await protectedWorkspace();
    const other = await protectedWorkspace();
    const path = `/api/v1/workspaces/${id}`;
    const update = { purpose: "new" };
    const good = () => signOperation(acme, crk, "workspace.update", id, update);
    const before = (await acme("GET", path)).body;

    const cases: [string, () => Promise<object>, number, string][] = [
      ["missing", async () => ({ ...update }), 400, "SIGNATURE_REQUIRED"],
      [
        "of another operation",
        async () => ({ ...update, signature: await signOperation(acme, crk, "workspace.archive", id, update) }),
        403,
        "SIGNATURE_INVALID",
      ],
      [
        "of another resource",
        async () => ({ ...update, signature: await signOperation(acme, crk, "workspace.update", other, update) }),
        403,
        "SIGNATURE_INVALID",
      ],
      ["of another body", async () => ({ purpose: "evil", signature: await good() }), 403, "SIGNATURE_INVALID"],
      ["with a field added", async () => ({ ...update, mode: "airgap", signature: await good() }), 403, "SIGNATURE_INVALID"],
      [
        "of another organisation's key",
        async () => ({ ...update, signature: await signOperation(globex, foreign, "workspace.update", id, update) }),
        403,
        "SIGNATURE_INVALID",
      ],
      [
        "over bytes of the signer's choice",
        async () => ({ ...update, signature: await signData(acme, crk, Buffer.from(id).toString("base64")) }),
        403,
        "SIGNATURE_INVALID",
      ],
      ["random", async () => ({ ...update, signature: Buffer.alloc(64, 7).toString("base64") }), 403, "SIGNATURE_INVALID"],
    ];
    for (const [what, body, status, expected] of cases) {
      const answer = await acme("PUT", path, await body());
      expect([what, answer.status, code(answer)]).toEqual([what, status, expected]);
    }
    expect((await acme("GET", path)).body).toEqual(before);

    const signature = await good();
    const done = await acme("PUT", path, { ...update, signature });
    expect([done.status, done.body.purpose, done.body.revision]).toEqual([200, "new", before.revision + 1]);
  });

  it("what is refused says by what it was judged: whoever signs that is let in, and of another organisation nothing is told", async () => {
    const id = await protectedWorkspace();
    const path = `/api/v1/workspaces/${id}`;
    const { revision } = (await acme("GET", path)).body;
    const wrong = Buffer.alloc(64, 7).toString("base64");
    const prepared = await acme("PUT", path, { purpose: "new", signature: wrong });
    expect([prepared.status, code(prepared)]).toEqual([403, "SIGNATURE_INVALID"]);
    const { reason, expected, covered, message } = prepared.body.error.details;
    const facts = { op: "workspace.update", org_id: "acme", audience: "seneschal", resource_type: "workspace", resource_id: id };
    expect([reason, covered, message]).toEqual(["signature_invalid", { revision }, undefined]);
    expect(expected).toEqual({ v: 1, ...facts, body_sha256: expect.any(String), crk_id: crk.id, crk_epoch: 1 });

    const iat = Math.floor(rig.clock.now() / 1000);
    const signature_params = { nonce: "a".repeat(32), iat, exp: iat + 60 };
    const refused = await acme("PUT", path, { purpose: "new", signature: wrong, signature_params });
    const { details } = refused.body.error;
    expect(details).toMatchObject({ expected: { ...expected, ...signature_params }, covered: { revision } });
    const signature = await signData(acme, crk, details.message);
    expect((await acme("PUT", path, { purpose: "new", signature, signature_params })).status).toBe(200);

    const other = await acme("DELETE", path, {
      signatures: { acme: wrong },
      signature_params: { ...signature_params, nonce: "b".repeat(32) },
    });
    expect(Object.keys(other.body.error.details).sort()).toEqual(["covered", "expected", "message", "reason"]);
    await acme("POST", `${path}/invite`, {
      org_id: "globex",
      signature: await signOperation(acme, crk, "workspace.invite", id, { org_id: "globex" }),
    });
    const joined = await globex("POST", `${path}/accept-invitation`, {
      org_id: "globex",
      signature: await signOperation(globex, foreign, "workspace.accept", id, { org_id: "globex" }),
    });
    expect(joined.status).toBe(204);
    const own = await signOperation(acme, crk, "workspace.delete", id);
    const theirs = await acme("DELETE", path, { signatures: { acme: own, globex: wrong } });
    expect([theirs.status, theirs.body.error.details]).toEqual([403, { reason: "signature_invalid" }]);
  });

  it("a signature is used up by its first success, and by the next revision", async () => {
    const id = await protectedWorkspace();
    const path = `/api/v1/workspaces/${id}/extend`;
    const body = { expires_at: "2080-01-01T00:00:00.000Z" };
    const signature = await signOperation(acme, crk, "workspace.extend", id, body);
    expect((await acme("POST", path, { ...body, signature })).status).toBe(204);
    const replayed = await acme("POST", path, { ...body, signature });
    expect([replayed.status, code(replayed)]).toEqual([409, "SIGNATURE_REPLAYED"]);

    // Also where what it covers is another by now.
    const update = { purpose: "newer" };
    const updating = await signOperation(acme, crk, "workspace.update", id, update);
    expect((await acme("PUT", `/api/v1/workspaces/${id}`, { ...update, signature: updating })).status).toBe(200);
    const again = await acme("PUT", `/api/v1/workspaces/${id}`, { ...update, signature: updating });
    expect([again.status, code(again)]).toEqual([409, "SIGNATURE_REPLAYED"]);
    const meant = await signOperation(acme, crk, "workspace.update", id, update);
    const other = await acme("PUT", `/api/v1/workspaces/${id}`, { purpose: "something else", signature: meant });
    expect([other.status, other.body.error.details.reason]).toEqual([403, "body_mismatch"]);

    const stale = await signOperation(acme, crk, "workspace.rotate-dek", id);
    const first = await signOperation(acme, crk, "workspace.archive", id);
    expect((await acme("POST", `/api/v1/workspaces/${id}/archive`, { signature: first })).status).toBe(204);
    const late = await acme("DELETE", `/api/v1/workspaces/${id}`, { signatures: { acme: stale } });
    expect([late.status, code(late)]).toEqual([403, "SIGNATURE_INVALID"]);
  });

  it("a signature expires, and an unneeded one is verified all the same", async () => {
    const id = await protectedWorkspace();
    const signature = await signOperation(acme, crk, "workspace.archive", id);
    rig.clock.advance(11 * 60_000);
    const late = await acme("POST", `/api/v1/workspaces/${id}/archive`, { signature });
    expect([late.status, code(late)]).toEqual([403, "SIGNATURE_EXPIRED"]);

    const { body } = await acme("POST", "/api/v1/workspaces", { name: "free" });
    const wrong = await acme("PUT", `/api/v1/workspaces/${body.id}`, {
      purpose: "x",
      signature: Buffer.alloc(64).toString("base64"),
    });
    expect([wrong.status, code(wrong)]).toEqual([403, "SIGNATURE_INVALID"]);
  });

  it("shares of an old epoch do not sign requests of the new one", async () => {
    const owner = rig.bearer({ sub: "root", org: "umbrella", roles: ["super_admin"] });
    const old = await makeCrk(owner);
    const { body } = await owner("POST", "/api/v1/workspaces", { name: "mine" });
    const request = await owner("POST", "/api/v1/crk/signing-requests", { operation: "workspace.archive", resource_id: body.id });
    const early = await signData(owner, old, request.body.message);
    // Nobody of the organisation has enrolled: nobody could witness a rotation, the old epoch stays.
    const rotation = await owner("POST", "/api/v1/crk/rotate", { threshold: 2 });
    expect([rotation.status, code(rotation)]).toEqual([409, "STATE_CONFLICT"]);
    expect((await owner("POST", `/api/v1/workspaces/${body.id}/archive`, { signature: early })).status).toBe(204);
  });

  it("a signer in another language needs no prepared request: nonce, times and the published format are enough", async () => {
    const { bodyHash, operationBytes } = await import("@seneschal/crypto/signing");
    const id = await protectedWorkspace();
    const { revision } = (await acme("GET", `/api/v1/workspaces/${id}`)).body;
    const iat = Math.floor(rig.clock.now() / 1000);
    const signature_params = { nonce: "0123456789abcdef0123456789abcdef", iat, exp: iat + 60 };
    const message = operationBytes({
      v: 1,
      op: "workspace.archive",
      org_id: "acme",
      audience: "seneschal",
      resource_type: "workspace",
      resource_id: id,
      body_sha256: bodyHash({ revision }),
      crk_id: crk.id,
      crk_epoch: 1,
      ...signature_params,
    });
    const signature = await signData(acme, crk, Buffer.from(message).toString("base64"));
    const body = { signature, signature_params };
    const forged = await acme("POST", `/api/v1/workspaces/${id}/archive`, {
      ...body,
      signature_params: { ...signature_params, exp: iat + 61 },
    });
    expect([forged.status, code(forged)]).toEqual([403, "SIGNATURE_INVALID"]);
    expect((await acme("POST", `/api/v1/workspaces/${id}/archive`, body)).status).toBe(204);
  });

  it("a signing request may be for no resource, or for one that is not there", async () => {
    for (const resource_id of [undefined, "", "nowhere", "\u{1F600}".repeat(100)]) {
      const answer = await acme("POST", "/api/v1/crk/signing-requests", { operation: "workspace.update", resource_id, body: {} });
      expect(answer.status, answer.text).toBe(201);
    }
  });

  it("deleting a shared protected workspace takes the signature of every participant", async () => {
    const id = await protectedWorkspace();
    const path = `/api/v1/workspaces/${id}`;
    const invite = await signOperation(acme, crk, "workspace.invite", id, { org_id: "globex" });
    expect((await acme("POST", `${path}/invite`, { org_id: "globex", signature: invite })).status).toBe(201);
    const accept = await signOperation(globex, foreign, "workspace.accept", id, {});
    expect((await globex("POST", `${path}/accept-invitation`, { signature: accept })).status).toBe(204);
    const mine = await signOperation(acme, crk, "workspace.delete", id);
    const alone = await acme("DELETE", path, { signatures: { acme: mine } });
    expect([alone.status, code(alone), alone.body.error.details.missing]).toEqual([400, "SIGNATURE_REQUIRED", ["globex"]]);
    const lent = await acme("DELETE", path, { signatures: { acme: mine, globex: mine } });
    expect([lent.status, code(lent)]).toEqual([403, "SIGNATURE_INVALID"]);
    const theirs = await signOperation(globex, foreign, "workspace.delete", id);
    expect((await acme("DELETE", path, { signatures: { acme: mine, globex: theirs } })).status).toBe(204);
    expect((await globex("GET", path)).status).toBe(404);
  });
});
