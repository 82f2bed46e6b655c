import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDevice, type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import { openRemoteDevices } from "@seneschal/adapters/grpc-storage";
import { blobDeviceSuite } from "@seneschal/kernel/testing";
import { serveGrpc } from "@seneschal/server-grpc";
import { describe, expect, test } from "vitest";
import { createDeviceSet } from "../../src/storage/data/devices.ts";
import { fragmentCalls } from "../../src/storage/grpc/node-calls.ts";
import { flipExtent } from "./damage-extent.ts";

/** A directory, served by a node's fragment service, as another node sees it. */
async function place(capacityBytes: number) {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-remote-"));
  const reopen = () => openDirectoryDevice({ id: "d1", directory, capacityBytes });
  const devices = createDeviceSet();
  await devices.add(await reopen());
  const server = await serveGrpc({
    host: "127.0.0.1",
    port: 0,
    handlers: { "seneschal.storage.v1.FragmentService": fragmentCalls(devices, async () => undefined) },
  });
  const remote = openRemoteDevices({ address: `127.0.0.1:${server.port}` });
  const places = new Map<string, StoredExtent>();
  return {
    device: remote.device("d1"),
    async damage(extent: string, bit: number) {
      // Looked up while it is intact.
      const found = places.get(extent) ?? (await storedExtents(directory)).find(({ name }) => name === extent);
      if (found === undefined) throw new Error(`no extent ${extent}`);
      places.set(extent, found);
      await flipExtent(found, bit);
    },
    async reopen() {
      await devices.add(await reopen());
      return remote.device("d1");
    },
    async dispose() {
      remote.close();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

describe("a device of another node", () => {
  blobDeviceSuite({ test, equal: (a, b, message) => expect(a, message).toEqual(b) }, place);
});
