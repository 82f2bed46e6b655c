/** A storage node, a tenant with an access key, and an object that an S3 client puts and reads. */
import { createHash, randomBytes } from "node:crypto";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { buildService } from "@seneschal/app";
import { storageService } from "@seneschal/app/storage";
import { client } from "@seneschal/contract";
import { storageContract } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";

const token = randomBytes(32).toString("base64url");
const sha256 = createHash("sha256").update(token).digest("hex");
const storage = await buildService(storageService("./data", { serveS3 }), {
  database: { kind: "memory" },
  cluster: { kind: "memory" },
  vault: { passphrase: "for an example" },
  admin: { tokens: [{ id: "ada", role: "cluster-admin", sha256 }] },
  s3: { port: 0 },
});
await storage.start();

// The admin interface makes the tenant and its key.
const server = await serve(storage.dispatch, { port: 0 });
const admin = client(storageContract, { baseUrl: server.url, fetch, headers: { authorization: `Bearer ${token}` } });
await admin.createTenant({ body: { tenant_id: "acme" } });
const { access_key: accessKeyId, secret_key: secretAccessKey } = await admin.createCredential({
  params: { tenant_id: "acme" },
  body: {},
});

const s3 = new S3Client({
  endpoint: storage.listeners()["s3"] ?? "",
  region: "us-east-1",
  forcePathStyle: true,
  credentials: { accessKeyId, secretAccessKey },
});
await s3.send(new CreateBucketCommand({ Bucket: "reports" }));
await s3.send(new PutObjectCommand({ Bucket: "reports", Key: "q3.txt", Body: "up" }));
const { Body } = await s3.send(new GetObjectCommand({ Bucket: "reports", Key: "q3.txt" }));
const text = await Body?.transformToString();
console.log(text); // up

s3.destroy();
await server.close();
await storage.stop();
if (text !== "up") throw new Error("the object should be read");
