/** A storage node whose objects a gRPC client puts and reads, in plaintext on this machine alone; across machines it takes certificates. */
import { openDataChannel, openObjectClient } from "@seneschal/adapters/grpc-storage";
import { buildService } from "@seneschal/app";
import { storageService } from "@seneschal/app/storage";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";

const storage = await buildService(storageService("./data", { serveS3, serveGrpc }), {
  database: { kind: "memory" },
  cluster: { kind: "memory", peer_address: "127.0.0.1:0" },
  vault: { passphrase: "for an example" },
  admin: { tokens: [] },
  s3: { port: 0 },
  grpc: { address: "127.0.0.1:0", insecure: true },
});
await storage.start();
const address = storage.listeners()["data"] ?? "";

const tenants = openDataChannel("seneschal.storage.v1.TenantKeyService", { address });
await tenants.ask("Create", { tenant: "acme" });

const objects = openObjectClient({ address });
await objects.createBucket("reports", "acme");
const name = { tenant: "acme", bucket: "reports", key: "q3.txt" };
await objects.put(name, new Blob(["up"]).stream());
let text = "";
for await (const bytes of objects.get(name)) text += new TextDecoder().decode(bytes);
console.log(text); // up

objects.close();
tenants.close();
await storage.stop();
if (text !== "up") throw new Error("the object should be read");
