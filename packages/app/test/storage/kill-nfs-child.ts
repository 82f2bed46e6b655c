import { openLogger } from "@seneschal/adapters/logging";
import { serveNfs } from "@seneschal/server-nfs";
import { openNfs } from "../../src/storage/files/open-nfs.ts";
import { nfsSettings } from "../../src/storage/files/settings.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { openDiskNode } from "./kill-child.ts";
import { operator, storageAuthorisation } from "./rig.ts";

/** As a child: a node on disk that exports a bucket as `/data`; prints its port. Nothing becomes durable by itself. */
const [, , directory = ""] = process.argv;
const { node } = await openDiskNode(directory);
await node.tenants.create("alpha", { dedup: true }, operator).catch(() => undefined);
await createBucket(node.objects, "alpha", "bucket", "us-east-1");
node.start();
const one = { path: "/data", tenant: "alpha", bucket: "bucket", clients: ["127.0.0.1"], read_only: false, uid: 1000, gid: 1000 };
const { port } = await openNfs({
  config: nfsSettings.parse({ port: 0, write_back_delay: "1h", exports: [one] }),
  node,
  serveNfs,
  log: openLogger({ level: "silent" }),
  authorisation: await storageAuthorisation(),
});
process.stdout.write(`${port}\n`);
