import { Agent, request } from "node:https";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as connectTls, type SecureVersion, type TLSSocket } from "node:tls";
import { openLogger } from "@seneschal/adapters/logging";
import { settableClock } from "@seneschal/adapters/memory";
import { systemRandom } from "@seneschal/adapters/system";
import {
  contract,
  endpoints,
  errorTable,
  type Incoming,
  type Principal,
  type Serve,
  type ServeOptions,
} from "@seneschal/contract";
import { sampleErrors } from "@seneschal/contract/testing";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import { serveByProcesses } from "@seneschal/server-node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { authenticator, defineService, type RunningService, startService } from "../../src/platform/index.ts";
import { type Issued, selfSigned, type TestCa, testCa } from "./test-pki.ts";

const routes = contract({
  whoami: {
    method: "GET",
    path: "/whoami",
    summary: "Who calls",
    tag: "test",
    auth: "principal",
    action: "self:read",
    status: 200,
    reply: z.strictObject({ id: z.string(), org: z.string(), type: z.string(), serial: z.string() }),
  },
  maybe: {
    method: "GET",
    path: "/maybe",
    summary: "Who calls, if anybody",
    tag: "test",
    auth: "optional",
    action: "self:read",
    status: 200,
    reply: z.strictObject({ id: z.string().nullable() }),
  },
});

const codes = { ...sampleErrors.codes, MTLS_REQUIRED: 401, CERT_EXPIRED: 401, CERT_UNTRUSTED: 401 };
const names = Object.fromEntries(
  [
    "invalid_request",
    "invalid_json",
    "validation_failed",
    "unauthenticated",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "precondition_failed",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_conflict",
    "idempotency_mismatch",
    "rate_limited",
    "internal_error",
    "service_unavailable",
  ].map((name) => [name, sampleErrors.find(name)?.code ?? ""]),
);
const errors = errorTable(codes, {
  ...names,
  certificate_required: "MTLS_REQUIRED",
  certificate_expired: "CERT_EXPIRED",
  certificate_untrusted: "CERT_UNTRUSTED",
} as never);

let ca: TestCa;
let otherCa: TestCa;
let server: Issued;
const clients: Record<string, Issued> = {};
const DAY = 86_400_000;

beforeAll(async () => {
  [ca, otherCa] = await Promise.all([testCa("Test CA"), testCa("Other CA")]);
  server = await ca.issue("CN=localhost", { usage: "server" });
  clients["good"] = await ca.issue("CN=ada,O=org-a");
  clients["service"] = await ca.issue("CN=billing.internal.local,O=org-a");
  clients["expired"] = await ca.issue("CN=ada,O=org-a", { from: -2 * DAY, to: -DAY });
  clients["future"] = await ca.issue("CN=ada,O=org-a", { from: DAY, to: 2 * DAY });
  clients["wrong usage"] = await ca.issue("CN=ada,O=org-a", { usage: "server" });
  clients["no organisation"] = await ca.issue("CN=ada");
  clients["two organisations"] = await ca.issue("CN=ada,O=org-a,O=org-b");
  clients["no name"] = await ca.issue("O=org-a");
  clients["other CA"] = await otherCa.issue("CN=ada,O=org-a");
  clients["self-signed"] = await selfSigned("CN=ada,O=org-a");
});

const log = openLogger({ level: "silent" });
const clock = settableClock(0);
const revoked = new Set<string>();
let revocationKnown = true;

const service = defineService({
  name: "test",
  contract: routes,
  settings: z.strictObject({}),
  build: async () => ({
    limits: "off",
    hooks: {
      errors,
      authorise: () => {},
      authenticate: authenticator({
        now: () => clock.now(),
        mtls: {
          required: false,
          isRevoked: ({ serial }) => {
            if (!revocationKnown) throw new Error("the list cannot be read");
            return revoked.has(serial);
          },
          principalOf: ({ commonName, organization, serial, service }): Principal => ({
            id: service ?? commonName,
            type: service === undefined ? "user" : "service",
            org: organization,
            roles: [],
            scopes: [],
            method: "mtls",
            certSerial: serial,
          }),
        },
      }),
    },
    endpoints: (hooks) =>
      endpoints(
        routes,
        {
          whoami: (_, { principal }) => ({
            id: principal.id,
            org: principal.org,
            type: principal.type,
            serial: principal.certSerial ?? "",
          }),
          maybe: (_, { principal }) => ({ id: principal?.id ?? null }),
        },
        undefined,
        hooks,
      ),
  }),
});

interface Answer {
  readonly status: number;
  readonly body: { readonly error?: { readonly code: string; readonly message: string; readonly details: object } };
  readonly reused: boolean;
  readonly serverSerial: string | undefined;
  readonly socket: TLSSocket;
}

function get(agent: Agent, port: number, path = "/whoami"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ agent, port, host: "localhost", path }, async (response) => {
      const socket = response.socket as TLSSocket;
      // Before the connection closes: then it knows neither any more.
      const reused = socket.isSessionReused();
      const serverSerial = socket.getPeerX509Certificate()?.serialNumber.toLowerCase();
      let text = "";
      for await (const chunk of response) text += String(chunk);
      resolve({
        status: response.statusCode ?? 0,
        body: JSON.parse(text) as Answer["body"],
        reused,
        serverSerial,
        socket,
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe.each<[string, Serve]>([
  ["Express", express.serve],
  ["Fastify", fastify.serve],
  ["a process in front", serveByProcesses(1)],
])("mutual TLS on %s", (_, serve) => {
  test.each<[string, (socket: Socket) => void]>([
    ["says nothing", () => undefined],
    ["stops within its first message", (socket) => void socket.write(Buffer.from("16030102", "hex"))],
    ["speaks HTTP without TLS", (socket) => void socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")],
  ])("a connection that %s instead of a handshake is closed without a word", async (_what, begin) => {
    let asked = 0;
    const answer = async () => ({ status: 400, headers: {}, body: new Uint8Array(++asked) });
    const dispatch = Object.assign(answer, { serves: () => true });
    const tls = { cert: server.cert, key: server.key, ca: [ca.pem], requestCert: true };
    const listening = await serve(dispatch, { port: 0, tls, requestTimeout: 100 });
    const socket = connect(listening.port, "127.0.0.1");
    begin(socket);
    const told = await buffer(socket).catch(() => Buffer.alloc(0));
    await listening.close();
    expect(told.includes("HTTP")).toBe(false);
    expect(asked).toBe(0);
  });

  test("connections whose handshake never ends hold up no server that closes", async () => {
    const answer = async () => ({ status: 200, headers: {}, body: new Uint8Array() });
    const dispatch = Object.assign(answer, { serves: () => true });
    const tls = { cert: server.cert, key: server.key };
    // Nothing but the grace ends them.
    const listening = await serve(dispatch, { port: 0, tls, grace: 1, requestTimeout: 3_600_000, idleTimeout: 3_600_000 });
    const began = ["", "16030102"].map((hex) => {
      const socket = connect(listening.port, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.write(Buffer.from(hex, "hex"));
      return socket;
    });
    const ended = began.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    await Promise.all(began.map((socket) => new Promise<void>((resolve) => socket.once("connect", resolve))));
    // Connections are taken in the order in which they come: behind this one, those were.
    const whole = connectTls({ port: listening.port, host: "localhost", ca: ca.pem });
    await new Promise<void>((resolve) => whole.once("secureConnect", resolve));
    whole.on("error", () => undefined).resume();
    await listening.close();
    await Promise.all(ended);
  });

  test.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])(
    "%s behind a balancer that speaks the PROXY protocol: the client's own address and certificate, or no connection",
    async (version) => {
      const answer = async ({ remoteAddress, peer }: Incoming) => ({
        status: 200,
        headers: {},
        body: Buffer.from(`${remoteAddress} ${peer?.authorized}`),
      });
      const dispatch = Object.assign(answer, { serves: () => true });
      const tls = { cert: server.cert, key: server.key, ca: [ca.pem], requestCert: true };
      const listening = await serve(dispatch, { port: 0, tls, proxyProtocol: (address) => /^(?:::ffff:)?127\./.test(address) });
      const { cert = "", key = "" } = clients["good"] ?? {};
      const asked = (header: string): Promise<string> => {
        const socket = connect(listening.port, "127.0.0.1");
        socket.write(header);
        const secured = connectTls({
          socket,
          ca: ca.pem,
          cert,
          key,
          servername: "localhost",
          minVersion: version,
          maxVersion: version,
        });
        secured.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        return buffer(secured).then(String, () => "");
      };
      expect(await asked("PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n")).toMatch(/\r\n192\.0\.2\.7 true$/);
      expect(await asked("PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n")).toMatch(/\r\n2001:db8::7 true$/);
      expect(await asked("PROXY UNKNOWN\r\n")).toMatch(/127\.0\.0\.1 true$/);
      expect(await asked("")).toBe("");
      await listening.close();
    },
  );

  describe.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])("%s", (version) => {
    let running: RunningService;
    const agents: Agent[] = [];
    const tls = (): NonNullable<ServeOptions["tls"]> => ({ cert: server.cert, key: server.key, ca: [ca.pem], requestCert: true });
    const agent = (name?: string, keepAlive = false): Agent => {
      const identity = name === undefined ? {} : { cert: clients[name]?.cert ?? "", key: clients[name]?.key ?? "" };
      const made = new Agent({ ca: ca.pem, ...identity, minVersion: version, maxVersion: version, keepAlive, maxSockets: 1 });
      agents.push(made);
      return made;
    };

    beforeAll(async () => {
      clock.set(Date.now());
      running = await startService(
        service,
        {},
        { serve, listen: { port: 0, tls: tls() }, clock, random: systemRandom, log, version: "0" },
      );
    });
    afterEach(() => {
      clock.set(Date.now());
      revoked.clear();
      revocationKnown = true;
      for (const made of agents.splice(0)) made.destroy();
    });
    afterAll(() => running.stop());

    test("a good certificate is its identity", async () => {
      const { status, body } = await get(agent("good"), running.port);
      expect([status, body]).toEqual([200, { id: "ada", org: "org-a", type: "user", serial: clients["good"]?.serial }]);
    });

    test("a service certificate is a service", async () => {
      expect((await get(agent("service"), running.port)).body).toMatchObject({ id: "billing", type: "service" });
    });

    test.each([
      [undefined, "MTLS_REQUIRED", "certificate required", undefined],
      ["expired", "CERT_EXPIRED", "certificate expired", undefined],
      ["other CA", "CERT_UNTRUSTED", "untrusted certificate", "unknown issuer"],
      ["self-signed", "CERT_UNTRUSTED", "untrusted certificate", "unknown issuer"],
      ["future", "CERT_UNTRUSTED", "untrusted certificate", "not yet valid"],
      ["wrong usage", "CERT_UNTRUSTED", "untrusted certificate", "wrong extended key usage"],
      ["no organisation", "CERT_UNTRUSTED", "untrusted certificate", "no organisation"],
      ["two organisations", "CERT_UNTRUSTED", "untrusted certificate", "no organisation"],
      ["no name", "CERT_UNTRUSTED", "untrusted certificate", "no common name"],
    ])("certificate: %s", async (name, code, message, reason) => {
      const { status, body } = await get(agent(name), running.port);
      expect(status).toBe(401);
      expect(body.error).toEqual({ code, message, details: reason === undefined ? {} : { reason } });
    });

    test("a bad certificate is refused on an optional route too, none is not", async () => {
      expect((await get(agent("expired"), running.port, "/maybe")).status).toBe(401);
      expect((await get(agent(), running.port, "/maybe")).body).toEqual({ id: null });
    });

    test("revocation is honoured by the next request on an open connection", async () => {
      const open = agent("good", true);
      const first = await get(open, running.port);
      revoked.add(clients["good"]?.serial ?? "");
      const second = await get(open, running.port);
      expect(second.socket).toBe(first.socket);
      expect([first.status, second.status]).toEqual([200, 401]);
      expect(second.body.error).toMatchObject({ code: "CERT_UNTRUSTED", details: { reason: "revoked" } });
    });

    test("revocation is honoured on a resumed session", async () => {
      const resuming = agent("good");
      const answers = [await get(resuming, running.port), await get(resuming, running.port)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers[1]?.reused).toBe(true);
      revoked.add(clients["good"]?.serial ?? "");
      const third = await get(resuming, running.port);
      expect(third.reused).toBe(true);
      expect(third.status).toBe(401);
    });

    test("a certificate that expires while the connection is open is refused", async () => {
      const open = agent("good", true);
      expect((await get(open, running.port)).status).toBe(200);
      clock.advance(2 * DAY);
      expect((await get(open, running.port)).body.error).toMatchObject({ code: "CERT_EXPIRED" });
    });

    test("revocation that is not known is no admission", async () => {
      revocationKnown = false;
      expect((await get(agent("good"), running.port)).status).toBe(500);
    });

    test("the live connections of a certificate can be dropped", async () => {
      const [good, other] = [agent("good", true), agent("service", true)];
      const dropped = await get(good, running.port);
      const kept = await get(other, running.port);
      const closed = new Promise((resolve) => dropped.socket.once("close", resolve));
      const count = running.server.destroySockets((peer) => peer?.der !== undefined && Buffer.from(peer.der).equals(der("good")));
      await closed;
      expect(count).toBe(1);
      expect((await get(other, running.port)).socket).toBe(kept.socket);
    });

    test("a new secure context is for new connections, and ends the tickets of before", async () => {
      const resuming = agent("good");
      await get(resuming, running.port);
      const renewed = await ca.issue("CN=localhost", { usage: "server" });
      running.server.setSecureContext({ ...tls(), cert: renewed.cert, key: renewed.key });
      const { serverSerial, reused, status } = await get(resuming, running.port);
      expect([reused, status]).toEqual([false, 200]);
      expect(serverSerial).toBe(renewed.serial.replaceAll(":", ""));
      running.server.setSecureContext(tls());
    });

    test("a trust store that loses its CA trusts its certificates no more", async () => {
      running.server.setSecureContext({ ...tls(), ca: [otherCa.pem] });
      expect((await get(agent("good"), running.port)).body.error).toMatchObject({ code: "CERT_UNTRUSTED" });
      running.server.setSecureContext(tls());
    });
  });
});

function der(name: string): Buffer {
  const lines = (clients[name]?.cert ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  return Buffer.from(lines.join(""), "base64");
}
