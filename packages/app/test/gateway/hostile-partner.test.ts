import { gzipSync } from "node:zlib";
import type { PeerState } from "@seneschal/contract/gateway";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { asPartner, establish, federate, importCertificate, openNeighbour, openSide, type Side } from "./federated.ts";
import { befriend, type Front, openFront, sealed, told } from "./hostile-partner.ts";
import { registered } from "./registered.ts";
import type { Answer, Caller } from "./rig.ts";

const base = "/api/v1/workspaces";
const peer = "/api/v1/federation/peer";
const hour = 3_600_000;
const secret = Buffer.from("of others").toString("base64");
type Shared = Extract<PeerState, { stage: "shared" }>;
type Offered = Extract<PeerState, { stage: "offered" }>;

/**
 * Acme and its neighbour initech live on one gateway. Mallory is a federated partner of acme whose gateway is in bad hands; delta is an
 * honest partner of initech. Whatever mallory asks or answers: initech's work goes on and its records stay as they are.
 */
describe("a hostile partner", () => {
  let acme: Side;
  let initech: Side;
  let delta: Side;
  let mallory: Side;
  let front: Front;
  /** Mallory, calling acme's gateway. */
  let attack: Caller;
  let others: { readonly id: string; readonly ciphertext: string };
  beforeAll(async () => {
    [acme, delta, mallory] = await Promise.all([
      openSide("acme", { timeout: "20s", federation: { budgets: { offers: 5, workspaces: 12, message_bytes: 256 << 10 } } }),
      openSide("delta"),
      openSide("mallory"),
    ]);
    initech = await openNeighbour("initech", acme);
    front = await openFront(mallory);
    await befriend(acme, mallory, front);
    await federate(initech, delta);
    attack = await asPartner(mallory, acme);
    const { body } = await initech.call("POST", base, { name: "of initech" });
    const { ciphertext } = (await initech.call("POST", `${base}/${body.id}/encrypt`, { plaintext: secret })).body;
    others = { id: body.id, ciphertext };
  });
  afterAll(async () => {
    front?.close();
    await Promise.all([acme, delta, mallory].map((side) => side?.rig.close()));
  });

  const deliver = (side = acme, later = hour) => side.rig.gateway.deliver(side.rig.clock.now() + later);
  /** Initech works on, and nothing of it changed. */
  const othersAreWell = async () => {
    const opened = await initech.call("POST", `${base}/${others.id}/decrypt`, { ciphertext: others.ciphertext });
    expect(opened.body).toEqual({ plaintext: secret });
    expect((await initech.call("GET", base)).body.workspaces.map(({ id }: { id: string }) => id)).toContain(others.id);
  };
  const refusals = async (of: string): Promise<{ reason: string; known?: number }[]> => {
    const { body } = await acme.call("GET", "/api/v1/audit?event_type=federation.refuse&limit=1000");
    return body.events.map(({ metadata }: { metadata: object }) => metadata).filter((one: { of: string }) => one.of === of);
  };
  /** An offer of mallory's, made by its real gateway. */
  const offerOf = async (name: string): Promise<Offered> => {
    const { body } = await mallory.call("POST", base, { name });
    await mallory.call("POST", `${base}/${body.id}/invite`, { org_id: "acme" });
    return (await told(mallory, body.id, "acme")) as Offered;
  };
  const push = (state: object): Promise<Answer> => attack("PUT", `${peer}/workspace`, state);
  const answer = (status: number, body: unknown) => {
    front.lie = (_, response) =>
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(typeof body === "string" ? body : JSON.stringify(body));
  };
  /** A workspace of mallory's in which acme takes part; what mallory's gateway would say of it. */
  const joined = async (name: string): Promise<Shared> => {
    const offer = await offerOf(name);
    expect((await push(offer)).status).toBe(200);
    expect((await acme.call("POST", `${base}/${offer.workspace_id}/accept-invitation`, {})).status).toBe(204);
    const partner = await asPartner(acme, mallory);
    const { body } = await partner("POST", `${peer}/answer`, {
      workspace_id: offer.workspace_id,
      invitation_id: offer.invitation.id,
      accept: true,
      group_id: null,
    });
    answer(200, body);
    await deliver();
    expect((await acme.call("GET", `${base}/${offer.workspace_id}`)).status).toBe(200);
    return body;
  };
  const next = (truth: Shared, changes: object = {}, more: object = {}) => ({
    ...truth,
    sequence: truth.sequence + 100,
    workspace: { ...truth.workspace, revision: truth.workspace.revision + 1, ...changes },
    ...more,
  });

  it("sizes are judged before anything is made of them: a million key versions are no work, and none is left out unseen", async () => {
    const truth = await joined("sizes");
    const id = truth.workspace_id;
    const { vault } = acme.rig.gateway.services;
    const wraps = vi.spyOn(vault, "encrypt");
    const seal = (text: string) => sealed(mallory, id, acme, text);
    const key = Buffer.alloc(32, 7).toString("base64");
    const cases: readonly [number, object, string?][] = [
      [400, { dek_version: 1_000_000 }],
      [400, { dek_version: 8193 }],
      [409, { dek_version: 8192 }],
      [400, { dek_version: 2 }, "[".repeat(300_000)],
      [400, { dek_version: 2 }, JSON.stringify(Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [i + 1, key])))],
      [400, { dek_version: 2 }, JSON.stringify({ 3: key })],
      [400, { dek_version: 2 }, JSON.stringify({ 2: "short" })],
      [400, { dek_version: 2 }, JSON.stringify({ __proto__x: key })],
      [400, { dek_version: 2 }, "[]"],
      [409, { dek_version: 3 }, JSON.stringify({ 3: key })],
    ];
    for (const [status, changes, text] of cases) {
      const deks = text === undefined ? truth.deks : await seal(text);
      const answered = await push(next(truth, changes, { deks }));
      expect(answered.status, `${JSON.stringify(changes)} ${text?.slice(0, 20)} ${answered.text}`).toBe(status);
    }
    expect(wraps).not.toHaveBeenCalled();
    wraps.mockRestore();
    expect((await acme.call("GET", `${base}/${id}`)).body.dek_version).toBe(truth.workspace.dek_version);
    await othersAreWell();
  });

  it("an owner that rotates often sends the new keys alone; a partner that lost its keys is sent all", async () => {
    const { body } = await initech.call("POST", base, { name: "often" });
    await initech.call("POST", `${base}/${body.id}/invite`, { org_id: "delta" });
    await deliver();
    expect((await delta.call("POST", `${base}/${body.id}/accept-invitation`, {})).status).toBe(204);
    await deliver();
    const { ciphertext } = (await delta.call("POST", `${base}/${body.id}/encrypt`, { plaintext: secret })).body;
    for (let i = 0; i < 40; i++) expect((await initech.call("POST", `${base}/${body.id}/rotate-dek`)).status).toBe(204);
    await deliver();
    expect((await delta.call("GET", `${base}/${body.id}`)).body.dek_version).toBe(41);
    expect((await delta.call("POST", `${base}/${body.id}/decrypt`, { ciphertext })).body.plaintext).toBe(secret);
    const size = async () => ((await told({ ...initech, org: "initech" }, body.id, "delta")) as Shared).deks.length;
    expect(await size()).toBeLessThan(200);
    // Delta comes back from a backup of before the rotations.
    const { store } = delta.rig;
    const [seat, replica] = [
      await store.get("workspace_seats", `${body.id}/delta`),
      await store.get("workspace_replicas", `${body.id}/delta`),
    ];
    const deks = { 1: (seat?.doc["deks"] as Record<string, string> | undefined)?.["1"] ?? "" };
    await delta.rig.gateway.services.store.commit({
      commitId: crypto.randomUUID(),
      puts: [
        { coll: "workspace_seats", id: `${body.id}/delta`, doc: { ...seat?.doc, deks } },
        { coll: "workspace_replicas", id: `${body.id}/delta`, doc: { ...replica?.doc, sequence: 2 } },
      ],
    });
    expect((await initech.call("POST", `${base}/${body.id}/rotate-dek`)).status).toBe(204);
    for (let i = 1; i <= 3; i++) await deliver(acme, i * hour);
    const again = (await delta.call("POST", `${base}/${body.id}/encrypt`, { plaintext: secret })).body.ciphertext;
    expect((await initech.call("POST", `${base}/${body.id}/decrypt`, { ciphertext: again })).body.plaintext).toBe(secret);
  });

  it("a confirmation of what was never said is refused, audited, and leaves the numbers as they were", async () => {
    const { body } = await acme.call("POST", base, { name: "numbers" });
    await acme.call("POST", `${base}/${body.id}/invite`, { org_id: "mallory" });
    const share = async () => (await acme.rig.store.get("workspace_shares", `${body.id}/mallory`))?.doc;
    let later = hour;
    for (const sequence of [2 ** 48, 2 ** 47, 1_000_000, -1, 1.5, "7", null]) {
      answer(200, { sequence });
      later += hour;
      await deliver(acme, later);
      expect((await share())?.["sequence"], String(sequence)).toBe(1);
      expect((await share())?.["confirmed"]).toBe(0);
    }
    expect(await refusals("confirmation")).toContainEqual(expect.objectContaining({ reason: "NEVER_SAID", known: 2 ** 48 }));
    answer(200, { sequence: 1 });
    await deliver(acme, later + hour);
    expect((await share())?.["confirmed"]).toBe(1);
    const lag = (await acme.call("GET", `${base}/${body.id}`)).body.followers;
    expect(lag).toMatchObject([{ org_id: "mallory", stage: "offered", up_to_date: true, revision: null }]);
  });

  it("one partner's failure delays nobody: each lane has its own pace, each dispatch its own outcome", async () => {
    const offers = [await offerOf("twin"), await offerOf("another")];
    for (const offer of offers) expect((await push(offer)).status).toBe(200);
    // Both are taken; mallory's answer to one is of another workspace, to the other it says nothing.
    const silent: (() => void)[] = [];
    front.lie = (_, response) => void silent.push(() => response.writeHead(500).end());
    const accepted = offers.map(({ workspace_id }) => acme.call("POST", `${base}/${workspace_id}/accept-invitation`, {}));
    await vi.waitFor(() => expect(silent.length).toBe(2), { timeout: 30_000 });
    const { body } = await initech.call("POST", base, { name: "not delayed" });
    await initech.call("POST", `${base}/${body.id}/invite`, { org_id: "delta" });
    const round = deliver();
    await vi.waitFor(
      async () => expect((await delta.call("POST", `${base}/${body.id}/accept-invitation`, {})).status).toBe(204),
      { timeout: 30_000 },
    );
    for (const end of silent) end();
    front.lie = (_, response) => response.writeHead(500).end();
    await Promise.all([round, ...accepted]);
    // What fails on our side, whatever it is, is put off, told, and no reason to stop.
    for (let i = 1; i <= 10; i++) await deliver(acme, i * 10 * hour);
    const { body: log } = await acme.call("GET", "/api/v1/audit?event_type=federation.delivery&limit=100");
    expect(log.events.length).toBeGreaterThan(0);
    expect(log.events[0].metadata).toMatchObject({ partner_org_id: "mallory", kind: expect.any(String), given_up: false });
    expect((await acme.call("GET", "/api/v1/federation/mallory")).body.outbox).toMatchObject({
      error_detail: expect.stringContaining("the partner"),
    });
    await othersAreWell();
  });

  it.each<[string, string, (response: import("node:http").ServerResponse) => void]>([
    ["is nested without end", "not of the partner's organisation", (response) => response.end("[".repeat(4000))],
    ["is fifteen megabytes", "too large", (response) => response.end("[".repeat(15 << 20))],
    [
      "has a million keys",
      "too large",
      (response) => response.end(JSON.stringify(Array.from({ length: 1_000_000 }, () => ({})))),
    ],
    [
      "is packed",
      "encoded",
      (response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"org_id":"mallory","status":"healthy"}')),
    ],
    [
      "is packed many times over",
      "could not be called",
      (response) => {
        response.writeHead(200, { "content-encoding": Array(100).fill("gzip").join(", ") }).end(gzipSync("x"));
      },
    ],
    [
      "has a key twice",
      "not of the partner's",
      (response) => response.end('{"org_id":"x","org_id":"mallory","status":"healthy"}'),
    ],
  ])("an answer that %s is not read", async (_, reason, end) => {
    front.lie = (_request, response) => end(response);
    const { body } = await acme.call("GET", "/api/v1/federation/health");
    expect(body.results.mallory).toMatchObject({ healthy: false, error: expect.stringContaining(reason) });
  });

  it("offers and messages have budgets; who is over is told when to come back, and the organisation is told too", async () => {
    const before = (await acme.call("GET", "/api/v1/federation/mallory")).body.use;
    expect(before.budgets).toEqual({ offers: 5, workspaces: 12, message_bytes: 256 << 10 });
    const offer = await offerOf("one of many");
    const sent: Answer[] = [];
    for (let i = 0; i < 8; i++) {
      const invitation = {
        ...offer.invitation,
        id: crypto.randomUUID(),
        expires_at: "9999-12-31T00:00:00Z",
        invited_by: "root@acme",
      };
      sent.push(await push({ ...offer, workspace_id: crypto.randomUUID(), invitation }));
    }
    expect(sent.map(({ status }) => status)).toContain(429);
    const refused = sent.at(-1);
    expect([refused?.status, refused?.body.error.code, refused?.headers.get("retry-after")]).toEqual([
      429,
      "RATE_LIMITED",
      "900",
    ]);
    const { use } = (await acme.call("GET", "/api/v1/federation/mallory")).body;
    expect(use.offers).toBe(5);
    const { invitations } = (await acme.call("GET", "/api/v1/invitations?limit=100")).body;
    for (const one of invitations.filter(({ status }: { status: string }) => status === "pending")) {
      expect(Date.parse(one.expires_at)).toBeLessThanOrEqual(acme.rig.clock.now() + 8 * 24 * hour);
      expect(one.invited_by.startsWith("mallory/")).toBe(true);
    }
    const { id: recipient_id, call: ann } = await registered(acme.rig, acme.call, { sub: "ann", org: "acme" });
    const letter = () => ({
      id: crypto.randomUUID(),
      sender_org_id: "mallory",
      sender_id: "m",
      recipient_org_id: "acme",
      recipient_id,
      subject: "s",
      body: Buffer.alloc(40_000, 1).toString("base64"),
      expires_at: new Date(acme.rig.clock.now() + hour).toISOString(),
    });
    const letters: Answer[] = [];
    for (let i = 0; i < 6; i++) letters.push(await attack("POST", "/api/v1/messages/deliver", letter()));
    expect(letters.map(({ status }) => status)).toEqual([201, 201, 201, 201, 429, 429]);
    expect((await refusals("message")).map(({ reason }) => reason)).toEqual(["RATE_LIMITED"]);
    // What is read makes room.
    for (const { id } of (await ann("GET", "/api/v1/messages")).body.messages) await ann("GET", `/api/v1/messages/${id}`);
    expect((await attack("POST", "/api/v1/messages/deliver", letter())).status).toBe(201);
    // What nobody answers in its time is forgotten, and makes room.
    const now = acme.rig.clock.now();
    acme.rig.clock.set(now + 8 * 24 * hour);
    await acme.rig.gateway.sweep(acme.rig.clock.now());
    expect((await acme.call("GET", "/api/v1/federation/mallory")).body.use.offers).toBe(0);
    acme.rig.clock.set(now);
    await othersAreWell();
  });

  it("organisations here are given one key and one state by one owner, and who is left out by way of another is told", async () => {
    const gamma = await openNeighbour("gamma", acme);
    await befriend(gamma, mallory, front);
    const truth = await joined("two truths");
    const id = truth.workspace_id;
    await mallory.call("POST", `${base}/${id}/invite`, { org_id: "gamma" });
    const offer = (await told(mallory, id, "gamma")) as Offered;
    const attackGamma = await asPartner(mallory, gamma);
    expect((await attackGamma("PUT", `${peer}/workspace`, offer)).status).toBe(200);
    const { body } = await (await asPartner(gamma, mallory))("POST", `${peer}/answer`, {
      workspace_id: id,
      invitation_id: offer.invitation.id,
      accept: true,
      group_id: null,
    });
    answer(200, body);
    expect((await gamma.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
    await deliver();
    // A rotation, told to both: under one number there is one key, and one content.
    const rotated = (to: Side, byte: number) =>
      sealed(mallory, id, to, JSON.stringify({ 2: Buffer.alloc(32, byte).toString("base64") }));
    const second = next(body, { dek_version: 2 });
    expect((await push({ ...second, deks: await rotated(acme, 1) })).status).toBe(200);
    const refused = async (state: object) => {
      const answered = await attackGamma("PUT", `${peer}/workspace`, state);
      expect([answered.status, answered.body.error?.code], answered.text).toEqual([409, "STATE_CONFLICT"]);
    };
    const right = await rotated(gamma, 1);
    await refused({ ...second, deks: await rotated(gamma, 9) });
    await refused({ ...second, deks: right, workspace: { ...second.workspace, purpose: "another for gamma" } });
    expect((await attackGamma("PUT", `${peer}/workspace`, { ...second, deks: right })).status).toBe(200);
    const [ours, theirs] = await Promise.all([acme, gamma].map((side) => side.call("GET", `${base}/${id}`)));
    expect(theirs?.body.dek_version).toBe(ours?.body.dek_version);
    const participants = body.workspace.participants.filter(({ org_id }: { org_id: string }) => org_id !== "acme");
    expect((await attackGamma("PUT", `${peer}/workspace`, next(second, { participants }, { deks: right }))).status).toBe(200);
    const { body: log } = await acme.call("GET", `/api/v1/audit?event_type=workspace.leave&workspace=${id}`);
    expect(log.events.map(({ metadata }: { metadata: object }) => metadata)).toMatchObject([
      { owner_org_id: "mallory", reason: "owner" },
    ]);
  });

  it("names of its workspaces are its own: two of one name are no conflict here", async () => {
    const [one, two] = [await joined("same"), await joined("not the same")];
    expect((await push(next(two, { name: "same" }))).status).toBe(200);
    for (const { workspace_id } of [one, two]) {
      expect((await acme.call("GET", `${base}/${workspace_id}`)).body.name).toBe("same");
    }
  });

  it("an organisation that an owner elsewhere merely names has no part, whatever it tries", async () => {
    const truth = await joined("names others");
    const joined_at = truth.workspace.created_at;
    const participants = [...truth.workspace.participants, { org_id: "initech", role: "participant", joined_at }];
    expect((await push(next(truth, { participants }))).status).toBe(200);
    const path = `${base}/${truth.workspace_id}`;
    expect((await initech.call("GET", path)).status).toBe(404);
    expect((await initech.call("POST", `${path}/accept-invitation`, {})).status).toBe(404);
    expect((await initech.call("POST", `${path}/encrypt`, { plaintext: secret })).status).toBe(404);
  });

  it("a certificate for us that ends in a moment is not taken in", async () => {
    const brief = await openSide("brief", { federation: { certificate_ttl: "30m" } });
    await establish(acme, brief);
    const { body } = await establish(brief, acme);
    const answered = await importCertificate(acme, "brief", body.certificate);
    expect([answered.status, answered.body.error.details.reason]).toEqual([422, "ends too soon"]);
    const kept = (await acme.call("GET", "/api/v1/federation/brief")).body;
    expect([kept.outbound_ready, kept.outbound_expires_at]).toEqual([false, null]);
    await brief.rig.close();
  });

  it("whatever it asks or answers: no failure of ours, no budget exceeded, nothing of others changed", async () => {
    const truth = await joined("fuzzed");
    const offer = await offerOf("offered and fuzzed");
    const consent = {
      workspace_id: truth.workspace_id,
      payload: {
        v: 1,
        op: "workspace.delete",
        org_id: "mallory",
        audience: "x",
        resource_type: "workspace",
        resource_id: truth.workspace_id,
        body_sha256: "0".repeat(64),
        crk_id: "c",
        crk_epoch: 1,
        nonce: "n",
        iat: 1,
        exp: 2,
      },
      signature: Buffer.alloc(64).toString("base64"),
    };
    const ended = { workspace_id: truth.workspace_id, sequence: truth.sequence + 7, stage: "ended" };
    const genuine = [
      truth,
      next(truth),
      offer,
      ended,
      consent,
      { sequence: 3 },
      { message_id: truth.workspace_id },
      { org_id: "mallory" },
    ];
    const hostile = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        true,
        -1,
        0,
        1.5,
        2 ** 48,
        2 ** 53,
        1e308,
        "",
        "x".repeat(5000),
        "9999-12-31T23:59:59Z",
        [],
        {},
      ),
      fc.constantFrom(others.id, truth.workspace_id, offer.workspace_id, "initech", "acme", "mallory", "../x", "__proto__", "\0"),
      fc.integer(),
      fc.string({ maxLength: 20 }),
      fc.array(fc.integer(), { maxLength: 50 }),
    );
    const mutation = fc.record({
      of: fc.constantFrom(...genuine),
      at: fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 3 }),
      what: fc.constantFrom("replace" as const, "remove" as const, "add" as const, "keep" as const),
      value: hostile,
    });
    const routes = [
      ["PUT", `${peer}/workspace`],
      ["POST", `${peer}/answer`],
      ["POST", `${peer}/deletion-consent`],
      ["PUT", `${peer}/certificate`],
      ["POST", "/api/v1/messages/deliver"],
      ["GET", `${peer}/health`],
    ] as const;
    const mark = (await acme.rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(mutation, { minLength: 1, maxLength: 5 }),
        fc.nat({ max: routes.length - 1 }),
        async (asked, which) => {
          const [method, path] = routes[which] as (typeof routes)[number];
          for (const one of asked) {
            const body = mutated(one);
            const { status, text } = await attack(method, path, method === "GET" ? undefined : body);
            expect(status, text).toBeLessThan(500);
            answer(one.value === true ? 500 : 200, body);
          }
          await acme.call("PUT", `${base}/${truth.workspace_id}`, { purpose: "x" });
          await deliver();
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 60) },
    );
    const { use } = (await acme.call("GET", "/api/v1/federation/mallory")).body;
    for (const [budget, most] of Object.entries<number>(use.budgets)) expect(use[budget]).toBeLessThanOrEqual(most);
    for (const { coll, id } of await acme.rig.store.changes(mark, 1_000_000)) {
      const doc = (await acme.rig.store.get(coll, id))?.doc;
      expect(doc?.["org_id"] === "initech" || id.includes(others.id), `${coll}/${id}`).toBe(false);
    }
    await othersAreWell();
    expect((await acme.call("GET", "/live")).status).toBe(200);
  }, 1_800_000);
});

/** The value with one place of it made otherwise. */
function mutated({ of, at, what, value }: { of: unknown; at: readonly number[]; what: string; value: unknown }): object {
  const copy = structuredClone(of) as Record<string, unknown>;
  let place: Record<string, unknown> = copy;
  for (const [depth, step] of at.entries()) {
    const names = Object.keys(place);
    const name = names[step % Math.max(1, names.length)];
    if (name === undefined) break;
    const inner = place[name];
    if (depth < at.length - 1 && typeof inner === "object" && inner !== null) place = inner as Record<string, unknown>;
    else if (what === "replace") place[name] = structuredClone(value);
    else if (what === "remove") delete place[name];
    else if (what === "add") place[`${name}x`] = value;
  }
  return copy;
}
