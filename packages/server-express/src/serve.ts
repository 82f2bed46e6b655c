import type { Dispatch, RunningServer, ServeOptions } from "@seneschal/contract";
import { answer, listener } from "@seneschal/server-node";
import express, { type RequestHandler } from "express";

/**
 * The whole service as one Express middleware, for an application that mounts it beside its own routes. It reads the bytes of bodies
 * itself: a body parser before it must keep them in `request.rawBody` (`express.json({ verify })`); else requests with a body are
 * answered 500 and logged.
 */
export function middleware(dispatch: Dispatch): RequestHandler {
  return (request, response) => {
    request.url = request.originalUrl;
    void answer(dispatch, request, response);
  };
}

/**
 * Serves a dispatcher on Express.
 *
 * @example
 * ```ts
 * const server = await serve(dispatch, { port: 0 });
 * console.log(server.url);
 * await server.close();
 * ```
 */
export async function serve(dispatch: Dispatch, options: ServeOptions): Promise<RunningServer> {
  const app = express();
  app.disable("x-powered-by");
  app.use(middleware(dispatch));
  return listener(app, dispatch, options).listen();
}
