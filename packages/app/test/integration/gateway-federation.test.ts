import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ownAddress } from "../../../../tools/own-address.ts";
import { federate } from "../gateway/federated.ts";
import { register } from "../gateway/registered.ts";
import { type GatewayInstance, startGateway } from "./gateway-instance.ts";

const base = "/api/v1/workspaces";
const secret = Buffer.from("one for both").toString("base64");

/** Asks again until it holds: what is delivered in the background is there when it is there. */
const soon = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 120_000, interval: 200 });

const invite = async (owner: GatewayInstance, partner: GatewayInstance, name: string): Promise<string> => {
  const { body, text } = await owner.call("POST", base, { name });
  expect((await owner.call("POST", `${base}/${body.id}/invite`, { org_id: partner.org })).status, text).toBe(201);
  return body.id;
};
const accept = (partner: GatewayInstance, id: string): Promise<void> =>
  soon(async () => expect((await partner.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204));
const encrypt = (at: GatewayInstance, id: string) => at.call("POST", `${base}/${id}/encrypt`, { plaintext: secret });
const reads = (at: GatewayInstance, id: string, ciphertext: string): Promise<void> =>
  soon(async () => {
    const answer = await at.call("POST", `${base}/${id}/decrypt`, { ciphertext });
    expect(answer.body, answer.text).toEqual({ plaintext: secret });
  });

/** What two federated gateways do when one of them, or the way between them, goes away and comes back. */
function survives(
  acme: () => GatewayInstance,
  globex: () => GatewayInstance,
  away: { readonly name: string; begin(): Promise<void> | void; end(): Promise<void> | void },
): void {
  it(`${away.name}: what was said meanwhile arrives once it is over, and the owner's state wins`, async () => {
    const id = await invite(acme(), globex(), `before ${away.name}`);
    await accept(globex(), id);
    const old = (await encrypt(acme(), id)).body.ciphertext;
    await reads(globex(), id, old);
    const recipient_id = await register(globex().call, `hank-${away.name.replaceAll(" ", "-")}`);
    await away.begin();
    expect((await acme().call("POST", `${base}/${id}/rotate-dek`)).status).toBe(204);
    expect((await acme().call("PUT", `${base}/${id}`, { purpose: away.name })).status).toBe(200);
    const fresh = (await encrypt(acme(), id)).body.ciphertext;
    const later = await invite(acme(), globex(), `during ${away.name}`);
    const letter = { recipient_org_id: "globex", recipient_id, subject: away.name, body: secret };
    const { body: sent } = await acme().call("POST", "/api/v1/messages", letter);
    expect(sent.status).toBe("pending");
    await away.end();
    await reads(globex(), id, fresh);
    await reads(globex(), id, old);
    await accept(globex(), later);
    await reads(globex(), later, (await encrypt(acme(), later)).body.ciphertext);
    const there = (await globex().call("GET", `${base}/${id}`)).body;
    expect(there).toMatchObject({ purpose: away.name, dek_version: 2 });
    await soon(async () => {
      expect((await acme().call("GET", `/api/v1/messages/${sent.id}`)).body.status).toBe("delivered");
    });
    for (const side of [acme(), globex()]) expect((await side.call("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });
}

describe("two gateways in two processes, one on express and one on fastify", () => {
  let acme: GatewayInstance;
  let globex: GatewayInstance;
  beforeAll(async () => {
    const [a, b] = [await ownAddress(), await ownAddress()];
    [acme, globex] = await Promise.all([
      startGateway({ org: "acme", ...a, server: "express" }),
      startGateway({ org: "globex", ...b, server: "fastify" }),
    ]);
    await federate(acme, globex);
  });
  afterAll(() => Promise.all([acme?.destroy(), globex?.destroy()]));

  it("share a workspace both ways", async () => {
    for (const [owner, partner] of [
      [acme, globex],
      [globex, acme],
    ] as const) {
      const id = await invite(owner, partner, "both ways");
      await accept(partner, id);
      await reads(owner, id, (await encrypt(partner, id)).body.ciphertext);
      await reads(partner, id, (await encrypt(owner, id)).body.ciphertext);
    }
    const { results } = (await acme.call("GET", "/api/v1/federation/health")).body;
    expect(results.globex).toMatchObject({ healthy: true, status: "healthy" });
  });

  survives(
    () => acme,
    () => globex,
    { name: "the partner killed", begin: () => globex.kill(), end: () => globex.start() },
  );

  survives(
    () => acme,
    () => globex,
    { name: "the partner frozen", begin: () => globex.pause(), end: () => globex.resume() },
  );

  it("the owner killed with a full outbox delivers it after its start, each message once", async () => {
    const id = await invite(acme, globex, "a full outbox");
    await accept(globex, id);
    const recipient_id = await register(globex.call, "ivy");
    await globex.kill();
    await acme.call("POST", `${base}/${id}/rotate-dek`);
    const fresh = (await encrypt(acme, id)).body.ciphertext;
    const letter = { recipient_org_id: "globex", recipient_id, subject: "s", body: secret };
    const sent = await Promise.all(Array.from({ length: 5 }, () => acme.call("POST", "/api/v1/messages", letter)));
    await acme.kill();
    await globex.start();
    await acme.start();
    await reads(globex, id, fresh);
    await soon(async () => {
      for (const { body } of sent) {
        // The sender is the same admin with a new certificate.
        expect((await acme.call("GET", `/api/v1/messages/${body.id}`)).body.status).toBe("delivered");
      }
    });
    const delivered = await globex.call("GET", "/api/v1/audit?event_type=message.deliver&limit=1000");
    const ids = delivered.body.events.map((event: { metadata: { message_id: string } }) => event.metadata.message_id);
    expect(sent.map(({ body }) => ids.filter((one: string) => one === body.id).length)).toEqual([1, 1, 1, 1, 1]);
  });

  it("the end of the federation ends the access on both sides", async () => {
    const id = await invite(acme, globex, "ended");
    await accept(globex, id);
    const body = { notify_partner: true };
    expect((await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", body)).status).toBe(204);
    await soon(async () => expect((await encrypt(globex, id)).status).toBe(404));
    expect((await acme.call("GET", `${base}/${id}`)).body.participant_orgs).toEqual(["acme"]);
  });
});

/** Two namespaces on a bridge: `10.77.0.2` and `.3`, and this process at `.1`. `undefined` where that is not allowed. */
function makeNetwork(): { partition(): void; heal(): void; remove(): void } | undefined {
  const ip = (...args: readonly string[]): void => void execFileSync("ip", args, { stdio: "ignore" });
  const names = { bridge: "sen-br", spaces: ["sen-a", "sen-b"] } as const;
  const remove = (): void => {
    for (const undo of [...names.spaces.map((space) => ["netns", "del", space]), ["link", "del", names.bridge]]) {
      try {
        ip(...undo);
      } catch {
        // It was not there.
      }
    }
  };
  try {
    remove();
    ip("link", "add", names.bridge, "type", "bridge");
    ip("addr", "add", "10.77.0.1/24", "dev", names.bridge);
    ip("link", "set", names.bridge, "up");
    for (const [i, space] of names.spaces.entries()) {
      ip("netns", "add", space);
      ip("link", "add", `${space}-v`, "type", "veth", "peer", "name", "eth0", "netns", space);
      ip("link", "set", `${space}-v`, "master", names.bridge, "up");
      ip("-n", space, "addr", "add", `10.77.0.${i + 2}/24`, "dev", "eth0");
      ip("-n", space, "link", "set", "eth0", "up");
      ip("-n", space, "link", "set", "lo", "up");
    }
  } catch {
    remove();
    return undefined;
  }
  const route = (what: "add" | "del"): void => {
    ip("-n", "sen-a", "route", what, "blackhole", "10.77.0.3/32");
    ip("-n", "sen-b", "route", what, "blackhole", "10.77.0.2/32");
  };
  return { partition: () => route("add"), heal: () => route("del"), remove };
}

const network = makeNetwork();

describe.skipIf(network === undefined)("two gateways in two network namespaces (needs root and iproute2)", () => {
  let acme: GatewayInstance;
  let globex: GatewayInstance;
  beforeAll(async () => {
    const start = (org: string, space: string, host: string) =>
      startGateway({ org, host, port: 8443, server: "fastify" }, { inside: ["ip", "netns", "exec", space] });
    [acme, globex] = await Promise.all([start("acme", "sen-a", "10.77.0.2"), start("globex", "sen-b", "10.77.0.3")]);
    await federate(acme, globex);
  });
  afterAll(async () => {
    await Promise.all([acme?.destroy(), globex?.destroy()]);
    network?.remove();
  });

  survives(
    () => acme,
    () => globex,
    { name: "the way between them cut", begin: () => network?.partition(), end: () => network?.heal() },
  );

  it("an acceptance made during a partition reaches the owner when it heals", async () => {
    const id = await invite(acme, globex, "accepted in the dark");
    await soon(async () => {
      const { body } = await globex.call("GET", "/api/v1/invitations");
      expect(body.invitations.map((one: { workspace_id: string }) => one.workspace_id)).toContain(id);
    });
    network?.partition();
    expect((await globex.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204);
    expect((await acme.call("GET", `${base}/${id}`)).body.participant_orgs).toEqual(["acme"]);
    network?.heal();
    await soon(async () => expect((await encrypt(globex, id)).status).toBe(200));
    expect((await acme.call("GET", `${base}/${id}`)).body.participant_orgs).toEqual(["acme", "globex"]);
  });
});
