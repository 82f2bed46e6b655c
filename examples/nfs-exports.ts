/** A storage node that exports a bucket by NFS, and what a client is told of it. */
import { buildService } from "@seneschal/app";
import { storageService } from "@seneschal/app/storage";
import { openNfsClient, serveNfs } from "@seneschal/server-nfs";
import { serveS3 } from "@seneschal/server-s3";

const bucket = { path: "/reports", tenant: "acme", bucket: "reports", clients: ["127.0.0.1"] };
const storage = await buildService(storageService("./data", { serveS3, serveNfs }), {
  database: { kind: "memory" },
  cluster: { kind: "memory" },
  vault: { passphrase: "for an example" },
  s3: { port: 0 },
  nfs: { port: 0, exports: [bucket] },
});
await storage.start();

const port = Number(storage.listeners()["nfs"]?.split(":").at(-1));
const client = await openNfsClient({ host: "127.0.0.1", port });
const exported = await client.exports();
console.log(exported); // [ { path: '/reports', groups: [ '127.0.0.1' ] } ]

client.close();
await storage.stop();
if (exported[0]?.path !== "/reports") throw new Error("the export should be told");
