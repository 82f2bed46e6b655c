import {
  checkArgument,
  checkOptions,
  type Dispatch,
  type MountOptions,
  type RunningServer,
  type ServeOptions,
} from "@seneschal/contract";
import { answer, listener } from "@seneschal/server-node";
import express, { type RequestHandler } from "express";

/**
 * The whole service as one Express middleware, at the root or below a path: every path of the service, and every path that it names in a
 * reply, begins with the path that it is mounted at. With `unmatched: "next"` what is not the service's goes to the routes behind it.
 * It reads the bytes of bodies itself: a body parser before it must keep them in `request.rawBody` (`express.json({ verify })`); else
 * requests with a body are answered 500 and logged.
 *
 * @example
 * ```ts
 * app.use("/keys", middleware(service.dispatch));
 * ```
 */
export function middleware(dispatch: Dispatch, options: MountOptions = {}): RequestHandler {
  checkOptions("options", options, { unmatched: "string?" });
  const { unmatched = "answer" } = options;
  checkArgument("dispatch", dispatch, "function");
  return (request, response, next) => {
    const { baseUrl: basePath, url } = request;
    // Express takes the path of the mount away, of the absolute form as well.
    const target = basePath === "" ? url : url.replace(/^(?:https?:\/\/[^/?#]*)?/i, (origin) => origin + basePath);
    if (unmatched === "next" && !dispatch.serves(target, basePath)) next();
    else void answer(dispatch, request, response, { target, basePath, secure: request.secure });
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
  const below = listener(app, dispatch, options);
  app.disable("x-powered-by");
  app.use(middleware(dispatch));
  return below.listen();
}
