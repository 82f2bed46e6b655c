import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { federate, openSide, type Side } from "./federated.ts";

const base = "/api/v1/workspaces";
const secret = Buffer.from("x").toString("base64");
const hour = 3_600_000;

describe("a partner that is not there", () => {
  let acme: Side;
  let globex: Side;
  let mute: Server;
  let url: string;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme", { timeout: "2s" }), openSide("globex")]);
    await federate(acme, globex);
    mute = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    url = `https://localhost:${(mute.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    mute.close();
    await Promise.all([acme.rig.close(), globex.rig.close()]);
  });
  afterEach(() => move(globex.url));

  /** The partner is at another address now, as far as acme knows. */
  const move = async (partner_url: string): Promise<void> => {
    const { id } = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const known = await acme.rig.store.get("federations", id);
    await acme.rig.gateway.services.store.commit({
      commitId: crypto.randomUUID(),
      puts: [{ coll: "federations", id, doc: { ...known?.doc, partner_url } }],
    });
  };
  /** Delivers until it holds: on a busy machine a call may be late. */
  const arrives = (check: () => Promise<void>): Promise<void> => {
    let tries = 1;
    const attempt = async (): Promise<void> => {
      await acme.rig.gateway.watchPartners(acme.rig.clock.now());
      await acme.rig.gateway.deliver(acme.rig.clock.now() + tries++ * 10 * hour);
      await check();
    };
    return vi.waitFor(attempt, { timeout: 50_000, interval: 10 });
  };
  const shared = async (name: string): Promise<string> => {
    const { body } = await acme.call("POST", base, { name });
    await acme.call("POST", `${base}/${body.id}/invite`, { org_id: "globex" });
    await arrives(async () => {
      expect((await globex.call("POST", `${base}/${body.id}/accept-invitation`, {})).status).toBe(204);
    });
    await arrives(async () => expect(await metric('gateway_federation_outbox{kind="dispatch"}')).toBe(0));
    return body.id;
  };
  const metric = async (name: string): Promise<number> => {
    const text = (await acme.rig.anonymous("GET", "/metrics")).text;
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(name))
        ?.split(" ")
        .at(-1),
    );
  };

  it("keeps what it is to hear, in one entry with the newest state, and hears it when it is back", async () => {
    const id = await shared("kept");
    await move("https://localhost:1");
    for (const purpose of ["one", "two", "three"]) await acme.call("PUT", `${base}/${id}`, { purpose });
    await acme.call("POST", `${base}/${id}/rotate-dek`);
    await acme.rig.gateway.deliver(acme.rig.clock.now());
    expect((await globex.call("GET", `${base}/${id}`)).body).toMatchObject({ purpose: "", dek_version: 1 });
    expect(await metric('gateway_federation_outbox{kind="dispatch"}')).toBe(1);
    await move(globex.url);
    await arrives(async () => {
      expect((await globex.call("GET", `${base}/${id}`)).body).toMatchObject({ purpose: "three", dek_version: 2 });
      expect(await metric('gateway_federation_outbox{kind="dispatch"}')).toBe(0);
    });
  });

  it("is left alone after three calls without an answer, until a check finds it again; each call ends in time", async () => {
    const id = await shared("slow");
    await move(url);
    const before = await metric('gateway_federation_call_duration_seconds_count{result="not_tried"}');
    await acme.call("PUT", `${base}/${id}`, { purpose: "x" });
    for (let i = 0; i < 5; i++) await acme.rig.gateway.deliver(acme.rig.clock.now() + i * hour);
    expect(await metric('gateway_federation_call_duration_seconds_count{result="not_tried"}')).toBeGreaterThan(before || 0);
    const health = (await acme.call("GET", "/api/v1/federation/health")).body.results.globex;
    expect(health).toMatchObject({ healthy: false, error: "the partner could not be called: no answer in time" });
    expect(await metric('gateway_federation_connections_active{status="unhealthy"}')).toBe(1);
    await move(globex.url);
    await arrives(async () => {
      expect(await metric('gateway_federation_connections_active{status="healthy"}')).toBe(1);
      expect((await globex.call("GET", `${base}/${id}`)).body.purpose).toBe("x");
    });
  });

  it("an acceptance that cannot reach the owner stands, and is brought later", async () => {
    const { body } = await globex.call("POST", base, { name: "later" });
    await globex.call("POST", `${base}/${body.id}/invite`, { org_id: "acme" });
    await globex.rig.gateway.deliver(globex.rig.clock.now());
    await move("https://localhost:1");
    expect((await acme.call("POST", `${base}/${body.id}/accept-invitation`, {})).status).toBe(204);
    expect((await acme.call("GET", `${base}/${body.id}`)).status).toBe(404);
    expect((await globex.call("GET", `${base}/${body.id}`)).body.participant_orgs).toEqual(["globex"]);
    await move(globex.url);
    await arrives(async () => {
      expect((await acme.call("POST", `${base}/${body.id}/encrypt`, { plaintext: secret })).status).toBe(200);
    });
  });

  it("an acceptance that the owner refuses is taken back and told", async () => {
    const { body } = await globex.call("POST", base, { name: "too late" });
    await globex.call("POST", `${base}/${body.id}/invite`, { org_id: "acme" });
    await globex.rig.gateway.deliver(globex.rig.clock.now());
    const now = globex.rig.clock.now();
    globex.rig.clock.set(now + 8 * 24 * hour);
    const refused = await acme.call("POST", `${base}/${body.id}/accept-invitation`, {});
    globex.rig.clock.set(now);
    expect([refused.status, refused.body.error.code]).toEqual([409, "INVITATION_EXPIRED"]);
    expect((await acme.call("GET", `${base}/${body.id}`)).status).toBe(404);
    const { invitations } = (await acme.call("GET", "/api/v1/invitations")).body;
    expect(invitations.find((one: { workspace_id: string }) => one.workspace_id === body.id).status).toBe("expired");
  });

  it("the keys of its workspace are frozen when it was not heard for a day, and good again when it is", async () => {
    const id = await shared("frozen");
    const encrypt = () => globex.call("POST", `${base}/${id}/encrypt`, { plaintext: secret });
    expect((await encrypt()).status).toBe(200);
    const now = globex.rig.clock.now();
    globex.rig.clock.set(now + 25 * hour);
    const frozen = await encrypt();
    expect([frozen.status, frozen.body.error.code]).toEqual([409, "FEDERATION_INACTIVE"]);
    await globex.rig.gateway.watchPartners(globex.rig.clock.now());
    expect((await encrypt()).status).toBe(200);
    globex.rig.clock.set(now);
  });
});
