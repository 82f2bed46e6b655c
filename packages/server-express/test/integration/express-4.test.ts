/** The middleware in an application of Express 4. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { httpSuite, sampleService } from "@seneschal/contract/testing";
import { listener } from "@seneschal/server-node";
import type { Express } from "express";
import { describe, expect, test } from "vitest";
import { middleware } from "../../src/index.ts";

const module = fileURLToPath(new URL("../../../../.peers/hosts/node_modules/express/", import.meta.url));
const installed = existsSync(module);
if (!installed) console.warn("no Express 4 (tools/install-peers.sh): the middleware is not mounted in it");
const express = (installed ? createRequire(import.meta.url)(module) : undefined) as () => Express;

/** Express 4 takes a doubled slash behind the path of a mount for one. */
const ONE_SLASH = "a doubled slash is another path";

describe.skipIf(!installed).each([
  ["/", ""],
  ["/services/keys", "/services/keys"],
  ["/services/:tenant/keys", "/services/acme/keys"],
])("mounted at %s, Express 4 answers the shared case table", (path, basePath) => {
  httpSuite({
    test: (name, body) => test.skipIf(basePath !== "" && name === ONE_SLASH)(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    basePath,
    serve(dispatch, options) {
      const app = express();
      app.disable("x-powered-by");
      app.use(path, middleware(dispatch));
      return listener(app, dispatch, { port: 0, ...options }).listen();
    },
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test.skipIf(!installed)("in Express 4 what is not the service's is left to the routes behind it", async () => {
  const app = express();
  app.use("/services", middleware(sampleService(), { unmatched: "next" }));
  app.get("/services/own", (_, response) => void response.send("own"));
  const server = await listener(app, sampleService(), { port: 0 }).listen();
  expect(await (await fetch(`${server.url}/services/own`)).text()).toBe("own");
  expect((await fetch(`${server.url}/services/widgets/health`)).headers.get("x-request-id")).not.toBeNull();
  await server.close();
});
