import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { type GrpcServerOptions, type GrpcService, grpcServices, storageError } from "@seneschal/core/storage";
import { expect, test } from "vitest";
import { serveAdminService, serveGrpc } from "../src/index.ts";

const port = (handlers: GrpcServerOptions["handlers"], more: Partial<GrpcServerOptions> = {}) =>
  serveGrpc({ host: "127.0.0.1", port: 0, handlers, ...more });

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

test("a failure that nobody foresaw tells nothing of itself; the connections and their bytes are told until the last is gone", async () => {
  const open: number[] = [];
  const bytes: number[] = [];
  const server = await port(
    { "seneschal.storage.v1.PeerService": { Status: () => Promise.reject(new Error("no")) } },
    { onConnections: (count) => open.push(count), onTraffic: ({ received, sent }) => bytes.push(received, sent) },
  );
  const channel = openDataChannel("seneschal.storage.v1.PeerService", { address: `127.0.0.1:${server.port}` });
  await expect(channel.ask("Status", {})).rejects.toMatchObject({ code: "Internal", message: "internal error" });
  expect(open).toEqual([1]);
  channel.close();
  await server.close();
  await expect.poll(() => open).toEqual([1, 0]);
  expect(bytes.every((count) => count > 0)).toBe(true);
  expect(bytes).toHaveLength(2);
});

test("each call is told once it is over, with its status; a failure that is not the client's is told besides", async () => {
  const calls: unknown[] = [];
  const failures: unknown[] = [];
  const broken = new Error("broken");
  const fail = (error: Error) => () => Promise.reject(error);
  const server = await port(
    {
      "seneschal.storage.v1.PeerService": { Status: async () => ({}) },
      "seneschal.storage.v1.LogService": { ShardHealth: fail(storageError("NotFound", "no such shard")) },
      "seneschal.storage.v1.FragmentService": {
        Inspect: fail(broken),
      },
    },
    {
      onCall: ({ seconds, ...call }) => {
        expect(seconds).toBeGreaterThanOrEqual(0);
        calls.push(call);
      },
      onFailure: (error, method) => failures.push([error, method]),
    },
  );
  const at = { address: `127.0.0.1:${server.port}` };
  const asked = async (service: GrpcService, method: string) => {
    const channel = openDataChannel(service, at);
    await channel.ask(method, {}).catch(() => undefined);
    channel.close();
  };
  await asked("seneschal.storage.v1.PeerService", "Status");
  await asked("seneschal.storage.v1.LogService", "ShardHealth");
  await asked("seneschal.storage.v1.FragmentService", "Inspect");
  expect(calls).toEqual([
    { service: "seneschal.storage.v1.PeerService", method: "Status", status: 0 },
    { service: "seneschal.storage.v1.LogService", method: "ShardHealth", status: 5 },
    { service: "seneschal.storage.v1.FragmentService", method: "Inspect", status: 13 },
  ]);
  expect(failures).toEqual([[broken, "Inspect"]]);
  await server.close();
});

test("nothing is served in plaintext beyond the machine itself", async () => {
  await expect(port({}, { host: "0.0.0.0" })).rejects.toThrow("listens on loopback only");
  const none = () => Promise.resolve({});
  const handlers = { UpdateTenant: none, GetTenantUsage: none, GetUserUsage: none };
  await expect(serveAdminService({ host: "0.0.0.0", port: 0, handlers })).rejects.toThrow("listens on loopback only");
});
