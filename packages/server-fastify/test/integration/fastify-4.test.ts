/** The plugin in an application of Fastify 4. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { httpSuite } from "@seneschal/contract/testing";
import { type Listener, listener } from "@seneschal/server-node";
import type { fastify as Fastify } from "fastify";
import { describe, expect, test } from "vitest";
import { plugin } from "../../src/index.ts";

const module = fileURLToPath(new URL("../../../../.peers/hosts/node_modules/fastify/", import.meta.url));
const installed = existsSync(module);
if (!installed) console.warn("no Fastify 4 (tools/install-peers.sh): the plugin is not registered in it");
const fastify = (installed ? createRequire(import.meta.url)(module) : undefined) as typeof Fastify;

/** What Fastify refuses itself before the service is asked. */
const NOT_OF_A_PLUGIN = new Set([
  "QUERY is a method like any other",
  "no content type is refused",
  "an invalid content type is refused",
  "a malformed percent escape is refused",
  "an escape that is not UTF-8 is refused",
  "a malformed escape in an unknown path is not found",
]);

describe.skipIf(!installed).each([
  ["/services/keys", "/services/keys"],
  ["/services/:tenant/keys/", "/services/acme/keys"],
])("registered at %s, Fastify 4 answers the shared case table", (prefix, basePath) => {
  httpSuite({
    test: (name, body) => test.skipIf(NOT_OF_A_PLUGIN.has(name))(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    basePath,
    async serve(dispatch, options) {
      let below: Listener | undefined;
      const app = fastify({
        serverFactory(handler) {
          below = listener(handler, dispatch, { port: 0, ...options });
          return below.server;
        },
      });
      await app.register(plugin, { prefix, dispatch });
      await app.ready();
      return (below as unknown as Listener).listen();
    },
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});
