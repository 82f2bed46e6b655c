import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ownAddress } from "../../../../tools/own-address.ts";
import { serverCertificate } from "../../src/gateway/index.ts";
import { federationIdentities } from "../../src/gateway/partners/collections.ts";
import { federationKey } from "../../src/gateway/partners/federation/channel.ts";
import { credentials, establish, federate, importCertificate, openSide, type Side } from "../gateway/federated.ts";
import { register } from "../gateway/registered.ts";
import { type GatewayInstance, startGateway } from "./gateway-instance.ts";

const health = "/api/v1/federation/peer/health";
const deliver = "/api/v1/messages/deliver";
const body64 = Buffer.from("sealed").toString("base64");
const soon = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 120_000, interval: 100 });

/** How the attacker's gateway answers. */
type Lie = (request: IncomingMessage, response: ServerResponse) => void;

/** What a gateway said. */
interface Said {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
}

describe("an attacker who is a federated partner of two gateways in processes of their own", () => {
  let acme: GatewayInstance;
  let globex: GatewayInstance;
  let ann: string;
  /** The attacker's gateway, keys and all, and the address at which acme believes it to be. */
  let mallory: Side;
  let front: Server;
  let lie: Lie = () => undefined;
  const open: IdentityFetch[] = [];
  beforeAll(async () => {
    const [a, b] = [await ownAddress(), await ownAddress()];
    [acme, globex, mallory] = await Promise.all([
      startGateway({ org: "acme", ...a, server: "express" }),
      startGateway({ org: "globex", ...b, server: "fastify", certificateTtl: "30s" }),
      openSide("mallory", { federation: { certificate_min_life: "0s" } }),
    ]);
    const tls = await serverCertificate(mallory.rig.gateway.services, { names: ["localhost"], now: Date.now() });
    front = createServer({ cert: tls.cert, key: tls.key }, (request, response) => lie(request, response));
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const url = `https://localhost:${(front.address() as AddressInfo).port}`;
    await federate(acme, globex);
    ann = await register(acme.call, "ann");
    for (const victim of [acme, globex]) await befriend(victim, url);
  });
  afterEach(() => {
    lie = () => undefined;
  });
  afterAll(async () => {
    front?.closeAllConnections();
    front?.close();
    await Promise.all(open.map((http) => http.close()));
    await Promise.all([acme?.destroy(), globex?.destroy(), mallory?.rig.close()]);
  });

  /** Both ends of a federation: the victim's with the address of the front. */
  async function befriend(victim: GatewayInstance, url: string): Promise<void> {
    const forMallory = await establish(victim, { ...mallory, url });
    expect(forMallory.status, forMallory.text).toBe(201);
    const forVictim = await establish(mallory, victim);
    expect(forVictim.status, forVictim.text).toBe(201);
    expect((await importCertificate(victim, "mallory", forVictim.body.certificate)).status).toBe(204);
    expect((await importCertificate(mallory, victim.org, forMallory.body.certificate)).status).toBe(204);
  }

  const key = async (): Promise<string> => {
    const { services } = mallory.rig.gateway;
    const identity = await services.read.get(federationIdentities, "mallory");
    if (identity === undefined) throw new Error("no identity");
    return federationKey(services, identity);
  };
  /** The attacker with one of its certificates, at a victim's address, over one connection that stays open. */
  const presenting = async (certificate: string, victim: GatewayInstance) => {
    const http = mtlsFetch({ cert: Buffer.from(certificate, "base64").toString(), key: await key(), ca: victim.ca() });
    open.push(http);
    return async (method: string, path: string, body?: object): Promise<Said> => {
      const response = await http.fetch(victim.url + path, {
        method,
        ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    };
  };
  const certificateAt = async (victim: GatewayInstance): Promise<string> =>
    (await victim.call("GET", "/api/v1/federation/mallory")).body.certificate;
  const told = ({ status, body }: Said) => [status, body?.error?.code];
  const letter = (given: object = {}) => ({
    id: crypto.randomUUID(),
    sender_org_id: "mallory",
    sender_id: "m",
    recipient_org_id: "acme",
    recipient_id: ann,
    subject: "s",
    body: body64,
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    ...given,
  });

  it("a certificate of one victim opens nothing at the other, and none speaks for another organisation", async () => {
    const here = await presenting(await certificateAt(acme), acme);
    expect((await here("GET", health)).body).toMatchObject({ org_id: "acme" });
    const [there, back] = [
      await presenting(await certificateAt(acme), globex),
      await presenting(await certificateAt(globex), acme),
    ];
    expect(told(await there("GET", health))).toEqual([401, "CERT_UNTRUSTED"]);
    expect(told(await back("GET", health))).toEqual([401, "CERT_UNTRUSTED"]);
    const own = await presenting((await credentials(mallory)).certificate, acme);
    expect(told(await own("GET", health))).toEqual([401, "CERT_UNTRUSTED"]);
    expect(told(await here("POST", deliver, letter({ sender_org_id: "globex" })))).toEqual([403, "FORBIDDEN"]);
    expect(told(await here("POST", deliver, letter({ recipient_org_id: "globex" })))).toEqual([403, "FORBIDDEN"]);
    for (const path of ["/api/v1/workspaces", "/api/v1/audit", "/api/v1/federation", "/api/v1/identities/admins"]) {
      expect(told(await here("GET", path))).toEqual([403, "FORBIDDEN"]);
    }
  });

  it("an envelope that is replayed, also many times at once, is one message, and its id never carries another", async () => {
    const here = await presenting(await certificateAt(acme), acme);
    const envelope = letter();
    const answers = await Promise.all(Array.from({ length: 8 }, () => here("POST", deliver, envelope)));
    for (const { status, body } of answers) expect([status, body.message_id]).toEqual([201, answers[0]?.body.message_id]);
    expect(told(await here("POST", deliver, { ...envelope, body: Buffer.from("other").toString("base64") }))).toEqual([
      409,
      "CONFLICT",
    ]);
    const { body } = await acme.call("GET", "/api/v1/audit?event_type=message.deliver&limit=1000");
    const ids = body.events.map((event: { metadata: { message_id: string } }) => event.metadata.message_id);
    expect(ids.filter((id: string) => id === envelope.id)).toHaveLength(1);
    expect(told(await here("POST", deliver, letter({ expires_at: new Date(Date.now() - 1000).toISOString() })))[0]).toBe(400);
  });

  it.each<[string, string, Lie]>([
    [
      "says it is another organisation",
      "not of the partner's organisation",
      (_, response) => response.end('{"org_id":"globex","status":"healthy"}'),
    ],
    ["says nothing that can be read", "not of the partner's organisation", (_, response) => response.end("fine, thanks")],
    ["refuses", "refused with status 503", (_, response) => response.writeHead(503).end('{"org_id":"mallory"}')],
    ["sends us elsewhere", "", (_, response) => response.writeHead(302, { location: `${acme.url}/health` }).end()],
    ["takes the call and is silent", "no answer in time", () => undefined],
    ["sends one byte now and then", "no answer in time", (_, response) => drip(response)],
  ])("a partner that %s is unhealthy, in time, and holds nobody up", async (_, reason, answer) => {
    lie = answer;
    const [checked, other] = await Promise.all([
      acme.call("GET", "/api/v1/federation/health"),
      acme.call("GET", "/api/v1/workspaces"),
    ]);
    expect(checked.body.results.mallory).toMatchObject({ healthy: false, error: expect.stringContaining(reason) });
    expect(other.status).toBe(200);
  });

  function drip(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 100);
    response.on("close", () => clearInterval(timer));
  }

  it("that it is down is seen, and what it is to hear waits", async () => {
    lie = (request) => request.socket.destroy();
    const sent = await acme.call("POST", "/api/v1/messages", {
      recipient_org_id: "mallory",
      recipient_id: "m",
      subject: "s",
      body: body64,
    });
    expect(sent.body.status).toBe("pending");
    expect((await acme.call("GET", "/api/v1/federation/health")).body.results.mallory).toMatchObject({ healthy: false });
    expect((await acme.call("GET", `/api/v1/messages/${sent.body.id}`)).body.status).toBe("pending");
  });

  it("a certificate that ran out is refused on the connection that it opened", async () => {
    const here = await presenting(await certificateAt(globex), globex);
    await soon(async () => expect(told(await here("GET", health))).toEqual([401, "CERT_EXPIRED"]));
    const again = await presenting(await certificateAt(globex), globex);
    expect(told(await again("POST", deliver, letter({ recipient_org_id: "globex" })))).toEqual([401, "CERT_EXPIRED"]);
  });

  it("a partner's certificate ends with its federation: nobody ends it by its serial alone", async () => {
    const certificate = await certificateAt(acme);
    const here = await presenting(certificate, acme);
    expect((await here("GET", health)).status).toBe(200);
    const list = (await acme.call("GET", "/api/v1/certificates?limit=1000")).body.certificates;
    const { serial_number } = list.find(({ certificate: pem }: { certificate: string }) =>
      Buffer.from(certificate, "base64").toString().startsWith(pem),
    );
    expect(told(await acme.call("POST", "/api/v1/certificates/revoke", { serial_number }))).toEqual([403, "FORBIDDEN"]);
    expect((await here("GET", health)).status).toBe(200);
  });

  it("after the federation ended no certificate of it opens anything, over a kill too", async () => {
    const certificate = await certificateAt(acme);
    const body = { notify_partner: false, revoke_certs: false };
    const ended = await acme.signed("federation.revoke", "mallory", "DELETE", "/api/v1/federation/mallory", body);
    expect(ended.status, ended.text).toBe(204);
    const here = await presenting(certificate, acme);
    expect((await here("GET", health)).status).toBe(403);
    await acme.kill();
    await acme.start();
    const later = await presenting(certificate, acme);
    expect((await later("GET", health)).status).toBe(403);
    expect((await acme.call("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });
});
