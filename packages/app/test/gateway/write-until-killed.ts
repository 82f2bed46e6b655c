/** A gateway that creates workspaces and rotates their keys, printing each acknowledged change, until it is killed. */
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import { openLevelRigStore } from "./level-store.ts";
import { openRig } from "./rig.ts";

const [path = "", round = ""] = process.argv.slice(2);
const store = await openLevelRigStore(path);
const unseal = { kind: "key", key: new Uint8Array(32).fill(5) } as const;
const vault = await openEmbeddedVault({
  store,
  crypto: nodeCrypto,
  random: systemRandom,
  clock: settableClock(Date.now()),
  unseal,
});
const rig = await openRig({ store, vault });
await rig.gateway.start?.();
const acme = rig.admin("acme");
await Promise.all(
  [1, 2, 3, 4].map(async (writer) => {
    for (let i = 0; ; i++) {
      const { body } = await acme("POST", "/api/v1/workspaces", { name: `w ${round} ${writer} ${i}` });
      console.log(`${body.id} 1`);
      await acme("POST", `/api/v1/workspaces/${body.id}/rotate-dek`);
      console.log(`${body.id} 2`);
    }
  }),
);
