import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type S3Server, type S3ServerOptions, storageErrorKind } from "@seneschal/core/storage";
import { checkOptions, isCoded } from "@seneschal/kernel";
import { acceptProxies, addressOf, brokenBy, hostOf, originForm } from "@seneschal/server-node";
import { type AccessLogs, openAccessLogs } from "./access-log.ts";
import { actionsOf } from "./actions.ts";
import { authenticateS3 } from "./authenticate.ts";
import { authoriseS3, type BucketPolicies, openBucketPolicies } from "./authorise.ts";
import { headersOf, type S3Reply } from "./call.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { type S3Failure, s3Error, s3Failure } from "./errors.ts";
import { findOperation } from "./find-operation.ts";
import { checkOwner } from "./object-operations.ts";
import { isPostForm, openPostForm } from "./post-form.ts";
import { type Accessed, bytesTold, recordAccess } from "./record-access.ts";
import { requestBody } from "./request-body.ts";
import { withoutSignatureV2 } from "./sigv2.ts";
import { splitTarget } from "./sigv4.ts";
import { servePage } from "./website.ts";
import { xmlDocument } from "./xml.ts";

/**
 * Serves the S3 protocol on a port of its own, buckets in paths or below a domain. Who does not sign reaches what a bucket's policy opens to everybody. Bodies are
 * streamed both ways; a body that fails its checks becomes no object.
 */
export async function serveS3(options: S3ServerOptions): Promise<S3Server> {
  checkOptions("options", options, {
    objects: "function",
    lookUp: "function",
    engine: "object",
    authorise: "function",
    signatureV2: "boolean?",
    clock: "object",
    random: "function",
    host: "string",
    port: "number",
    domain: "string?",
    websiteDomain: "string?",
    tls: "object?",
    proxyProtocol: "function?",
    readTimeoutMs: "number?",
    idleTimeoutMs: "number?",
    maxConnections: "number?",
    accessLogDelayMs: "number?",
    onAccessLog: "function?",
    onRequest: "function?",
    onRefusal: "function?",
    onFailure: "function?",
    onConnections: "function?",
    onTraffic: "function?",
    onConnectionError: "function?",
  });
  const policies = await openBucketPolicies(options.engine);
  const logs = openAccessLogs(options, policies);
  const { tls, readTimeoutMs = 30_000 } = options;
  // A whole request may take as long as its body goes on. Node looks for silent connections every half minute, whatever the time-out is.
  const checked = { headersTimeout: readTimeoutMs, connectionsCheckingInterval: Math.ceil(readTimeoutMs / 10) };
  const timeouts = { keepAliveTimeout: 72_000, requestTimeout: 0, requireHostHeader: false, ...checked };
  const server =
    tls === undefined
      ? createServer(timeouts)
      : createTlsServer({ ...timeouts, ...tls, minVersion: "TLSv1.2", handshakeTimeout: readTimeoutMs });
  const dropWaiting =
    options.proxyProtocol === undefined ? undefined : acceptProxies(server, options.proxyProtocol, readTimeoutMs);
  server.maxConnections = options.maxConnections ?? 4096;
  server.on("drop", () => options.onConnectionError?.("too_many"));
  const serve = (request: IncomingMessage, response: ServerResponse, waits: boolean) => {
    handle({ ...options, policies, logs }, request, response, waits).catch((error: unknown) => {
      options.onFailure?.(error, { operation: "unknown", requestId: "" });
      response.destroy();
    });
  };
  server.on("request", (request, response) => serve(request, response, false));
  // The client waits for a word before it sends its body: it gets it once the request is known to be signed.
  server.on("checkContinue", (request, response) => serve(request, response, true));
  // Another expectation is nobody's here to meet or to miss.
  server.on("checkExpectation", (request, response) => serve(request, response, false));
  watchConnections(server, options);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    port,
    setSecureContext(next) {
      if (tls !== undefined) (server as TlsServer).setSecureContext({ ...next, minVersion: "TLSv1.2" });
    },
    deliverAccessLogs: (all) => logs.deliver(all),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        dropWaiting?.();
      });
      // What cannot be delivered now is lost with the process, and has been told of.
      await logs.deliver(true).catch(() => undefined);
    },
  };
}

async function handle(
  options: S3ServerOptions & { readonly policies: BucketPolicies; readonly logs: AccessLogs },
  request: IncomingMessage,
  response: ServerResponse,
  waits: boolean,
): Promise<void> {
  const { idleTimeoutMs = 60_000, policies, logs } = options;
  const started = performance.now();
  const requestId = Buffer.from(options.random(8)).toString("hex").toUpperCase();
  const address = addressOf(request.socket).replace(/^::ffff:/, "");
  const origin = { principal: "anonymous", address, request_id: requestId };
  const objects = options.objects(origin);
  const method = request.method ?? "";
  const url = request.url ?? "/";
  const target = originForm(url);
  const headers: Readonly<Record<string, string | undefined>> = { ...headersOf(request), host: hostOf(request, url) };
  let operation = "unknown";
  let begun = false;
  const at = options.clock.now();
  const seen: Accessed = { at, requestId, address, started, heard: started, bucket: "", key: "", status: 500 };
  response.setHeader("x-amz-request-id", requestId);
  response.setHeader("server", "seneschal");
  async function* source(): AsyncGenerator<Uint8Array> {
    begun = true;
    if (waits) response.writeContinue();
    yield* incoming(request, idleTimeoutMs);
    seen.heard = performance.now();
  }
  const answer = async (reply: S3Reply): Promise<void> => {
    seen.reply = reply;
    seen.status = reply.status;
    if ((await drain(request, waits && !begun)) !== "read") response.setHeader("connection", "close");
    seen.answered = performance.now();
    seen.sent = await send(response, reply, method, idleTimeoutMs);
  };
  try {
    const now = at;
    const broken = brokenBy(request, url);
    if (broken !== undefined) throw s3Error("BadRequest", broken);
    const { path, query } = splitTarget(target);
    const host = headers["host"] ?? "";
    const site = bucketOfHost(host, options.websiteDomain);
    const hosted = site ?? bucketOfHost(host, options.domain);
    const [, bucket = "", named = ""] =
      hosted === undefined ? (/^\/([^/]*)(?:\/(.*))?$/s.exec(path) ?? []) : [path, hosted, path.slice(1)];
    if (bucket === "" && path !== "/" && path !== "") throw s3Error("InvalidBucketName", "the name of the bucket is empty");
    Object.assign(seen, { bucket, key: named });
    if (bucket !== "" && (headers["origin"] !== undefined || method === "OPTIONS")) {
      const record = await objects.findBucket(bucket);
      if (method === "OPTIONS") {
        operation = "Preflight";
        seen.operation = "REST.OPTIONS.PREFLIGHT";
        return await answer(preflight(record, named === "" ? "BUCKET" : "OBJECT", headers));
      }
      // Told of refusals too: a page is to see why.
      for (const [name, value] of Object.entries(corsHeaders(record, method, headers["origin"] ?? "")))
        response.setHeader(name, value);
    }
    const root = `${options.tls === undefined ? "http" : "https"}://${host}${hosted === undefined ? `/${bucket}` : ""}`;
    const doors = { objects, policies, authorise: options.authorise };
    if (site !== undefined) {
      operation = "Website";
      seen.operation = `WEBSITE.${method}.OBJECT`;
      const secure = options.tls !== undefined;
      const asked = { method, bucket, key: named, query: new Map<string, string>(), headers: pageHeaders(headers), now };
      const reach = authoriseS3(doors, { ...asked, caller: "", access: undefined, operation: reading, address, secure });
      return await answer(await servePage({ ...asked, objects, random: options.random, reach, root, requestId }));
    }
    const { lookUp } = options;
    const signatureV2 = options.signatureV2 === true;
    const contentType = headers["content-type"] ?? "";
    const unsigned = headers["authorization"] === undefined && query.length === 0;
    const form =
      unsigned && isPostForm(method, named, contentType) && bucket !== ""
        ? await openPostForm(source(), contentType, { bucket, lookUp, now, signatureV2 })
        : undefined;
    const proof = form?.proof ?? (await authenticateS3({ method, target, headers, hosted }, lookUp, now, signatureV2));
    const key = form?.key ?? named;
    Object.assign(seen, { key, requester: proof.tenant });
    const asked = findOperation({
      method,
      bucket,
      key,
      query: withoutSignatureV2(query),
      headers: form?.headers ?? headers,
      form: form !== undefined,
    });
    operation = asked.operation.name;
    seen.understood = asked;
    if (proof.tenant === "" && [...asked.query.keys()].some((name) => name.startsWith("response-")))
      throw s3Error("InvalidRequest", "Request specific response headers cannot be used for anonymous GET requests.");
    origin.principal = proof.tenant ?? origin.principal;
    const reach = authoriseS3(doors, {
      caller: proof.tenant,
      access: proof.access,
      method,
      operation: asked.operation,
      bucket,
      key,
      query: asked.query,
      headers: asked.headers,
      now,
      address,
      secure: options.tls !== undefined,
    });
    // Each key of a DeleteObjects is asked for by itself.
    const actions = operation === "DeleteObjects" ? [] : actionsOf(asked.operation, asked.query, asked.headers);
    const tenant = await reach({ bucket, key, actions, version: asked.query.get("versionId") });
    checkOwner(asked.headers, "x-amz-expected-bucket-owner", tenant);
    const hidden = async (error: unknown): Promise<never> => {
      // Who may not list does not learn what is there.
      if (isCoded(error, "NotFound") && proof.tenant !== tenant)
        await reach({ bucket, key: "", actions: ["s3:ListBucket"], prefix: key });
      throw error;
    };
    const run = asked.operation.run({
      objects,
      random: options.random,
      tenant,
      reach,
      mayDeliverLogs: (source, logging) => logs.mayDeliver(objects, source, logging),
      method,
      bucket,
      key,
      query: asked.query,
      headers: asked.headers,
      region: proof.scope.split("/")[1] ?? "",
      root,
      now,
      body: (algorithm) => requestBody(form?.file ?? source(), asked.headers, proof, algorithm),
      ...(form && { form }),
    });
    await answer(await run.catch(hidden));
  } catch (error) {
    const failed = s3Failure(error);
    Object.assign(seen, { status: failed.status, errorCode: failed.code });
    if (failed.ours) options.onFailure?.(error, { operation, requestId });
    const refused = isCoded(error) && (storageErrorKind(error)?.class ?? "security") === "security";
    if (failed.status === 403 && refused) options.onRefusal?.(failed.code);
    const rest = await drain(request, waits && !begun);
    seen.answered ??= performance.now();
    sendFailure(response, failed, error, { method, target, requestId, rest }, request);
    seen.sent ??= bytesTold(response, method);
  } finally {
    const { status, requester: tenant = "" } = seen;
    const seconds = (performance.now() - started) / 1000;
    options.onRequest?.({ operation, status, seconds, ...(tenant !== "" && { tenant }) });
    // Logs are a service to buckets that hears of everything and holds up nothing: what they cannot be told is lost to them.
    const lost = (error: unknown) => options.onAccessLog?.({ bucket: seen.bucket, outcome: "dropped", records: 1, error });
    await logs.afterNoting(recordAccess(logs, objects, { request, headers }, seen).catch(lost));
  }
}

/** What a page is asked of policies as. */
const reading = { name: "GetObject", on: "object" } as const;

/** What a request for a page may say: conditions and ranges. */
function pageHeaders(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(?:if-.*|range|referer|user-agent)$/.test(name)));
}

/** The bucket that a host is called by: what stands before the domain. */
function bucketOfHost(host: string, domain: string | undefined): string | undefined {
  const name = host.toLowerCase().replace(/:\d*$/, "");
  return domain !== undefined && name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : undefined;
}

const drainBytes = 8 * 1024 * 1024;
const drainMs = 5_000;

/** The bytes of a request. Throws `RequestTimeout` when they stand still, `IncompleteBody` when the client has left. */
async function* incoming(request: IncomingMessage, idleMs: number): AsyncGenerator<Uint8Array> {
  // A reader that gives up must not take the connection with it: the answer still has to go out.
  const pieces = (request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const stands = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(s3Error("RequestTimeout", `no byte of the body came for ${idleMs} ms`)), idleMs);
      });
      const next = pieces.next();
      // It is read no more once the time is up; then nobody waits for it.
      next.catch(() => undefined);
      const piece = await Promise.race([next, stands]).catch((error: unknown) => {
        if (isCoded(error)) throw error;
        throw s3Error("IncompleteBody", "the client left before the end of its body", { cause: String(error) });
      });
      clearTimeout(timer);
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** What became of the rest of a body: all of it was read, there is more than is worth reading, or it does not come. */
type Rest = "read" | "more" | "gone";

/**
 * Reads away what is left of a body, so that the client hears the answer and the connection can serve the next request. A client that still
 * waits for leave to send sends nothing.
 */
async function drain(request: IncomingMessage, unsent: boolean): Promise<Rest> {
  if (request.complete && request.readableEnded) return "read";
  if (unsent || request.destroyed) return "gone";
  if (Number(request.headers["content-length"] ?? 0) > 64 * drainBytes) return "more";
  let size = 0;
  try {
    for await (const piece of incoming(request, drainMs)) {
      size += piece.length;
      if (size > drainBytes) return "more";
    }
    return "read";
  } catch {
    return "gone";
  }
}

/** Sends an answer; gives the bytes of its body. */
async function send(response: ServerResponse, reply: S3Reply, method: string, idleMs: number): Promise<number> {
  response.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  const { body } = reply;
  if (body === undefined || method === "HEAD") {
    if (!response.hasHeader("content-length") && reply.status !== 204 && reply.status !== 304)
      response.setHeader("content-length", 0);
    response.end();
    return 0;
  }
  if (typeof body === "string") {
    response.setHeader("content-length", Buffer.byteLength(body));
    response.end(body);
    return Buffer.byteLength(body);
  }
  let sent = 0;
  const bytes = body.bytes[Symbol.asyncIterator]();
  try {
    response.setHeader("content-length", body.length);
    // A failure from here on cuts the connection: the client sees too few bytes, never wrong ones.
    for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
      await written(response, next.value, idleMs);
      if (response.destroyed) return sent;
      sent += next.value.length;
    }
    response.end();
    return sent;
  } finally {
    // What was read ahead has its place in memory until then, whatever was asked for of it.
    await bytes.return?.();
  }
}

/**
 * Resolves when the bytes are with the kernel, after which their memory may be used again, or the client has left; one that takes nothing
 * for `idleMs` is left.
 */
function written(response: ServerResponse, bytes: Uint8Array, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), idleMs);
    const done = () => {
      clearTimeout(timer);
      response.off("close", done);
      resolve();
    };
    response.on("close", done);
    response.write(bytes, done);
    if (response.destroyed) done();
  });
}

function sendFailure(
  response: ServerResponse,
  failed: S3Failure,
  error: unknown,
  facts: { readonly method: string; readonly target: string; readonly requestId: string; readonly rest: Rest },
  request: IncomingMessage,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames())
    if (!["x-amz-request-id", "server", "vary"].includes(name) && !name.startsWith("access-control-"))
      response.removeHeader(name);
  response.statusCode = failed.status;
  for (const [name, value] of Object.entries(failed.headers ?? {})) response.setHeader(name, value);
  if (failed.retryAfter !== undefined) response.setHeader("retry-after", failed.retryAfter);
  if (failed.status === 416 && isCoded(error)) response.setHeader("content-range", `bytes */${String(error.details["size"])}`);
  if (facts.rest !== "read") response.setHeader("connection", "close");
  if (facts.method === "HEAD") {
    response.end();
    return;
  }
  const resource = facts.target.split("?")[0] ?? "/";
  const xml = xmlDocument(
    "Error",
    {
      Code: failed.code,
      Message: failed.message,
      ...(failed.detail !== undefined && { Detail: failed.detail }),
      ...failed.elements,
      Resource: resource,
      RequestId: facts.requestId,
    },
    false,
  );
  response.setHeader("content-type", "application/xml");
  response.setHeader("content-length", Buffer.byteLength(xml));
  if (facts.rest !== "more") {
    response.end(xml);
    return;
  }
  response.write(xml);
  void linger(request).then(() => response.end());
}

const lingerMs = 30_000;

/**
 * Reads on behind an answer that is out: a socket that is closed while bytes come is reset, and a reset takes the answer from a client that
 * sends its whole body before it listens.
 */
async function linger(request: IncomingMessage): Promise<void> {
  const until = performance.now() + lingerMs;
  try {
    for await (const _ of incoming(request, drainMs)) if (performance.now() > until) return;
  } catch {
    // It stands still, or has left: it hears what it heard.
  }
}

function watchConnections(server: Server, { onConnections, onTraffic, onConnectionError }: S3ServerOptions): void {
  const idle = new Set<Socket>();
  let open = 0;
  const show = () => onConnections?.({ open, idle: idle.size });
  server.on("connection", (socket: Socket) => {
    idle.add(socket);
    open += 1;
    show();
    socket.on("error", (error: NodeJS.ErrnoException) => onConnectionError?.(error.code ?? "error"));
    socket.on("close", () => {
      onTraffic?.({ received: socket.bytesRead, sent: socket.bytesWritten });
      idle.delete(socket);
      open -= 1;
      show();
    });
  });
  for (const event of ["request", "checkContinue"] as const)
    server.on(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
      idle.delete(socket);
      show();
      response.on("close", () => {
        if (!socket.destroyed) idle.add(socket);
        show();
      });
    });
}
