import type { IncomingMessage, ServerResponse } from "node:http";
import {
  basePathOf,
  checkArgument,
  checkOptions,
  type Dispatch,
  type MountOptions,
  type RunningServer,
  type ServeOptions,
} from "@seneschal/contract";
import { answer, placeOf } from "./answer.ts";
import { listener } from "./listen.ts";

/** A request handler of `node:http` and `node:https`, and of what takes their handlers; `next` is for what is not the service's. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/**
 * The whole service as a handler for a Node server. Below `basePath` every path of the service, and every path that it names in a
 * reply, begins with that. With `unmatched: "next"` what is not the service's goes to `next`.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { handler } from "@seneschal/server-node";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * const decisions = handler(service.dispatch, { basePath: "/decisions", unmatched: "next" });
 * createServer((request, response) => decisions(request, response, () => response.end("the server's own")));
 * await service.stop();
 * ```
 */
export function handler(dispatch: Dispatch, options: MountOptions & { readonly basePath?: string } = {}): NodeHandler {
  checkOptions("options", options, { unmatched: ["answer", "next", undefined], basePath: "string?" });
  checkArgument("dispatch", dispatch, "function");
  const { unmatched = "answer" } = options;
  const basePath = basePathOf(options.basePath ?? "");
  return (request, response, next) => {
    const place = placeOf(request, basePath);
    if (unmatched === "next" && next !== undefined && !dispatch.serves(place.target, basePath)) next();
    else void answer(dispatch, request, response, place);
  };
}

/** Serves a dispatcher on `node:http` or `node:https` alone. */
export async function serve(dispatch: Dispatch, options: ServeOptions): Promise<RunningServer> {
  const below = listener((request, response) => handle(request, response), dispatch, options);
  const handle = handler(dispatch);
  return below.listen();
}
