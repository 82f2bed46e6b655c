import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

const domain = "s3.example.org";
const websiteDomain = "web.example.org";
let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig({ gateway: { domain, websiteDomain } });
  const client = s3.client();
  for (const Bucket of ["photos", "other"]) {
    await client.send(new sdk.CreateBucketCommand({ Bucket }));
    await client.send(new sdk.PutObjectCommand({ Bucket, Key: "k", Body: Bucket }));
    const Statement = [{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/*` }];
    await client.send(new sdk.PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: "2012-10-17", Statement }) }));
  }
});
afterAll(() => s3.dispose());

/** What bytes on a connection are answered: status, error code or body. */
async function answer(head: string): Promise<string> {
  const socket = connect(s3.gateway.port, "127.0.0.1");
  socket.end(`${head}connection: close\r\n\r\n`);
  const text = (await buffer(socket)).toString();
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
  return `${status} ${/<Code>(\w+)/.exec(text)?.[1] ?? text.split("\r\n\r\n")[1] ?? ""}`;
}

const [photos, other] = [`photos.${domain}`, `other.${domain}`];
const refused = "400 BadRequest";

test.each([
  ["one host", `GET /k HTTP/1.1\r\nhost: ${photos}\r\n`, "200 photos"],
  ["two hosts", `GET /k HTTP/1.1\r\nhost: ${photos}\r\nHost: ${other}\r\n`, refused],
  ["one host twice", `GET /k HTTP/1.1\r\nhost: ${photos}\r\nhost: ${photos}\r\n`, refused],
  ["two hosts before HTTP/1.1", `GET /k HTTP/1.0\r\nhost: ${photos}\r\nhost: ${other}\r\n`, refused],
  ["two hosts of a write", `PUT /k HTTP/1.1\r\nhost: ${photos}\r\nhost: ${other}\r\ncontent-length: 0\r\n`, refused],
  ["two hosts of a preflight", `OPTIONS /k HTTP/1.1\r\nhost: ${photos}\r\nhost: ${other}\r\norigin: http://a\r\n`, refused],
  ["two hosts of a page", `GET /k HTTP/1.1\r\nhost: photos.${websiteDomain}\r\nhost: other.${websiteDomain}\r\n`, refused],
  ["two hosts in absolute form", `GET http://${photos}/k HTTP/1.1\r\nhost: ${photos}\r\nhost: ${photos}\r\n`, refused],
  ["no host", "GET /photos/k HTTP/1.1\r\n", refused],
  ["no host before HTTP/1.1", "GET /photos/k HTTP/1.0\r\n", "200 photos"],
  ["a host that is none", `GET /k HTTP/1.1\r\nhost: ${photos}/x\r\n`, refused],
  ["a host that would end a field of a log", 'GET /photos/k HTTP/1.1\r\nhost: h"o st\r\n', refused],
  ["a host with a user", `GET /k HTTP/1.1\r\nhost: u@${photos}\r\n`, refused],
  ["two credentials", `GET /k HTTP/1.1\r\nhost: ${photos}\r\nauthorization: AWS a:b\r\nauthorization: AWS a:b\r\n`, refused],
  ["absolute form", `GET http://${photos}/k HTTP/1.1\r\nhost: ${photos}\r\n`, "200 photos"],
  ["absolute form beside another host", `GET http://${photos}/k HTTP/1.1\r\nhost: ${other}\r\n`, "200 photos"],
  ["absolute form of a path beside a host", `GET http://127.0.0.1/other/k HTTP/1.1\r\nhost: ${photos}\r\n`, "200 other"],
  ["absolute form that names nobody", `GET http:///k HTTP/1.1\r\nhost: ${photos}\r\n`, refused],
  ["absolute form with a user", `GET http://u:p@${photos}/k HTTP/1.1\r\nhost: ${photos}\r\n`, refused],
])("%s", async (_, head, expected) => {
  expect(await answer(head)).toBe(expected);
});
