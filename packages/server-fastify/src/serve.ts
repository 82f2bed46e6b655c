import { Readable } from "node:stream";
import {
  checkArgument,
  checkOptions,
  type Dispatch,
  type Incoming,
  type MountOptions,
  type RunningServer,
  type ServeOptions,
  type WireResponse,
} from "@seneschal/contract";
import { beside, incoming, type Listener, listener, type Place } from "@seneschal/server-node";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";

export interface PluginOptions extends MountOptions {
  readonly dispatch: Dispatch;
  /** As Fastify takes it; default "": the root. */
  readonly prefix?: string;
}

/**
 * The whole service as a Fastify plugin, at the root or below a prefix: every path of the service, and every path that it names in a reply,
 * begins with the prefix. The application's own routes come first, whatever the order; its hooks see requests and replies, and what they
 * refuse stays refused. Bodies are read by the service, whatever parsers the application has. With `unmatched: "next"` what is not the
 * service's goes to the application's not-found handler.
 *
 * @example
 * ```ts
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { plugin } from "@seneschal/server-fastify";
 * import fastify from "fastify";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * const app = fastify();
 * await app.register(plugin, { prefix: "/decisions", dispatch: service.dispatch });
 * await service.stop();
 * ```
 */
export async function plugin(app: FastifyInstance, options: PluginOptions): Promise<void> {
  checkOptions("options", options, { dispatch: "function", prefix: "string?", unmatched: ["answer", "next", undefined] });
  checkArgument("app", app, "object");
  const { dispatch, unmatched = "answer" } = options;
  const depth = app.prefix.replace(/\/$/, "").split("/").length - 1;
  const handle: Handle = (request, reply) => {
    const place = placeOf(request, depth);
    if (unmatched === "next" && !dispatch.serves(place.target, place.basePath)) reply.callNotFound();
    else void send(dispatch, request, reply, place);
  };
  routeAll(app, handle);
  if (depth > 0) {
    app.all("/", handle);
    // Of methods that Fastify routes nowhere.
    if (unmatched === "answer") app.setNotFoundHandler(handle);
  }
  app.setErrorHandler((error: { readonly code?: string }, request, reply) => {
    if (!UNREADABLE.test(error.code ?? "") || reply.sent) throw error;
    // Fastify gave up before hooks of the application had their say: the service only words the refusal.
    const refuse = (wire: Incoming): Promise<WireResponse> => dispatch({ ...wire, broken: "the content type cannot be read" });
    void send(refuse, request, reply, placeOf(request, depth));
  });
}

/** What Fastify makes of a content type that is none. */
const UNREADABLE = /^FST_ERR_(CTP_|ROUTE_MISSING_CONTENT_TYPE)/;

/** Every path of the scope goes to the handler, bodies unread. */
function routeAll(app: FastifyInstance, handle: Handle): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.all("/*", handle);
}

/**
 * Serves a dispatcher on Fastify.
 *
 * @example
 * ```ts
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { serve } from "@seneschal/server-fastify";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * await service.start();
 * const server = await serve(service.dispatch, { port: 0 });
 * console.log((await fetch(`${server.url}/health`)).status); // 200
 * await server.close();
 * await service.stop();
 * ```
 */
export async function serve(dispatch: Dispatch, options: ServeOptions): Promise<RunningServer> {
  let below: Listener | undefined;
  const all: Handle = (request, reply) => void send(dispatch, request, reply, placeOf(request, 0));
  const app = fastify({
    serverFactory: (handler) => {
      below = listener(handler, dispatch, options);
      return below.server;
    },
    frameworkErrors: (_error, request, reply) => all(request, reply),
    // The listener below answers what is not HTTP, and shuts down gracefully.
    clientErrorHandler: () => {},
    return503OnClosing: false,
    forceCloseConnections: false,
  });
  routeAll(app, all);
  app.setNotFoundHandler(all);
  app.setErrorHandler((_error, request, reply) => all(request, reply));
  await app.ready();
  if (below === undefined) throw new Error("Fastify made no server");
  return below.listen();
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => void;

/** The prefix may have parameters: as many segments of the path as it has are the application's. */
function placeOf({ raw: { url = "" }, protocol }: FastifyRequest, depth: number): Place {
  const secure = protocol === "https";
  if (depth === 0) return { target: url, basePath: "", secure };
  const path = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/, "");
  return {
    target: url,
    basePath: path
      .split("/")
      .slice(0, depth + 1)
      .join("/"),
    secure,
  };
}

/** Answers through Fastify, so that the application's hooks see the reply. */
async function send(
  dispatch: (wire: Incoming) => Promise<WireResponse>,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
): Promise<void> {
  const { status, headers, body } = await dispatch(incoming(request.raw, reply.raw, place));
  if (body instanceof Uint8Array && status !== 204 && status !== 304 && !("content-length" in headers))
    reply.header("content-length", body.length);
  reply.code(status).headers(beside(headers, (name) => (name === "set-cookie" ? undefined : reply.getHeader(name))));
  if (body instanceof Uint8Array) {
    reply.send(body.length === 0 ? undefined : isShortJson(headers, body) ? text(body) : bytes(body));
    return;
  }
  // Its head leaves at once: the first piece of a stream may be long in coming.
  reply.raw.once("pipe", () => reply.raw.flushHeaders());
  reply.send(Readable.from(body, { objectMode: false }));
}

/** Node sends head and text in one packet, head and bytes in two; and it is text that hooks look into. */
function isShortJson(headers: WireResponse["headers"], body: Uint8Array): boolean {
  return (
    body.length <= 16_384 &&
    headers["content-encoding"] === undefined &&
    headers["content-type"]?.startsWith("application/json") === true
  );
}

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.length);
const text = (body: Uint8Array): string => bytes(body).toString("utf8");
