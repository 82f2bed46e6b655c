import { utf8Encode } from "@seneschal/kernel";

/** One request as bytes on the wire and everything that must be true of the answer. */
export interface HttpCase {
  readonly name: string;
  readonly method?: string;
  readonly target?: string;
  /** `undefined` leaves a default header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
  /** Instead of all above: the bytes as they are. */
  readonly raw?: string;
  /** Milliseconds that the request may take to arrive; default: the server's. */
  readonly requestTimeout?: number;
  readonly status: number;
  /** Wire code of the error body. */
  readonly code?: string;
  /** The whole JSON or text body. */
  readonly reply?: unknown;
  /** Paths of `details.issues`. */
  readonly issues?: readonly string[];
  /** Response headers; `undefined`: must be absent, `{base}`: the base path of the service. */
  readonly replyHeaders?: Readonly<Record<string, string | undefined>>;
}

const good = { authorization: "Bearer good" };
const json = { "content-type": "application/json" };
const post = { method: "POST", target: "/widgets", headers: { ...good, ...json } };
const long = "a".repeat(150);
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** The shared case table: what Express and Fastify would answer differently by themselves, and the order of refusals. */
export const httpCases: readonly HttpCase[] = [
  // Paths
  { name: "a trailing slash is another path", target: "/widgets/health/", status: 404, code: "NOT_FOUND" },
  { name: "an upper-case path is another path", target: "/Widgets/health", status: 404, code: "NOT_FOUND" },
  { name: "a doubled slash is another path", target: "//widgets/health", status: 404, code: "NOT_FOUND" },
  { name: "an escaped static segment is another path", target: "/%77idgets/health", status: 404, code: "NOT_FOUND" },
  { name: "a dot segment is not resolved", target: "/widgets/../widgets/health", status: 404, code: "NOT_FOUND" },
  { name: "a parameter of 150 characters arrives", target: `/echo/${long}`, status: 200, reply: { value: long } },
  { name: "a parameter of 12,000 characters arrives", target: `/echo/${"b".repeat(12_000)}`, status: 200 },
  { name: "a percent-encoded parameter is decoded once", target: "/echo/a%2Fb%2520c", status: 200, reply: { value: "a/b%20c" } },
  { name: "a UTF-8 parameter is decoded", target: "/echo/gr%C3%BCezi", status: 200, reply: { value: "grüezi" } },
  { name: "a malformed percent escape is refused", target: "/echo/%zz", status: 400, code: "BAD_REQUEST" },
  { name: "an escape that is not UTF-8 is refused", target: "/echo/%ff", status: 400, code: "BAD_REQUEST" },
  { name: "an escaped NUL is refused", target: "/echo/a%00b", status: 400, code: "BAD_REQUEST" },
  { name: "a malformed escape in an unknown path is not found", target: "/nowhere/%zz", status: 404, code: "NOT_FOUND" },
  { name: "an empty parameter is not found", target: "/echo/", status: 404, code: "NOT_FOUND" },
  { name: "the static segment wins over the parameter", target: "/widgets/health", status: 200, reply: { ok: true } },
  { name: "the absolute form is the same path", target: "http://example.test/widgets/health", status: 200, reply: { ok: true } },
  { name: "a fragment is cut", target: "/widgets/health#x", status: 200, reply: { ok: true } },
  { name: "a parameter that breaks its schema cannot exist", target: "/fail/nohow", status: 404, code: "NOT_FOUND" },
  { name: "an unknown route has the error shape", target: "/nowhere", status: 404, code: "NOT_FOUND" },

  // Methods
  {
    name: "a wrong method names the right ones",
    method: "PATCH",
    target: "/widgets/health",
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    replyHeaders: { allow: "GET, HEAD, OPTIONS" },
  },
  {
    name: "a method of the parameter beside a static path is not its own",
    method: "DELETE",
    target: "/widgets/health",
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    replyHeaders: { allow: "GET, HEAD, OPTIONS" },
  },
  {
    name: "PUT on a collection names its methods",
    method: "PUT",
    target: "/widgets",
    headers: json,
    body: "{}",
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    replyHeaders: { allow: "OPTIONS, POST" },
  },
  { name: "OPTIONS answers Allow", method: "OPTIONS", target: "/widgets", status: 204, replyHeaders: { allow: "OPTIONS, POST" } },
  { name: "OPTIONS of an unknown route is not found", method: "OPTIONS", target: "/nowhere", status: 404, code: "NOT_FOUND" },
  { name: "a method that frameworks do not know", method: "PURGE", target: "/widgets", status: 405, code: "METHOD_NOT_ALLOWED" },
  { name: "QUERY is a method like any other", method: "QUERY", target: "/nowhere", status: 404, code: "NOT_FOUND" },
  {
    name: "HEAD is GET without the body",
    method: "HEAD",
    target: "/widgets/health",
    status: 200,
    reply: "",
    replyHeaders: { "content-length": "11", "content-type": "application/json; charset=utf-8" },
  },
  { name: "HEAD of a failure has no body", method: "HEAD", target: "/nowhere", status: 404, reply: "" },
  { name: "HEAD of a stream has no body", method: "HEAD", target: "/stream", status: 200, reply: "" },

  // Query
  { name: "a repeated key is a list", target: "/echo/x?list=a&list=b", status: 200, reply: { value: "x", list: ["a", "b"] } },
  { name: "a single key is a list of one", target: "/echo/x?list=a", status: 200, reply: { value: "x", list: ["a"] } },
  { name: "bracket keys are flat", target: "/echo/x?a[b]=1", status: 200, reply: { value: "x", flat: "1" } },
  { name: "plus is a blank", target: "/echo/x?list=a+b%2B", status: 200, reply: { value: "x", list: ["a b+"] } },
  {
    name: "an unknown query key is named",
    target: "/echo/x?limt=3",
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["query.limt"],
  },
  {
    name: "a query key of a route without any is named",
    target: "/text?x=1",
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["query.x"],
  },
  {
    name: "a number out of range is refused",
    target: "/echo/x?n=10",
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["query.n"],
  },
  { name: "a number is decimal digits", target: "/echo/x?n=0x5", status: 400, code: "VALIDATION_ERROR", issues: ["query.n"] },
  { name: "an empty number is no zero", target: "/echo/x?n=", status: 400, code: "VALIDATION_ERROR", issues: ["query.n"] },
  { name: "a repeated scalar is refused", target: "/echo/x?n=1&n=2", status: 400, code: "VALIDATION_ERROR", issues: ["query.n"] },
  { name: "__proto__ in the query is an unknown key", target: "/echo/x?__proto__=1", status: 400, code: "VALIDATION_ERROR" },
  { name: "a malformed escape in the query", target: "/echo/x?list=%zz", status: 400, code: "BAD_REQUEST" },

  // Bodies
  { ...post, name: "a widget is made", body: '{"name":"bolt"}', status: 201, reply: { id: "w1", name: "bolt" } },
  { ...post, name: "a byte order mark is refused", body: '\ufeff{"name":"bolt"}', status: 400 },
  { ...post, name: "a field that is there twice is refused", body: '{"name":"bolt","name":"nut"}', status: 400 },
  {
    ...post,
    name: "a media type built on JSON is another media type",
    headers: { ...good, "content-type": "application/merge-patch+json" },
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    ...post,
    name: "utf-8 may be named",
    headers: { ...good, "content-type": 'application/json; charset="UTF-8"' },
    body: '{"name":"x"}',
    status: 201,
  },
  {
    ...post,
    name: "another charset is refused",
    headers: { ...good, "content-type": "application/json; charset=latin1" },
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    ...post,
    name: "no content type is refused",
    headers: good,
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    ...post,
    name: "another media type is refused",
    headers: { ...good, "content-type": "text/plain" },
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    ...post,
    name: "an invalid content type is refused",
    headers: { ...good, "content-type": "garbage" },
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    ...post,
    name: "a content encoding is refused",
    headers: { ...good, ...json, "content-encoding": "gzip" },
    body: '{"name":"x"}',
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  { ...post, name: "an empty body where one is required", status: 400, code: "VALIDATION_ERROR", issues: ["body"] },
  { ...post, name: "no body and no content type", headers: good, status: 400, code: "VALIDATION_ERROR", issues: ["body"] },
  { ...post, name: "a scalar is not an object", body: "1", status: 400, code: "VALIDATION_ERROR", issues: ["body"] },
  { ...post, name: "null is not an object", body: "null", status: 400, code: "VALIDATION_ERROR", issues: ["body"] },
  { ...post, name: "malformed JSON", body: '{"name":', status: 400, code: "BAD_REQUEST" },
  { ...post, name: "bytes that are not UTF-8", body: new Uint8Array([0x22, 0xff, 0x22]), status: 400, code: "BAD_REQUEST" },
  {
    ...post,
    name: "a __proto__ key",
    body: '{"name":"x","__proto__":{"admin":true}}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.__proto__"],
  },
  {
    ...post,
    name: "a disguised __proto__ key",
    body: '{"name":"x","__pr\\u006fto__":1}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.__proto__"],
  },
  {
    ...post,
    name: "an unpaired surrogate",
    body: '{"name":"\\ud800"}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.name"],
  },
  { ...post, name: "a NUL", body: '{"name":"\\u0000"}', status: 400, code: "VALIDATION_ERROR", issues: ["body.name"] },
  {
    ...post,
    name: "a number beyond all numbers",
    body: '{"name":1e999}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.name"],
  },
  {
    ...post,
    name: "unknown fields are named, all of them",
    body: '{"name":"x","nmae":1,"b":2}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.nmae", "body.b"],
  },
  {
    ...post,
    name: "every issue is reported",
    body: '{"name":"","tags":["a",1]}',
    status: 400,
    code: "VALIDATION_ERROR",
    issues: ["body.name", "body.tags[1]"],
  },
  { ...post, name: "a missing field is named", body: "{}", status: 400, code: "VALIDATION_ERROR", issues: ["body.name"] },
  { ...post, name: "64 levels are read", body: nested(64), status: 400, code: "VALIDATION_ERROR", issues: ["body"] },
  { ...post, name: "65 levels are not", body: nested(65), status: 400, code: "BAD_REQUEST" },
  { ...post, name: "a body of 64 KiB is read", body: `{"name":"${"x".repeat(65_525)}"}`, status: 201 },
  {
    ...post,
    name: "one byte more is too large",
    body: `{"name":"${"x".repeat(65_526)}"}`,
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  { name: "a route has its own limit", method: "POST", target: "/small", headers: json, body: '{"a":"12345678"}', status: 204 },
  {
    name: "beyond its own limit",
    method: "POST",
    target: "/small",
    headers: json,
    body: '{"a":"123456789"}',
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  {
    name: "a chunked body is limited by what arrives",
    raw: 'POST /small HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n11\r\n{"a":"123456789"}\r\n0\r\n\r\n',
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  {
    name: "a chunked body is read",
    raw: 'POST /small HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n4\r\n:""}\r\n0\r\n\r\n',
    status: 204,
  },
  { name: "an optional body may be absent", method: "POST", target: "/touch", status: 200, reply: { note: null } },
  {
    name: "an optional body may be empty JSON type",
    method: "POST",
    target: "/touch",
    headers: json,
    status: 200,
    reply: { note: null },
  },
  {
    name: "an optional body is still checked",
    method: "POST",
    target: "/touch",
    headers: json,
    body: '{"n":1}',
    status: 400,
    code: "VALIDATION_ERROR",
  },
  { name: "a body that nobody asked for is ignored", method: "POST", target: "/ignore", headers: json, body: "{", status: 204 },
  { name: "a body of a GET is ignored", target: "/text", headers: json, body: "{", status: 200 },
  {
    name: "DELETE with a JSON content type and no body",
    method: "DELETE",
    target: "/widgets/w1",
    headers: { ...good, ...json },
    status: 204,
    reply: "",
  },
  {
    name: "a binary body",
    method: "POST",
    target: "/upload",
    headers: { "content-type": "application/octet-stream" },
    body: new Uint8Array([0, 255]),
    status: 200,
    reply: { bytes: 2 },
  },
  {
    name: "a binary body of another type",
    method: "POST",
    target: "/upload",
    headers: json,
    body: "{}",
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    name: "a compressed body on an unknown route is not found",
    method: "POST",
    target: "/nowhere",
    headers: { ...json, "content-encoding": "gzip" },
    body: "x",
    status: 404,
    code: "NOT_FOUND",
  },

  // The order of refusals
  {
    name: "without a credential 401 comes before validation",
    method: "POST",
    target: "/widgets",
    headers: json,
    body: "{",
    status: 401,
    code: "UNAUTHENTICATED",
    replyHeaders: { "www-authenticate": "Bearer" },
  },
  {
    name: "a wrong credential is 401",
    target: "/widgets/w1",
    headers: { authorization: "Bearer wrong" },
    status: 401,
    code: "UNAUTHENTICATED",
  },
  {
    name: "403 comes before validation",
    method: "POST",
    target: "/widgets",
    headers: { authorization: "Bearer weak", ...json },
    body: "{",
    status: 403,
    code: "FORBIDDEN",
  },
  { name: "another's entity is not found", target: "/widgets/foreign", headers: good, status: 404, code: "NOT_FOUND" },
  {
    name: "the rate limit comes before authorisation",
    target: "/widgets/w1",
    headers: { authorization: "Bearer flood" },
    status: 429,
    code: "RATE_LIMITED",
    replyHeaders: { "retry-after": "3", "ratelimit-limit": "10" },
  },
  {
    name: "413 needs a credential first",
    method: "POST",
    target: "/widgets",
    headers: json,
    body: "x".repeat(1_100_000),
    status: 401,
    code: "UNAUTHENTICATED",
  },

  // Failures
  {
    name: "a coded error leaves with its details",
    target: "/fail/conflict",
    status: 409,
    reply: { error: { code: "CONFLICT", message: "already there", details: { id: "w1" } } },
  },
  {
    name: "a bug is opaque",
    target: "/fail/bug",
    status: 500,
    reply: { error: { code: "INTERNAL_ERROR", message: "internal error", details: {} } },
  },
  {
    name: "a code outside the table is opaque",
    target: "/fail/unknown-code",
    status: 500,
    reply: { error: { code: "INTERNAL_ERROR", message: "internal error", details: {} } },
  },
  {
    name: "a reply that breaks its schema does not leave",
    target: "/fail/bad-reply",
    status: 500,
    reply: { error: { code: "INTERNAL_ERROR", message: "internal error", details: {} } },
  },
  {
    name: "a temporary failure says when to return",
    target: "/fail/later",
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    replyHeaders: { "retry-after": "3" },
  },

  // Replies
  {
    name: "text",
    target: "/text",
    status: 200,
    reply: "grüezi\n",
    replyHeaders: { "content-type": "text/plain; charset=utf-8", "content-length": "8" },
  },
  {
    name: "a download has a safe name",
    target: "/file",
    status: 200,
    reply: "a,b\n",
    replyHeaders: {
      "content-disposition": `attachment; filename="gr__e _1_.csv"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.csv`,
    },
  },
  { name: "a stream", target: "/stream", status: 200, reply: "ABC", replyHeaders: { "content-length": undefined } },
  { name: "no entity tag unless the route has one", target: "/widgets/health", status: 200, replyHeaders: { etag: undefined } },
  {
    name: "a path in a header is of the service, another address is not",
    target: "/links",
    status: 200,
    replyHeaders: {
      location: "{base}/widgets/w1",
      "content-location": "//elsewhere.test/widgets",
      link: '<{base}/echo/next?list=a>; rel="next", <https://elsewhere.test/x>; rel="help"',
      "set-cookie": "session=1; Path={base}/widgets; HttpOnly",
    },
  },
  { name: "an entity tag", target: "/versioned", status: 200, reply: { version: 7 }, replyHeaders: { etag: '"v7"' } },
  {
    name: "If-None-Match with the tag",
    target: "/versioned",
    headers: { "if-none-match": '"x", W/"v7"' },
    status: 304,
    reply: "",
    replyHeaders: { etag: '"v7"' },
  },
  { name: "If-None-Match with another tag", target: "/versioned", headers: { "if-none-match": '"v6"' }, status: 200 },
  {
    name: "If-None-Match: * without a tag",
    target: "/widgets/health",
    headers: { "if-none-match": "*" },
    status: 200,
    reply: { ok: true },
  },
  {
    name: "every reply names its request, is not cached, not sniffed, and tells nothing of the server",
    target: "/widgets/health",
    status: 200,
    replyHeaders: {
      "x-request-id": "generated-id",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-powered-by": undefined,
      server: undefined,
    },
  },
  {
    name: "a sane request id is echoed",
    target: "/nowhere",
    headers: { "x-request-id": "abc-123.~_" },
    status: 404,
    replyHeaders: { "x-request-id": "abc-123.~_" },
  },
  {
    name: "an insane request id is replaced",
    target: "/nowhere",
    headers: { "x-request-id": "a b" },
    status: 404,
    replyHeaders: { "x-request-id": "generated-id" },
  },

  // Connection level
  {
    name: "bytes that are not HTTP",
    raw: "hello\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
    replyHeaders: { "x-request-id": "generated-id" },
  },
  {
    name: "two host headers",
    raw: "GET /widgets/health HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "two host headers of one host",
    raw: "GET /widgets/health HTTP/1.1\r\nhost: x\r\nhost: x\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "two host headers beside a target in absolute form, and before HTTP/1.1",
    raw: "GET http://x/widgets/health HTTP/1.0\r\nhost: x\r\nhost: y\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "a host header that is no host",
    raw: "GET /widgets/health HTTP/1.1\r\nhost: x y\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "a host header with a user",
    raw: "GET /widgets/health HTTP/1.1\r\nhost: u@x\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "a target in absolute form that names nobody",
    raw: "GET http:///widgets/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "an empty host header",
    raw: "GET /widgets/health HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n",
    status: 200,
    reply: { ok: true },
  },
  {
    name: "the host of a target in absolute form is the host, whatever the header says",
    method: "POST",
    target: "http://example.test/ignore",
    headers: { cookie: "session=1", origin: "http://example.test" },
    status: 204,
  },
  {
    name: "an origin that is the host header's alone is another site beside a target in absolute form",
    method: "POST",
    target: "http://example.test/ignore",
    headers: { cookie: "session=1", origin: "http://localhost" },
    status: 403,
    code: "FORBIDDEN",
  },
  { name: "no host header", raw: "GET /widgets/health HTTP/1.1\r\nconnection: close\r\n\r\n", status: 400, code: "BAD_REQUEST" },
  {
    name: "two lengths",
    raw: "POST /touch HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "length and chunks together",
    raw: "POST /touch HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "headers beyond 16 KiB",
    raw: `GET /text HTTP/1.1\r\nhost: x\r\nx-big: ${"a".repeat(20_000)}\r\n\r\n`,
    status: 431,
    code: "BAD_REQUEST",
  },
  {
    name: "a head that stops half-way",
    raw: "GET /text HTTP/1.1\r\nhost: x\r\nx-more",
    requestTimeout: 100,
    status: 408,
    reply: { error: { code: "BAD_REQUEST", message: "the request did not arrive in time", details: {} } },
  },
  {
    name: "a body that stops half-way",
    raw: "POST /widgets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    requestTimeout: 100,
    status: 408,
    reply: { error: { code: "BAD_REQUEST", message: "the request did not arrive in time", details: {} } },
  },
  {
    name: "bytes beyond ASCII in the target",
    raw: "GET /echo/\u00e9 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "two credentials",
    raw: "GET /widgets/w1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\nAuthorization: Bearer good\r\nconnection: close\r\n\r\n",
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    name: "two media types",
    raw: 'POST /widgets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer good\r\ncontent-type: application/json\r\ncontent-type: text/plain\r\ncontent-length: 12\r\nconnection: close\r\n\r\n{"name":"x"}',
    status: 400,
    code: "BAD_REQUEST",
  },
  { name: "HTTP/0.9 is refused", raw: "GET /widgets/health\r\n\r\n", status: 400, code: "BAD_REQUEST" },
  { name: "HTTP/0.9 by its number is refused", raw: "GET /widgets/health HTTP/0.9\r\n\r\n", status: 400, code: "BAD_REQUEST" },
  { name: "HTTP/1.0 is answered", raw: "GET /widgets/health HTTP/1.0\r\n\r\n", status: 200, reply: { ok: true } },
];

/** The bytes of a case's request to a service below a base path; the server is asked to close behind it. */
export function requestBytes(one: HttpCase, basePath = ""): Uint8Array {
  if (one.raw !== undefined) return utf8Encode(one.raw);
  const body = typeof one.body === "string" ? utf8Encode(one.body) : (one.body ?? new Uint8Array());
  const headers = {
    host: "localhost",
    connection: "close",
    ...(one.body === undefined ? {} : { "content-length": String(body.length) }),
    ...one.headers,
  };
  const head = Object.entries(headers)
    .map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`))
    .join("");
  const target = (one.target ?? "/").replace(/^(?:https?:\/\/[^/]*)?/, (origin) => origin + basePath);
  const start = utf8Encode(`${one.method ?? "GET"} ${target} HTTP/1.1\r\n${head}\r\n`);
  const bytes = new Uint8Array(start.length + body.length);
  bytes.set(start);
  bytes.set(body, start.length);
  return bytes;
}
