import { CodedError } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  contract,
  dispatcher,
  endpoints,
  type Hooks,
  type Idempotency,
  type Incoming,
  type Outcome,
  type Payload,
  requireMatch,
  versionTag,
  type WireResponse,
} from "../src/index.ts";
import { sampleErrors } from "../src/testing/index.ts";

const ada = { id: "ada", type: "user", org: "o", roles: [], scopes: [], method: "token" };
const routes = contract({
  make: {
    method: "POST",
    path: "/make",
    summary: "",
    tag: "",
    auth: "principal",
    action: "thing:make",
    body: z.strictObject({ a: z.unknown() }),
    status: 201,
    reply: z.object({ a: z.unknown() }),
  },
  change: { method: "PUT", path: "/change", summary: "", tag: "", auth: "optional", action: "thing:change", status: 204 },
  stream: { method: "GET", path: "/stream", summary: "", tag: "", auth: "public", status: 200, produces: "text/plain" },
  report: {
    method: "POST",
    path: "/report",
    summary: "",
    tag: "",
    auth: "principal",
    action: "thing:report",
    status: 200,
    reply: z.object({ rows: z.array(z.int()) }),
    streamed: true,
  },
});

interface Log {
  readonly errors: unknown[];
  readonly outcomes: Outcome[];
  readonly order: string[];
}

function service(more: Partial<Hooks> = {}, act: (order: string[]) => unknown = () => ({ a: 1 }), payload?: Payload) {
  const log: Log = { errors: [], outcomes: [], order: [] };
  const hooks: Hooks = {
    errors: sampleErrors,
    now: () => 1,
    requestId: () => "r1",
    authenticate: () => {
      log.order.push("authenticate");
      return ada;
    },
    rateLimit: () => {
      log.order.push("rate limit");
      return undefined;
    },
    authorise: () => {
      log.order.push("authorise");
    },
    observe: () => (outcome) => log.outcomes.push(outcome),
    onError: (error) => log.errors.push(error),
    ...more,
  };
  const handlers = {
    make: () => act(log.order) as never,
    change: (_: undefined, { request }: { request: { headers: Readonly<Record<string, string | undefined>> } }) =>
      requireMatch(request.headers, versionTag(7)),
    stream: () => payload ?? { body: "" },
    report: () => payload ?? { body: "" },
  };
  return { dispatch: dispatcher(endpoints(routes, handlers, undefined, hooks), hooks), log };
}

const post = (body: Incoming["body"], headers = {}): Incoming => ({
  method: "POST",
  target: "/make",
  headers: { "content-type": "application/json", ...headers },
  body,
  remoteAddress: "127.0.0.1",
});
const text = (response: WireResponse) => Buffer.from(response.body as Uint8Array).toString();
const json = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)));

describe("an endpoint", () => {
  test("authenticates, counts, authorises, and only then reads the body", async () => {
    const { dispatch, log } = service({}, (order) => {
      order.push("handle");
      return { a: 1 };
    });
    const body = async () => {
      log.order.push("read");
      return json({ a: 1 });
    };
    expect((await dispatch(post(body))).status).toBe(201);
    expect(log.order).toEqual(["authenticate", "rate limit", "authorise", "read", "handle"]);
  });

  test("a refused caller's body is never read", async () => {
    for (const refuse of ["unauthenticated", "forbidden"] as const) {
      let read = false;
      const throws = () => {
        throw new CodedError(refuse, "no");
      };
      const { dispatch } = service(refuse === "forbidden" ? { authorise: throws } : { authenticate: throws });
      await dispatch(
        post(async () => {
          read = true;
          return json({});
        }),
      );
      expect(read).toBe(false);
    }
  });

  test("a reply's fields that its schema does not name do not leave", async () => {
    const { dispatch } = service({}, () => ({ a: 1, secret: "hunter2" }));
    expect(text(await dispatch(post(json({ a: 1 }))))).toBe('{"a":1}');
  });

  test("an error of ours is logged with its cause and shown without", async () => {
    const bug = new Error("hunter2");
    const { dispatch, log } = service({}, () => {
      throw bug;
    });
    const response = await dispatch(post(json({ a: 1 })));
    expect(text(response)).not.toContain("hunter2");
    expect(log.errors).toEqual([bug]);
    expect(log.outcomes).toEqual([{ status: 500, principal: ada, code: "INTERNAL_ERROR" }]);
  });

  test("hooks that fail are errors of ours, not open doors", async () => {
    for (const hook of ["authenticate", "authorise", "rateLimit"] as const) {
      const { dispatch, log } = service({
        [hook]: () => {
          throw new Error("hook is broken");
        },
      });
      expect((await dispatch(post(json({ a: 1 })))).status).toBe(500);
      expect(log.order).not.toContain("handle");
    }
  });

  test("a stream that breaks is logged and breaks off for the caller", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array([1]);
      throw new Error("disk gone");
    }
    const { dispatch, log } = service({}, undefined, { body: broken() });
    const response = await dispatch({ ...post(new Uint8Array()), method: "GET", target: "/stream" });
    const read = async () => {
      for await (const _ of response.body as AsyncIterable<Uint8Array>);
    };
    await expect(read()).rejects.toThrow("disk gone");
    expect(log.errors).toMatchObject([{ message: "disk gone" }]);
  });

  test("If-Match lets the named version pass and refuses every other", async () => {
    const { dispatch } = service();
    const put = (tag?: string) =>
      dispatch({ ...post(new Uint8Array(), tag === undefined ? {} : { "if-match": tag }), method: "PUT", target: "/change" });
    expect((await put()).status).toBe(204);
    expect((await put("*")).status).toBe(204);
    expect((await put(`"x", ${versionTag(7)}`)).status).toBe(204);
    expect((await put(versionTag(6))).status).toBe(412);
    expect((await put('W/"v7"')).status).toBe(412);
  });

  test("any bytes at all are answered below 500, in the error shape", async () => {
    const { dispatch } = service();
    const nasty = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.json().map((value) => new Uint8Array(Buffer.from(value))),
      fc.string({ unit: "binary" }).map((value) => json(value)),
    );
    await fc.assert(
      fc.asyncProperty(nasty, fc.string(), fc.string(), async (body, target, contentType) => {
        const known = await dispatch(
          post(body, { "content-type": contentType.startsWith("a") ? "application/json" : contentType }),
        );
        expect(known.status).toBeLessThan(500);
        const unknown = await dispatch({ ...post(body), target });
        expect(unknown.status).toBeLessThan(500);
        if (unknown.status >= 400) expect(JSON.parse(text(unknown))).toMatchObject({ error: { code: expect.any(String) } });
      }),
    );
  });
});

describe("an idempotency key", () => {
  function remembering() {
    const answers = new Map<string, Awaited<ReturnType<Parameters<Idempotency["run"]>[1]>>>();
    const idempotency: Idempotency = {
      async run(request, work) {
        const id = `${request.principal} ${request.routeId} ${request.key}`;
        const answer = answers.get(id) ?? (await work());
        answers.set(id, answer);
        return answer;
      },
    };
    return { idempotency, answers };
  }

  test("repeats the answer without the work", async () => {
    let runs = 0;
    const { idempotency } = remembering();
    const { dispatch } = service({ idempotency }, () => ({ a: ++runs }));
    const ask = () => dispatch(post(json({ a: 1 }), { "idempotency-key": "k" }));
    const [first, second] = [await ask(), await ask()];
    expect(text(second)).toBe(text(first));
    expect(runs).toBe(1);
  });

  test("keeps a refusal too, and reports its code", async () => {
    const { idempotency, answers } = remembering();
    const { dispatch, log } = service({ idempotency }, () => {
      throw new CodedError("conflict", "there already");
    });
    const ask = () => dispatch(post(json({ a: 1 }), { "idempotency-key": "k" }));
    expect([(await ask()).status, (await ask()).status]).toEqual([409, 409]);
    expect(log.outcomes[0]?.code).toBe("CONFLICT");
    expect(answers.size).toBe(1);
  });

  test("is not used for a request that was refused before", async () => {
    const { idempotency, answers } = remembering();
    const { dispatch } = service({ idempotency });
    expect((await dispatch(post(json({ b: 1 }), { "idempotency-key": "k" }))).status).toBe(400);
    expect(answers.size).toBe(0);
  });

  test("is left alone by a streamed reply: it is made anew, as JSON of its schema", async () => {
    const { idempotency, answers } = remembering();
    async function* rows(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(Buffer.from('{"rows":[1'));
      yield new Uint8Array(Buffer.from(",2]}"));
    }
    const { dispatch } = service({ idempotency }, undefined, { body: rows() });
    const response = await dispatch({ ...post(new Uint8Array(), { "idempotency-key": "k" }), target: "/report" });
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual({ rows: [1, 2] });
    expect(answers.size).toBe(0);
  });

  test("is refused by name where nothing keeps answers, before any work", async () => {
    let runs = 0;
    const { dispatch } = service({}, () => ({ a: ++runs }));
    const refused = await dispatch(post(json({ a: 1 }), { "idempotency-key": "k" }));
    expect([refused.status, text(refused), runs]).toEqual([400, expect.stringContaining("headers.idempotency-key"), 0]);
    expect((await dispatch(post(json({ a: 1 })))).status).toBe(201);
  });

  test("must be short and printable", async () => {
    const { dispatch } = service({ idempotency: remembering().idempotency });
    for (const key of ["", "a b", "ä", "x".repeat(256)]) {
      expect((await dispatch(post(json({ a: 1 }), { "idempotency-key": key }))).status).toBe(400);
    }
  });
});
