/** Hard quotas on a replicated log: whatever process asks, in whatever order, no tenant gets more than its limit. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openLevelLog } from "@seneschal/adapters/level";
import { newId, sha256 } from "@seneschal/adapters/log";
import { systemClock } from "@seneschal/adapters/system";
import { openReplicated } from "@seneschal/kernel/log";
import { allocationRequest, type Command, quotaMachine } from "@seneschal/quota";

// One process keeps its log in a folder; several machines share one in etcd: ETCD=https://10.0.0.1:2379,https://10.0.0.2:2379,https://10.0.0.3:2379
const folder = await mkdtemp(join(tmpdir(), "quota-"));
const etcd = process.env["ETCD"]?.split(",");
const log = etcd === undefined ? await openLevelLog({ path: folder }) : await openEtcdLog({ endpoints: etcd, prefix: "/quota" });
const quotas = await openReplicated({ log, machine: quotaMachine, clock: systemClock, sha256, newId });

const propose = async (command: Command) => {
  const [answer] = await quotas.propose([command]); // a call that fails is repeated with the same id, and counts once
  if (answer === undefined) throw new Error("each command is answered");
  return answer.result;
};
const submit = (id: string, nodes: number) => {
  const request = allocationRequest({ tenant: "physics", user: "ada", nodes });
  return propose({ kind: "allocation.submit", id, by: "ada", allocation: id, request });
};

await propose({ kind: "tenant.create", id: newId(), by: "root", tenant: "physics", settings: { maxNodes: 2 } });
const [two, three] = [await submit("a1", 2), await submit("a2", 3)];
const again = await submit("a1", 2);
console.log("two nodes:", two.ok, " three:", three.ok ? "taken" : three.message);
console.log("asked again:", again.ok && again.repeat, " allocations:", (await quotas.read()).allocations.size);

await quotas.close();
await log.close();
await rm(folder, { recursive: true });
if (!two.ok || three.ok || three.code !== "quota_exceeded") throw new Error("two nodes are within the limit, three are not");
