import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { httpSuite } from "@seneschal/contract/testing";
import { describe, expect, test } from "vitest";
import { serve } from "../src/index.ts";

describe("Express answers the shared case table", () => {
  httpSuite({
    test: (name, body) => test(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    serve: (dispatch, options) => serve(dispatch, { port: 0, ...options }),
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});
