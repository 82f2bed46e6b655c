import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import {
  checkpointText,
  MerkleTree,
  noteVerifierKey,
  parseCheckpoint,
  parseVerifierKey,
  signNote,
  verifyNote,
} from "@seneschal/crypto/merkle";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asPartner, federate, openSide, reopenSide, type Side } from "./federated.ts";
import { befriend, type Front, openFront } from "./hostile-partner.ts";
import { openLevelRigStore } from "./level-store.ts";

/** A log's history with a witness: docs/gateway.md. */
const vectors = JSON.parse(
  readFileSync(new URL("../../../crypto/test/merkle/witness-vectors.json", import.meta.url), "utf8"),
) as {
  readonly log: { readonly name: string };
  readonly witness: { readonly name: string };
  readonly history: readonly {
    readonly name: string;
    readonly request: { readonly log_key: string };
    readonly reply: { readonly outcome: string; readonly note: string };
  }[];
  readonly unreadable: readonly { readonly name: string; readonly field: string; readonly request: object }[];
};

const textOf = (note: string): string => note.slice(0, note.indexOf("\n\n") + 1);
const ask = (side: Side): Promise<void> => side.rig.gateway.askWitnesses(side.rig.clock.now());
const seen = async (side: Side, partner: string) => (await side.call("GET", `/api/v1/federation/${partner}`)).body;
const events = async (side: Side): Promise<{ metadata: Record<string, unknown>; result: string }[]> =>
  (await side.call("GET", "/api/v1/audit?event_type=federation.witness&limit=50")).body.events;
const metric = async (side: Side, name: string): Promise<number> =>
  Number(
    (await side.rig.anonymous("GET", "/metrics")).text
      .split("\n")
      .find((line) => line.startsWith(name))
      ?.split(" ")
      .at(-1),
  );
const grow = async (side: Side, name: string): Promise<void> => {
  expect((await side.call("POST", "/api/v1/workspaces", { name })).status).toBe(201);
};

describe("partners witness each other's audit logs", () => {
  let globex: Side;
  let acme: Side;
  let begun = false;
  let store: DocumentStore;
  const root = mkdtempSync(join(tmpdir(), "witnessed-"));
  const at = join(root, "store");
  const open = async (): Promise<void> => {
    store = await openLevelRigStore(at);
    const unseal = { kind: "key", key: new Uint8Array(32).fill(9) } as const;
    const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: settableClock(0), unseal });
    const kept = { store, vault };
    acme = begun ? await reopenSide(acme, { kept }) : await openSide("acme", { kept });
    begun = true;
  };
  /** The partner's log is told of a witnessed one once a minute. */
  const minute = (): void => globex.rig.clock.set(globex.rig.clock.now() + 60_000);
  const close = async (): Promise<void> => {
    await acme.rig.close();
    await store.close();
  };
  const keep = (name: string): void => cpSync(at, join(root, name), { recursive: true });
  const putBack = (name: string): void => {
    rmSync(at, { recursive: true });
    cpSync(join(root, name), at, { recursive: true });
  };
  beforeAll(async () => {
    globex = await openSide("globex");
    await open();
    await federate(acme, globex);
  });
  afterAll(async () => {
    await Promise.all([close(), globex.rig.close()]);
    rmSync(root, { recursive: true });
  });

  it("what the partner cosigned is kept, shown on both sides, and verified by whoever has the keys", async () => {
    expect((await seen(acme, "globex")).witnessed_by).toBeNull();
    await ask(acme);
    await ask(globex);
    const [{ witnessed_by: by }, { witness_of: of }] = [await seen(acme, "globex"), await seen(globex, "acme")];
    expect(by).toMatchObject({ size: of.size, note: of.note, verifier_key: of.verifier_key, trouble: null });
    const { body: checkpoint } = await acme.call("GET", "/api/v1/audit/checkpoint");
    expect(checkpoint.witnesses).toEqual([
      { org_id: "globex", size: by.size, cosigned_at: by.cosigned_at, note: by.note, verifier_key: by.verifier_key },
    ]);
    const { key: witness } = parseVerifierKey(by.verifier_key);
    const { key: log } = parseVerifierKey(of.log_key);
    const verified = verifyNote(by.note, [witness, log]);
    expect(verified.signedBy).toEqual([log.name]);
    expect(new Date((verified.cosignedAt[witness.name] ?? 0) * 1000).toISOString()).toBe(by.cosigned_at);
    expect(parseCheckpoint(verified.text).size).toBe(by.size);
    expect((await seen(globex, "acme")).witnessed_by).toMatchObject({ trouble: null });
    expect(await events(globex)).toMatchObject([{ result: "success", metadata: { growth: "first" } }]);
  });

  it("a look is no event: what is looked at does not grow by it", async () => {
    await ask(acme);
    const { size } = (await seen(acme, "globex")).witnessed_by;
    for (let i = 0; i < 3; i++) await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by.size).toBe(size);
    await grow(acme, "one more");
    await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by.size).toBeGreaterThan(size);
    expect(await events(acme), "but that globex asked for the first time").toHaveLength(1);
  });

  it("a whole store that is put back is seen by the partner, and both sides say so, also after it has grown again; the right one makes it good", async () => {
    await close();
    keep("earlier");
    await open();
    for (const name of ["a", "b", "c"]) await grow(acme, name);
    await ask(acme);
    const { size } = (await seen(globex, "acme")).witness_of;
    await close();
    keep("true");
    putBack("earlier");
    await open();
    minute();
    const verdict = (await acme.call("POST", "/api/v1/audit/verify", {})).body;
    expect(verdict, "nothing inside of it shows").toMatchObject({ valid: true });
    await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by.trouble).toMatchObject({ growth: "put_back" });
    const { witness_of: of } = await seen(globex, "acme");
    expect(of).toMatchObject({ size, trouble: { growth: "put_back", before: of.note } });
    for (const side of [acme, globex])
      expect((await events(side))[0]).toMatchObject({ result: "denied", metadata: { growth: "put_back" } });
    expect((await acme.rig.anonymous("GET", "/health")).body.components.audit_witnesses.status).toBe("unhealthy");
    expect((await globex.rig.anonymous("GET", "/health")).body.components.audit_witnesses.status).toBe("healthy");
    expect(await metric(acme, 'gateway_audit_witness_trouble{of="ours",growth="put_back"}')).toBe(1);
    expect(await metric(globex, 'gateway_audit_witness_trouble{of="partners",growth="put_back"}')).toBe(1);

    for (let i = 0; i < size; i++) await grow(acme, `other ${i}`);
    await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by.trouble).toMatchObject({ growth: "forked" });
    expect((await seen(globex, "acme")).witness_of).toMatchObject({ size, trouble: { growth: "unproven" } });

    await close();
    putBack("true");
    await open();
    minute();
    await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by).toMatchObject({ trouble: null });
    expect((await seen(globex, "acme")).witness_of).toMatchObject({ trouble: null });
    expect((await events(globex))[0]).toMatchObject({
      result: "success",
      metadata: { growth: expect.stringMatching(/same|grown/) },
    });
    expect((await acme.rig.anonymous("GET", "/health")).body.components.audit_witnesses.status).toBe("healthy");
  });

  it("whoever asks with a size that was overtaken accuses nobody, and what a partner offers is signed, its own and goes on", async () => {
    const partner = await asPartner(acme, globex);
    const put = async (body: object) => partner("PUT", "/api/v1/federation/peer/checkpoint", body);
    const { witness_of: before } = await seen(globex, "acme");
    const seed = new Uint8Array(32).fill(3);
    const key = { name: "mallory", publicKey: nodeCrypto.ed25519PublicKey(seed) };
    const forged = async (origin: string, size: number) =>
      signNote(checkpointText({ origin, size, root: new MerkleTree().root() }), key, (message) =>
        nodeCrypto.ed25519Sign(seed, message),
      );
    const { note, log_key } = before;
    const own = textOf(note).split("\n")[0] as string;
    for (const [body, field] of [
      [{ first: 0, proof: [], note: "x", log_key }, "note"],
      [{ first: 0, proof: [], note, log_key: noteVerifierKey(key) }, "note"],
      [
        { first: 0, proof: [], note: await forged("seneschal.audit/gateway-of-acme/initech", 5), log_key: noteVerifierKey(key) },
        "note",
      ],
      [{ first: 0, proof: [], note, log_key: before.verifier_key }, "log_key"],
      [{ first: 0, proof: ["AAAA"], note, log_key }, "proof[0]"],
    ] as const) {
      const { status, body: answer } = await put(body);
      expect([status, answer.error?.code, answer.error?.details.field]).toEqual([400, "VALIDATION_ERROR", field]);
    }
    const late = await put({ first: 1, proof: [], note, log_key });
    expect(late.body).toEqual({ outcome: "other_size", size: before.size, note });
    expect((await seen(globex, "acme")).witness_of).toEqual(before);
    const other = await put({ first: before.size, proof: [], note: await forged(own, 9), log_key: noteVerifierKey(key) });
    expect(other.body).toMatchObject({ outcome: "refused", growth: "other_log", note });
    expect((await seen(globex, "acme")).witness_of).toMatchObject({ note, log_key, trouble: { growth: "other_log" } });
    await ask(acme);
    expect((await seen(globex, "acme")).witness_of).toMatchObject({ trouble: null });
  });

  it("a federation that ends takes what was witnessed with it", async () => {
    const { id } = await seen(globex, "acme");
    expect((await globex.signed("federation.revoke", "acme", "DELETE", "/api/v1/federation/acme", {})).status).toBe(204);
    expect(await globex.rig.store.get("witnessed_logs", id)).toBeUndefined();
    await ask(acme);
  });
});

describe("a partner that lies as a witness", () => {
  let acme: Side;
  let globex: Side;
  let mallory: Side;
  let front: Front;
  beforeAll(async () => {
    [acme, globex, mallory] = await Promise.all([openSide("acme", { timeout: "2s" }), openSide("globex"), openSide("mallory")]);
    front = await openFront(mallory);
    await befriend(acme, mallory, front);
    await federate(acme, globex);
  });
  afterAll(async () => {
    front.close();
    await Promise.all([acme.rig.close(), globex.rig.close(), mallory.rig.close()]);
  });
  const says = (status: number, body: object): void => {
    front.lie = (request, response) => {
      request.resume();
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
  };
  const nothing = { size: 0, note: null, cosigned_at: null };

  it("of an earlier release knows no such question: nothing is wrong with that", async () => {
    says(404, { error: { code: "NOT_FOUND", message: "", details: {} } });
    await ask(acme);
    expect((await seen(acme, "mallory")).witnessed_by).toBeNull();
    expect((await seen(acme, "globex")).witnessed_by).toMatchObject({ trouble: null });
  });

  it.each([
    ["a cosignature that is none", 200, { outcome: "cosigned", note: "x" }],
    ["a size that we never had", 200, { outcome: "other_size", size: 9_999, note: "x" }],
    ["another shape", 200, { outcome: "yes" }],
    ["a failure", 500, {}],
  ])("is not believed: %s", async (_, status, body) => {
    says(status, body);
    await ask(acme);
    expect((await seen(acme, "mallory")).witnessed_by).toBeNull();
  });

  it("is not believed that a log was put back or is another, without a word that the log itself has signed; its refusal is shown", async () => {
    const { note } = (await acme.call("GET", "/api/v1/audit/checkpoint")).body;
    for (const growth of ["put_back", "forked", "unproven"])
      for (const said of ["", "x", note]) {
        says(200, { outcome: "refused", growth, size: Number(note.split("\n")[1]), note: said });
        await ask(acme);
        expect((await seen(acme, "mallory")).witnessed_by).toMatchObject({ ...nothing, trouble: { growth: "unfounded" } });
      }
    expect((await acme.rig.anonymous("GET", "/health")).body.components.audit_witnesses.status).toBe("healthy");
  });

  it("answers a log's history as the vectors say, and takes nothing of them for a checkpoint that is none", async () => {
    const partner = await asPartner(globex, acme);
    const put = (body: object) => partner("PUT", "/api/v1/federation/peer/checkpoint", body);
    const refused = async () => {
      for (const { name, field, request } of vectors.unreadable) {
        const { status, body } = await put(request);
        expect([status, body.error?.code, body.error?.details.field], name).toEqual([400, "VALIDATION_ERROR", field]);
      }
    };
    // The vectors' own witness signed what is in them.
    const unsigned = (note: string): string => note.replace(/^.* seneschal\.witness\/acme .*\n/m, "");
    await refused();
    for (const { name, request, reply } of vectors.history) {
      const { status, body } = await put(request);
      expect([status, { ...body, note: unsigned(body.note) }], name).toEqual([200, { ...reply, note: unsigned(reply.note) }]);
      if (reply.outcome !== "cosigned") continue;
      const { key } = parseVerifierKey((await seen(acme, "globex")).witness_of.verifier_key);
      const { signedBy, cosignedAt } = verifyNote(body.note, [key, parseVerifierKey(request.log_key).key]);
      expect([signedBy, Object.keys(cosignedAt)], name).toEqual([[vectors.log.name], [vectors.witness.name]]);
    }
    await refused();
  });

  it("keeps nobody waiting but itself", async () => {
    front.lie = () => undefined;
    await grow(acme, "w");
    const { size } = (await seen(acme, "globex")).witnessed_by;
    await ask(acme);
    expect((await seen(acme, "globex")).witnessed_by.size).toBeGreaterThan(size);
  });
});
