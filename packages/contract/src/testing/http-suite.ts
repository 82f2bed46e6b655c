import { utf8Decode } from "@seneschal/kernel";
import type { Dispatch } from "../dispatcher.ts";
import type { ServeOptions } from "../serve.ts";
import { type HttpCase, httpCases, requestBytes } from "./http-cases.ts";
import { sampleService } from "./sample-service.ts";

/** What the suite needs from its runner. */
export interface HttpSuiteRunner {
  test(name: string, body: () => Promise<void>): void;
  /** The path below which `serve` mounts the service; cases that are about connections are left out then. */
  readonly basePath?: string;
  /** Deep equality; throws when it does not hold. */
  equal(actual: unknown, expected: unknown, message: string): void;
  /** Serves on a loopback socket; a request has `requestTimeout` milliseconds to arrive, where given. */
  serve(
    dispatch: Dispatch,
    options: Pick<ServeOptions, "requestTimeout">,
  ): Promise<{ readonly port: number; close(): Promise<void> }>;
  /** Sends bytes on a fresh connection and resolves with all that came back when the server closes it. */
  exchange(port: number, bytes: Uint8Array): Promise<Uint8Array>;
}

/** A response as read from the socket; `date` is left out. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Runs the shared case table against a server binding, over sockets. Both servers run it; so can any third one. */
export function httpSuite({ test, equal, serve, exchange, basePath = "" }: HttpSuiteRunner): void {
  for (const one of httpCases) {
    if (basePath !== "" && one.raw !== undefined) continue;
    test(one.name, async () => {
      const server = await serve(sampleService(), one.requestTimeout === undefined ? {} : { requestTimeout: one.requestTimeout });
      try {
        check(one, parseResponse(await exchange(server.port, requestBytes(one, basePath))), equal, basePath);
      } finally {
        await server.close();
      }
    });
  }
}

function check(one: HttpCase, response: RawResponse, equal: HttpSuiteRunner["equal"], basePath: string): void {
  equal(response.status, one.status, `status; body: ${response.body.slice(0, 300)}`);
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true && response.body !== "";
  const body = isJson ? (JSON.parse(response.body) as unknown) : response.body;
  if (one.reply !== undefined) equal(body, one.reply, "body");
  for (const [name, value] of Object.entries(one.replyHeaders ?? {}))
    equal(response.headers[name], value?.replaceAll("{base}", basePath), `header ${name}`);
  if (one.code === undefined) return;
  const { error } = body as { error: { code: string; message: string; details: { issues?: { path: string }[] } } };
  equal(Object.keys(body as object), ["error"], "the error shape");
  equal(Object.keys(error), ["code", "message", "details"], "the error shape");
  equal(error.code, one.code, "error code");
  equal(typeof error.message === "string" && error.message.length > 0, true, "error message");
  equal(typeof error.details === "object" && error.details !== null, true, "error details are an object");
  if (one.issues !== undefined)
    equal(
      error.details.issues?.map((issue) => issue.path),
      one.issues,
      "issues",
    );
}

/** Reads the last response of a connection (an interim 1xx before it is skipped). */
export function parseResponse(bytes: Uint8Array): RawResponse {
  const text = utf8Decode(bytes);
  const end = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(line.split(" ")[1]);
  if (status >= 100 && status < 200) return parseResponse(bytes.subarray(end + 4));
  const headers = Object.fromEntries(
    lines.map(
      (header) => [header.slice(0, header.indexOf(":")).toLowerCase(), header.slice(header.indexOf(":") + 1).trim()] as const,
    ),
  );
  delete headers["date"];
  const rest = text.slice(end + 4);
  return { status, headers, body: headers["transfer-encoding"] === "chunked" ? unchunk(rest) : rest };
}

function unchunk(text: string): string {
  let body = "";
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (!(size > 0)) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
  }
}
