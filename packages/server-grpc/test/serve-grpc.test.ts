import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { type GrpcFailure, type GrpcServerOptions, type GrpcService, grpcServices } from "@seneschal/core/storage";
import { expect, test } from "vitest";
import { serveAdminService, serveGrpc } from "../src/index.ts";

const failure = (error: unknown): GrpcFailure => ({ code: 13, message: String(error), metadata: { "error-reason": "Internal" } });
const port = (handlers: GrpcServerOptions["handlers"], more: Partial<GrpcServerOptions> = {}) =>
  serveGrpc({ host: "127.0.0.1", port: 0, handlers, failure, ...more });

test.each(grpcServices)("%s is described, and what of it has no handler is UNIMPLEMENTED", async (service) => {
  const server = await port({ [service]: {} });
  const channel = openDataChannel(service, { address: `127.0.0.1:${server.port}` });
  await expect(channel.ask(methods[service], {})).rejects.toMatchObject({ details: { status: 12 } });
  channel.close();
  await server.close();
});

/** A method of each that takes one message and answers with one. */
const methods: Readonly<Record<GrpcService, string>> = {
  "seneschal.storage.v1.ObjectService": "Has",
  "seneschal.storage.v1.StorageAdminService": "ListPools",
  "seneschal.storage.v1.FragmentService": "Usage",
  "seneschal.storage.v1.PeerService": "Status",
  "seneschal.storage.v1.LogService": "ShardHealth",
  "seneschal.storage.v1.KeyManagerService": "Health",
  "seneschal.storage.v1.TenantKeyService": "CheckKmsHealth",
  "grpc.health.v1.Health": "Check",
};

test("a failure is what it is mapped to; the connections and their bytes are told until the last is gone", async () => {
  const open: number[] = [];
  const bytes: number[] = [];
  const server = await port(
    { "seneschal.storage.v1.PeerService": { Status: () => Promise.reject(new Error("no")) } },
    { onConnections: (count) => open.push(count), onTraffic: ({ received, sent }) => bytes.push(received, sent) },
  );
  const channel = openDataChannel("seneschal.storage.v1.PeerService", { address: `127.0.0.1:${server.port}` });
  await expect(channel.ask("Status", {})).rejects.toMatchObject({ code: "Internal", message: "Error: no" });
  expect(open).toEqual([1]);
  channel.close();
  await server.close();
  await expect.poll(() => open).toEqual([1, 0]);
  expect(bytes.every((count) => count > 0)).toBe(true);
  expect(bytes).toHaveLength(2);
});

test("nothing is served in plaintext beyond the machine itself", async () => {
  await expect(port({}, { host: "0.0.0.0" })).rejects.toThrow("listens on loopback only");
  const none = () => Promise.resolve({});
  const handlers = { UpdateTenant: none, GetTenantUsage: none, GetUserUsage: none };
  await expect(serveAdminService({ host: "0.0.0.0", port: 0, handlers })).rejects.toThrow("listens on loopback only");
});
