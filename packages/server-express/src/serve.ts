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
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { middleware } from "@seneschal/server-express";
 * import express from "express";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * const app = express();
 * app.use("/decisions", middleware(service.dispatch));
 * await service.stop();
 * ```
 */
export function middleware(dispatch: Dispatch, options: MountOptions = {}): RequestHandler {
  checkOptions("options", options, { unmatched: ["answer", "next", undefined] });
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
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { serve } from "@seneschal/server-express";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * await service.start();
 * const server = await serve(service.dispatch, { port: 0 });
 * console.log((await fetch(`${server.url}/health`)).status); // 200
 * await server.close();
 * await service.stop();
 * ```
 */
export async function serve(dispatch: Dispatch, options: ServeOptions): Promise<RunningServer> {
  const app = express();
  const below = listener(app, dispatch, options);
  app.disable("x-powered-by");
  app.use(middleware(dispatch));
  return below.listen();
}
