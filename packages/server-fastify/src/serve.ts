import type { Dispatch, RunningServer, ServeOptions } from "@seneschal/contract";
import { answer, type Listener, listener } from "@seneschal/server-node";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";

/**
 * The whole service as a Fastify plugin: every path of its scope goes to the dispatcher, bodies unread. Registered under a prefix
 * it sees the full path, as everywhere.
 */
export async function plugin(app: FastifyInstance, options: { readonly dispatch: Dispatch }): Promise<void> {
  const all = pass(options.dispatch);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.all("*", all);
  app.setNotFoundHandler(all);
  app.setErrorHandler((_error, request, reply) => all(request, reply));
}

/**
 * Serves a dispatcher on Fastify.
 *
 * @example
 * ```ts
 * const server = await serve(dispatch, { port: 0 });
 * console.log(server.url);
 * await server.close();
 * ```
 */
export async function serve(dispatch: Dispatch, options: ServeOptions): Promise<RunningServer> {
  let below: Listener | undefined;
  const app = fastify({
    serverFactory: (handler) => {
      below = listener(handler, dispatch, options);
      return below.server;
    },
    frameworkErrors: (_error, request, reply) => pass(dispatch)(request, reply),
    // The listener below answers what is not HTTP, and shuts down gracefully.
    clientErrorHandler: () => {},
    return503OnClosing: false,
    forceCloseConnections: false,
  });
  await app.register(plugin, { dispatch });
  await app.ready();
  if (below === undefined) throw new Error("Fastify made no server");
  return below.listen();
}

function pass(dispatch: Dispatch): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    void answer(dispatch, request.raw, reply.raw);
  };
}
