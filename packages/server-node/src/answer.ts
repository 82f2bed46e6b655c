import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TLSSocket } from "node:tls";
import { type BodyReader, checkArgument, type Dispatch, type Incoming, situation, type WireResponse } from "@seneschal/contract";
import { peerOf } from "./peer.ts";
import { addressOf } from "./proxy-protocol.ts";
import { brokenBy, hostOf } from "./request-head.ts";

/** Answers one request of a Node server through the dispatcher. Never rejects; a connection that breaks is let go. */
export async function answer(
  dispatch: Dispatch,
  request: IncomingMessage,
  response: ServerResponse,
  place: Place,
): Promise<void> {
  checkArgument("dispatch", dispatch, "function");
  checkArgument("request", request, "object");
  checkArgument("response", response, "object");
  checkArgument("place", place, "object");
  try {
    await write(await dispatch(incoming(request, response, place)), response);
  } catch {
    // Either the caller is gone or the reply broke off in the middle: the caller must not take it for a whole one.
    response.destroy();
  }
}

/** Where a request goes: its whole target, and what of it the application keeps for itself. */
export interface Place extends Required<Pick<Incoming, "target" | "basePath">> {
  /** Default: that the connection to this server is encrypted. */
  readonly secure?: boolean;
}

/** The place of a request to a service whose paths begin at the root, or below a fixed path. */
export function placeOf({ url }: IncomingMessage, basePath = ""): Place {
  return { target: url ?? "", basePath };
}

/** A request of a Node server as the dispatcher takes it. */
export function incoming(request: IncomingMessage, response: ServerResponse, place: Place): Incoming {
  checkArgument("request", request, "object");
  checkArgument("response", response, "object");
  checkArgument("place", place, "object");
  const { target, basePath, secure = request.socket instanceof TLSSocket } = place;
  const peer = peerOf(request.socket);
  const broken = brokenBy(request, target);
  return {
    method: request.method ?? "GET",
    target,
    ...(broken === undefined ? {} : { broken }),
    basePath,
    headers: headersOf(request, target),
    body: bodyReader(request),
    remoteAddress: addressOf(request.socket),
    secure,
    ...(peer === undefined ? {} : { peer }),
    onClose: (callback) => {
      response.once("close", () => {
        if (!response.writableFinished) callback();
      });
    },
  };
}

/** Node joins the lines of every header itself but for `set-cookie`. */
function headersOf(request: IncomingMessage, target: string): Incoming["headers"] {
  const { headers } = request;
  const host = hostOf(request, target);
  const cookies = headers["set-cookie"];
  if (cookies === undefined && host === headers.host) return headers as Incoming["headers"];
  return { ...headers, host, ...(cookies && { "set-cookie": cookies.join(", ") }) } as Incoming["headers"];
}

/** What a body parser of the host application may have left on the request, if one came before. */
interface Parsed {
  readonly body?: unknown;
  /** The bytes, as parsers keep them for those who check signatures. */
  readonly rawBody?: unknown;
}

/** The bytes that a parser before us read: a stream can be read once only. Throws when they are lost. */
function alreadyRead({ rawBody, body }: Parsed, limit: number): Uint8Array | undefined {
  const kept = rawBody ?? body;
  const bytes = typeof kept === "string" ? Buffer.from(kept) : kept;
  if (bytes instanceof Uint8Array) return bytes.length > limit ? undefined : bytes;
  throw new Error(
    "a body parser of the application has read this request before the service: mount the service first, or keep the bytes in request.rawBody",
  );
}

function bodyReader(request: IncomingMessage): BodyReader {
  return (limit) =>
    new Promise((resolve, reject) => {
      if (request.readableDidRead) {
        resolve(alreadyRead(request as Parsed, limit));
        return;
      }
      if (request.destroyed) {
        reject(situation("invalid_request", "the body ended early"));
        return;
      }
      if (Number(request.headers["content-length"] ?? 0) > limit) {
        resolve(undefined);
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      const stop = (): void => {
        request.off("data", take).off("end", end).off("close", lost).off("error", lost);
      };
      const take = (chunk: Buffer): void => {
        size += chunk.length;
        chunks.push(chunk);
        if (size <= limit) return;
        stop();
        request.resume();
        resolve(undefined);
      };
      const end = (): void => {
        stop();
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
      };
      const lost = (): void => {
        stop();
        reject(situation("invalid_request", "the body ended early"));
      };
      request.on("data", take).on("end", end).on("close", lost).on("error", lost);
    });
}

/**
 * The headers of a reply on a response that the application may have put some on already: its cookies stay beside the service's, and so
 * does what it varies by; of any other header the service's word counts.
 */
export function beside(
  headers: WireResponse["headers"],
  present: (name: string) => number | string | readonly string[] | undefined,
): Readonly<Record<string, string | string[]>> {
  checkArgument("headers", headers, "object");
  checkArgument("present", present, "function");
  const cookies = headers["set-cookie"] === undefined ? undefined : present("set-cookie");
  const vary = headers["vary"] === undefined ? undefined : present("vary");
  if (cookies === undefined && vary === undefined) return headers;
  const merged: Record<string, string | string[]> = { ...headers };
  if (cookies !== undefined) merged["set-cookie"] = [cookies, headers["set-cookie"] ?? ""].flat().map(String);
  if (vary !== undefined) merged["vary"] = [vary, headers["vary"]].flat().join(", ");
  return merged;
}

async function write({ status, headers: own, body }: WireResponse, response: ServerResponse): Promise<void> {
  const headers = beside(own, (name) => response.getHeader(name));
  if (body instanceof Uint8Array) {
    const sized = status === 204 || status === 304 || "content-length" in headers;
    response.writeHead(status, sized ? headers : Object.assign({ "content-length": body.length }, headers));
    // Node sends head and text in one packet, head and bytes in two: a small body goes as the text that has the same bytes.
    if (body.length <= 16_384) response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), "latin1");
    else response.end(body);
    return;
  }
  response.writeHead(status, headers).flushHeaders();
  await pipeline(Readable.from(body, { objectMode: false }), response);
}
