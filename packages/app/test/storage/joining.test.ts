import { openMemoryStore } from "@seneschal/adapters/memory";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterEach, expect, test } from "vitest";
import { storageSchema } from "../../src/storage/schema.ts";
import { type ClusterRig, openCluster } from "./cluster-rig.ts";

let rig: ClusterRig | undefined;
afterEach(() => rig?.dispose());

test("a node that joins while another one opens is heard by it: each reaches the other's devices", async () => {
  const memory = openMemoryStore(storageSchema);
  let opening = (): void => {};
  let goOn = (): void => {};
  const begun = new Promise<void>((resolve) => (opening = resolve));
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const store: DocumentStore = {
    ...memory,
    async get(coll, id) {
      // Of a node that opens, once it has looked at the cluster.
      if (coll === "storage_counters" && id === "shards-n2") {
        opening();
        await held;
      }
      return memory.get(coll, id);
    },
  };
  rig = await openCluster(["n1"], { plaintext: true, devices: 1, store });
  const second = rig.start("n2");
  await begun;
  const third = await rig.start("n3");
  goOn();
  const nodes = [rig.node("n1"), await second, third];
  for (const { cluster, devices } of nodes) {
    const known = Object.keys(cluster.state.devices);
    expect(known).toHaveLength(nodes.length);
    expect(known.filter((id) => devices.get(id) === undefined)).toEqual([]);
  }
});
