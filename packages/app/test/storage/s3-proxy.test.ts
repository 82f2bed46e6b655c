import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as secure } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeCa } from "./grpc-rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

const Bucket = "seen";
/** What the bucket shows to nobody in particular who comes from here. */
const inside = "192.0.2.7";
const Policy = JSON.stringify({
  Version: "2012-10-17",
  Statement: [
    {
      Effect: "Allow",
      Principal: "*",
      Action: "s3:GetObject",
      Resource: `arn:aws:s3:::${Bucket}/*`,
      Condition: { IpAddress: { "aws:SourceIp": "192.0.2.0/24" } },
    },
  ],
});

let plain: S3Rig;
let tls: S3Rig;
let direct: S3Rig;
let ca = "";
beforeAll(async () => {
  const authority = await storeCa("S3 CA");
  ca = authority.pem;
  const { cert, key } = await authority.issue("CN=localhost", { names: ["localhost"] });
  direct = await openS3Rig({ gateway: { proxyProtocol: (address) => address === "203.0.113.9" } });
  plain = await openS3Rig({ rig: direct.rig, gateway: { proxyProtocol: () => true } });
  tls = await openS3Rig({ rig: direct.rig, gateway: { proxyProtocol: () => true, tls: { cert, key } } });
  await direct.client().send(new sdk.CreateBucketCommand({ Bucket }));
  await direct.client().send(new sdk.PutObjectCommand({ Bucket, Key: "a", Body: "the object" }));
  await direct.client().send(new sdk.PutBucketPolicyCommand({ Bucket, Policy }));
});
afterAll(async () => {
  await Promise.all([plain.gateway.close(), tls.gateway.close()]);
  await direct.dispose();
});

const ask = `GET /${Bucket}/a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
const from = (address: string) => `PROXY TCP4 ${address} 192.0.2.1 56324 443\r\n`;

/** The status of an answer; nothing, where the connection ends without one. */
async function statusOf(socket: Socket): Promise<string> {
  socket.on("error", () => undefined);
  const answer = await buffer(socket).catch(() => Buffer.alloc(0));
  return answer.toString("latin1").split(" ")[1] ?? "";
}
function overTcp(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  for (const piece of pieces) socket.write(piece);
  return statusOf(socket);
}
async function overTls(port: number, header: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(header);
  const secured = secure({ socket, ca, servername: "localhost" });
  secured.write(ask);
  return statusOf(secured);
}

test("a balancer says who is behind it, and that is whom policies of buckets judge", async () => {
  const { port } = plain.gateway;
  expect(await overTcp(port, from(inside), ask)).toBe("200");
  expect(await overTcp(port, `${from(inside)}${ask}`)).toBe("200");
  expect(await overTcp(port, from("198.51.100.7"), ask)).toBe("403");
  expect(await overTcp(port, "PROXY UNKNOWN\r\n", ask)).toBe("403");
});

test("within TLS too", async () => {
  expect(await overTls(tls.gateway.port, from(inside))).toBe("200");
  expect(await overTls(tls.gateway.port, from("198.51.100.7"))).toBe("403");
});

test("a connection of a balancer that does not say it gets no answer, and what others say of themselves is not believed", async () => {
  expect(await overTcp(plain.gateway.port, ask)).toBe("");
  expect(await overTcp(plain.gateway.port, "PROXY TCP4 192.0.2 192.0.2.1 1 2\r\n", ask)).toBe("");
  expect(await overTcp(direct.gateway.port, from(inside), ask)).toBe("400");
});
