/**
 * Child process of the fault tests: sixteen callers propose without end; each answered id is printed.
 *
 * usage: propose-loop.ts DIRECTORY|etcd:ENDPOINT,...|DATABASE-URL RUN
 */
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openLevelLog } from "@seneschal/adapters/level";
import { newId, sha256 } from "@seneschal/adapters/log";
import { openPostgresLog } from "@seneschal/adapters/postgres";
import { systemClock } from "@seneschal/adapters/system";
import { openReplicated } from "@seneschal/kernel/log";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { allotment } from "../log/allotment.ts";

const [place = "", run = ""] = process.argv.slice(2);

function open(): Promise<ReplicatedLog> {
  if (place.startsWith("etcd:")) return openEtcdLog({ endpoints: place.slice(5).split(","), prefix: "/propose-loop" });
  if (place.startsWith("postgres:")) return openPostgresLog({ url: place, name: "propose_loop" });
  return openLevelLog({ path: place });
}

const replicated = await openReplicated({
  log: await open(),
  machine: allotment,
  clock: systemClock,
  sha256,
  newId,
  snapshotEvery: 50,
  keepEntries: 100,
  keepMs: 0,
});

async function caller(at: number): Promise<void> {
  for (let n = 0; ; n += 1) {
    const command = {
      id: `${run}-${at}-${n}`,
      kind: n % 2 === 0 ? ("take" as const) : ("give" as const),
      tenant: `t${at}`,
      amount: 2,
    };
    const [answer] = await replicated.propose([command]);
    process.stdout.write(`ack ${command.id} ${String(answer?.result)}\n`);
  }
}

await Promise.all(Array.from({ length: 16 }, (_, at) => caller(at)));
