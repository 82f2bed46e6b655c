/** Routes as data give a server, its OpenAPI document and a typed client. Here all of it on a loopback port. */

import { client, contract, dispatcher, endpoints, type Hooks } from "@seneschal/contract";
import { gatewayErrors } from "@seneschal/contract/gateway";
import { CodedError, isCoded } from "@seneschal/kernel";
import { serve } from "@seneschal/server-fastify";
import * as z from "zod";

const widgets = contract({
  getWidget: {
    method: "GET",
    path: "/widgets/:id",
    summary: "One widget",
    tag: "widgets",
    auth: "public",
    params: z.strictObject({ id: z.string().max(8) }),
    status: 200,
    reply: z.strictObject({ id: z.string(), size: z.int() }),
  },
});
const hooks: Hooks = {
  errors: gatewayErrors,
  now: () => 0,
  requestId: () => "r",
  rateLimit: "off",
  observe: "off",
  onError: (error) => console.error(error),
};
const handlers = {
  getWidget: (_: undefined, { params }: { params: { id: string } }) => {
    if (params.id !== "w1") throw new CodedError("NOT_FOUND", "no such widget");
    return { id: params.id, size: 3 };
  },
};
const server = await serve(dispatcher(endpoints(widgets, handlers, undefined, hooks), hooks), { port: 0 });
const api = client(widgets, { baseUrl: server.url, fetch });
console.log("typed:", (await api.getWidget({ params: { id: "w1" } })).size);
const failure = await api.getWidget({ params: { id: "w2" } }).catch((error: unknown) => error);
console.log("failures are coded:", isCoded(failure, "NOT_FOUND"));
await server.close();
if (!isCoded(failure, "NOT_FOUND")) throw new Error("the missing widget should be NOT_FOUND");
