import type { Server as HttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Dispatch, Incoming, WireResponse } from "@seneschal/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { serve } from "../src/index.ts";
import { acceptProxies, addressOf, readProxyHeader } from "../src/proxy-protocol.ts";

const SIGNATURE = "0d0a0d0a000d0a515549540a";
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const text = (line: string): Buffer => Buffer.from(line, "latin1");

/** The examples of the protocol's own text, and what HAProxy 2.6 sends. */
const headers: readonly (readonly [what: string, bytes: Buffer, address: string | undefined])[] = [
  ["TCP4 in text", text("PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n"), "192.0.2.7"],
  ["TCP6 in text", text("PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n"), "2001:db8::7"],
  ["the longest in text", text(`PROXY UNKNOWN ${"f".repeat(91)}\r\n`), undefined],
  ["UNKNOWN in text", text("PROXY UNKNOWN\r\n"), undefined],
  ["TCP4", hex(`${SIGNATURE} 21 11 000c c0000207 c0000201 dc04 01bb`), "192.0.2.7"],
  ["TCP6", hex(`${SIGNATURE} 21 21 0024 20010db8${"0".repeat(22)}07 20010db8${"0".repeat(22)}01 dc04 01bb`), "2001:db8::7"],
  ["TCP4 with what follows", hex(`${SIGNATURE} 21 11 0013 c0000207 c0000201 dc04 01bb 04 0004 00000000`), "192.0.2.7"],
  ["the balancer's own check", hex(`${SIGNATURE} 20 00 0000`), undefined],
  ["the balancer's own check, with addresses", hex(`${SIGNATURE} 20 11 000c c0000207 c0000201 dc04 01bb`), undefined],
  ["no family", hex(`${SIGNATURE} 21 00 0000`), undefined],
];

const wrong: readonly (readonly [what: string, bytes: Buffer])[] = [
  ["HTTP", text("GET / HTTP/1.1\r\n")],
  ["TLS", hex("16030102")],
  ["no address", text("PROXY TCP4 192.0.2 192.0.2.1 56324 443\r\n")],
  ["an address of the other family", text("PROXY TCP4 2001:db8::7 192.0.2.1 56324 443\r\n")],
  ["a port that is none", text("PROXY TCP4 192.0.2.7 192.0.2.1 65536 443\r\n")],
  ["a number too many", text("PROXY TCP4 192.0.2.7 192.0.2.1 1 2 3\r\n")],
  ["a family that there is not", text("PROXY UDP4 192.0.2.7 192.0.2.1 1 2\r\n")],
  ["a line that does not end", text(`PROXY UNKNOWN ${"f".repeat(200)}`)],
  ["one byte too many in text", text(`PROXY UNKNOWN ${"f".repeat(92)}\r\n`)],
  ["version 3", hex(`${SIGNATURE} 31 11 000c c0000207 c0000201 dc04 01bb`)],
  ["a command that there is not", hex(`${SIGNATURE} 22 11 000c c0000207 c0000201 dc04 01bb`)],
  ["addresses that are too short", hex(`${SIGNATURE} 21 11 000b c0000207 c0000201 dc04 01`)],
  ["a family without address here", hex(`${SIGNATURE} 21 31 000c c0000207 c0000201 dc04 01bb`)],
  ["more than any balancer sends", hex(`${SIGNATURE} 21 11 ffff`)],
];

describe("the header of the PROXY protocol", () => {
  test.each(headers)("%s is read, and no byte of what follows it", (_, bytes, address) => {
    const header = { kind: "header", length: bytes.length, ...(address === undefined ? {} : { address }) };
    expect(readProxyHeader(bytes)).toEqual(header);
    expect(readProxyHeader(Buffer.concat([bytes, text("GET / HTTP/1.1\r\n")]))).toEqual(header);
  });

  test.each(headers)("%s is waited for while it is not whole", (_, bytes) => {
    for (let length = 0; length < bytes.length; length += 1) expect(readProxyHeader(bytes.subarray(0, length)).kind).toBe("more");
  });

  test.each(wrong)("%s is none", (_, bytes) => {
    expect(readProxyHeader(bytes)).toEqual({ kind: "none" });
  });

  test.each(headers)(
    "%s is taken wherever it is cut, though all of its pieces are there before the first is read",
    async (_, bytes, address) => {
      for (let cut = 1; cut < bytes.length; cut += 1) {
        const server = createServer();
        const begun = new Promise<Socket>((resolve) => server.once("connection", resolve));
        acceptProxies(server as Server & HttpServer, () => true, 600_000);
        const connection = Object.assign(new Duplex({ read: () => undefined }), { remoteAddress: "192.0.2.200" });
        connection.push(bytes.subarray(0, cut));
        connection.push(bytes.subarray(cut));
        connection.push("what follows");
        connection.push(null);
        server.emit("connection", connection);
        const socket = await begun;
        expect(addressOf(socket)).toBe(address ?? "192.0.2.200");
        expect(await buffer(socket)).toEqual(text("what follows"));
      }
    },
  );

  test("whatever the bytes, the verdict is one of three, and never stays open beyond the longest header", () => {
    const starts = fc.constantFrom(Buffer.alloc(0), hex(SIGNATURE), hex(`${SIGNATURE}2111`), text("PROXY "), text("PROXY TCP4 "));
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 64 }), (start, rest) => {
        const bytes = Buffer.concat([start, rest]);
        expect(["more", "header", "none"]).toContain(readProxyHeader(bytes).kind);
        expect(readProxyHeader(Buffer.concat([bytes, Buffer.alloc(2048)])).kind).not.toBe("more");
      }),
    );
  });
});

describe("a server that reads the PROXY protocol of some addresses", () => {
  const dispatch: Dispatch = Object.assign(
    async ({ remoteAddress, target }: Incoming): Promise<WireResponse> => ({
      status: 200,
      headers: {},
      body: Buffer.from(`${target} of ${remoteAddress};`),
    }),
    { serves: () => true },
  );
  const request = "GET /a HTTP/1.1\r\nhost: x\r\n\r\nGET /b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
  const withServer = async (isProxy: boolean, exchange: (port: number) => Promise<string>): Promise<string> => {
    const server = await serve(dispatch, { port: 0, proxyProtocol: () => isProxy });
    try {
      return await exchange(server.port);
    } finally {
      await server.close();
    }
  };
  const sending =
    (...parts: readonly (Buffer | string)[]) =>
    async (port: number): Promise<string> => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      const answer = buffer(socket).catch(() => Buffer.alloc(0));
      for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
      return (await answer).toString();
    };

  test.each(headers)("takes a connection that begins with %s to come from where it says", async (_, bytes, address) => {
    const answer = await withServer(true, sending(Buffer.concat([bytes, text(request)])));
    const from = address ?? "127.0.0.1";
    expect(answer).toMatch(new RegExp(`/a of ${from};[^]*/b of ${from};$`));
  });

  test("reads a header that comes byte by byte", async () => {
    const bytes = [...(headers[0]?.[1] ?? [])].map((byte) => Buffer.from([byte]));
    expect(await withServer(true, sending(...bytes, request))).toContain("/b of 192.0.2.7;");
  });

  test.each(wrong)("closes without a word what begins with %s", async (_, bytes) => {
    expect(await withServer(true, sending(Buffer.concat([bytes, text(request)])))).toBe("");
  });

  test("reads none of other addresses: it is not HTTP there", async () => {
    const [, header = Buffer.alloc(0)] = headers[0] ?? [];
    const answer = await withServer(false, sending(Buffer.concat([header, text(request)])));
    expect(answer).not.toContain("192.0.2.7");
    expect(await withServer(false, sending(request))).toContain("/b of 127.0.0.1;");
  });

  test("closes who waits with the header when it stops", async () => {
    const server = await serve(dispatch, { port: 0, proxyProtocol: () => true, grace: 600_000 });
    const socket = connect(server.port, "127.0.0.1");
    const answer = buffer(socket).catch(() => Buffer.alloc(0));
    await new Promise((resolve) => socket.write("PROXY ", resolve));
    // A second connection is answered behind it: the first has arrived.
    await sending(Buffer.concat([headers[0]?.[1] ?? Buffer.alloc(0), text(request)]))(server.port);
    await server.close();
    expect((await answer).toString()).toBe("");
  });
});
