import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { credentials } from "@grpc/grpc-js";
import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { afterEach, describe, expect, test } from "vitest";
import { adminService, serveAdminService, serveGrpc } from "../src/index.ts";

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

/** A balancer: what it says first on each connection to the server, and the port that clients reach it on. */
async function balancer(port: number, header: Uint8Array | string): Promise<string> {
  const server: Server = createServer((client) => {
    const inner = connect(port, "127.0.0.1");
    inner.write(header);
    client.on("error", () => inner.destroy()).pipe(inner);
    inner.on("error", () => client.destroy()).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  clean.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Behind = (address: string) => boolean;
const loopback: Behind = (address) => address === "127.0.0.1";

/** Each kind of port: it listens, and whoever asks through an address learns where it takes the call to come from. */
const ports: readonly (readonly [
  string,
  (proxyProtocol: Behind) => Promise<{ port: number; ask: (at: string) => Promise<string> }>,
])[] = [
  [
    "storage",
    async (proxyProtocol) => {
      const seen: string[] = [];
      const Status = async ({ peer }: { readonly peer: { readonly address: string } }) => {
        seen.push(peer.address);
        return {};
      };
      const server = await serveGrpc({
        host: "127.0.0.1",
        port: 0,
        proxyProtocol,
        handlers: { "seneschal.storage.v1.PeerService": { Status } },
      });
      clean.push(() => server.close());
      return {
        port: server.port,
        async ask(address) {
          const channel = openDataChannel("seneschal.storage.v1.PeerService", { address });
          clean.push(() => channel.close());
          await channel.ask("Status", {});
          return seen.at(-1) ?? "";
        },
      };
    },
  ],
  [
    "scheduler",
    async (proxyProtocol) => {
      const none = async () => ({});
      const GetUserUsage = async ({ address }: { readonly address: string }) => ({ user: address });
      const server = await serveAdminService({
        host: "127.0.0.1",
        port: 0,
        proxyProtocol,
        handlers: { UpdateTenant: none, GetTenantUsage: none, GetUserUsage },
      });
      clean.push(() => server.close());
      const Client = adminService();
      return {
        port: server.port,
        ask(address) {
          const client = new Client(address, credentials.createInsecure());
          clean.push(() => client.close());
          return new Promise((resolve, reject) =>
            // biome-ignore lint/suspicious/noExplicitAny: a client made from the proto file has no types
            (client as any).GetUserUsage({ user: "a" }, (error: Error | null, reply: { readonly user: string }) =>
              error === null ? resolve(reply.user) : reject(error),
            ),
          );
        },
      };
    },
  ],
];

const second = Buffer.from([
  ...Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1"),
  ...[0x21, 0x11, 0, 12, 192, 0, 2, 7, 192, 0, 2, 1, 0xdc, 4, 1, 0xbb],
]);

describe.each(ports)("the gRPC port of the %s", (_, open) => {
  test.each([
    ["192.0.2.7", "PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n"],
    ["2001:db8::7", "PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n"],
    ["192.0.2.7", second],
  ])("takes a call to come from %s, where its balancer says so", async (address, header) => {
    const { port, ask } = await open(loopback);
    expect(await ask(await balancer(port, header))).toBe(address);
  });

  test("takes it to come from the balancer, where that speaks for itself", async () => {
    const { port, ask } = await open(loopback);
    expect(await ask(await balancer(port, "PROXY UNKNOWN\r\n"))).toMatch(/^127\.0\.0\.1(?::\d+)?$/);
  });

  test("answers nobody whose balancer says nothing, or nothing that can be read, and believes nobody else", async () => {
    const { port, ask } = await open(loopback);
    await expect(ask(`127.0.0.1:${port}`)).rejects.toThrow();
    await expect(ask(await balancer(port, "PROXY TCP4 192.0.2 192.0.2.1 1 2\r\n"))).rejects.toThrow();
    const other = await open(() => false);
    await expect(ask(await balancer(other.port, "PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n"))).rejects.toThrow();
    expect(await other.ask(`127.0.0.1:${other.port}`)).toMatch(/^127\.0\.0\.1(?::\d+)?$/);
  });
});
