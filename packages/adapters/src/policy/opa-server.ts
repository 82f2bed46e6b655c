import { randomUUID } from "node:crypto";
import type { Json, JsonObject } from "@seneschal/kernel";
import type { CompiledPolicy, PolicyAnswer, PolicyEngine, PolicyProblem, PolicySource } from "@seneschal/kernel/ports";
import { mountModule, parseModule } from "@seneschal/rego";

export interface OpaServerOptions {
  /** For example `http://127.0.0.1:8181`. */
  readonly url: string;
  readonly token?: string;
  /** Milliseconds per request; 1000 unless given. */
  readonly timeout?: number;
  /** Bytes of a reply; 8 MB unless given. */
  readonly maxReply?: number;
  readonly fetch?: typeof fetch;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/**
 * An OPA server over its REST API. Each compiled policy is mounted below a name of its own in the server's document tree,
 * with the data it is evaluated with, so that policies of one package do not meet. `time.now_ns` is the server's own.
 * A request that fails is an error answer with code `opa_unreachable`: the caller denies.
 */
export function opaServerPolicyEngine(options: OpaServerOptions): PolicyEngine {
  const { url, token, timeout = 1_000, maxReply = 8_000_000 } = options;
  const send = options.fetch ?? fetch;
  const mounted = new Set<string>();

  const request = async (method: string, path: string, type?: string, body?: string): Promise<Reply> => {
    const response = await send(`${url.replace(/\/$/, "")}${path}`, {
      method,
      headers: {
        ...(type === undefined ? {} : { "content-type": type }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body }),
      redirect: "error",
      signal: AbortSignal.timeout(timeout),
    });
    const text = await readCapped(response, maxReply);
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };

  /** Puts all sources below `name`; in rounds, because a module may call functions of one that comes later. */
  const put = async (sources: readonly PolicySource[], name: string): Promise<readonly PolicyProblem[]> => {
    const syntax = sources.flatMap((source) => parseModule(source).problems);
    if (syntax.length > 0) return syntax;
    let waiting = sources.map((source, i) => ({ id: `${name}/${i}`, source: mountModule(source, name), file: source.name }));
    for (;;) {
      const failed: typeof waiting = [];
      const problems: PolicyProblem[] = [];
      for (const entry of waiting) {
        const reply = await request("PUT", `/v1/policies/${entry.id}`, "text/plain", entry.source.source);
        if (reply.status === 200) continue;
        failed.push(entry);
        problems.push(...problemsOf(reply, entry.file));
      }
      if (failed.length === 0) return [];
      if (failed.length === waiting.length) return problems;
      waiting = failed;
    }
  };

  const remove = async (name: string, count: number): Promise<void> => {
    mounted.delete(name);
    for (let i = count - 1; i >= 0; i--) await request("DELETE", `/v1/policies/${name}/${i}`);
    await request("DELETE", `/v1/data/${name}`);
  };

  const counts = new Map<string, number>();
  const mount = async (sources: readonly PolicySource[]): Promise<{ name: string; problems: readonly PolicyProblem[] }> => {
    const name = `seneschal_${randomUUID().replaceAll("-", "")}`;
    mounted.add(name);
    counts.set(name, sources.length);
    try {
      return { name, problems: await put(sources, name) };
    } catch (error) {
      return {
        name,
        problems: [{ code: "opa_unreachable", message: reason(error), file: sources[0]?.name ?? "", row: 1, col: 1 }],
      };
    }
  };
  const unmount = async (name: string): Promise<void> => {
    await remove(name, counts.get(name) ?? 0).catch(() => undefined);
    counts.delete(name);
  };

  return {
    name: "opa-server",
    check: async (sources) => {
      const { name, problems } = await mount(sources);
      await unmount(name);
      return problems;
    },
    compile: async (sources) => {
      const { name, problems } = await mount(sources);
      if (problems.length > 0) {
        await unmount(name);
        return { ok: false, problems };
      }
      return { ok: true, policy: compiledPolicy(sources, name, request) };
    },
    close: async () => {
      for (const name of [...mounted]) await unmount(name);
    },
  };
}

function compiledPolicy(
  sources: readonly PolicySource[],
  name: string,
  request: (method: string, path: string, type?: string, body?: string) => Promise<Reply>,
): CompiledPolicy {
  const packages = sources.map((source) => parseModule(source).module?.packagePath ?? []);
  let present = "{}";
  let queue: Promise<unknown> = Promise.resolve();

  /** The server holds one version of the data, so evaluations of a policy take turns. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(work, work);
    queue = turn.catch(() => undefined);
    return turn;
  };

  const load = async (data: JsonObject): Promise<void> => {
    const text = JSON.stringify(data);
    if (text === present) return;
    const before = Object.keys(JSON.parse(present) as JsonObject);
    present = "";
    for (const key of before) {
      if (!Object.hasOwn(data, key)) await expectOk(request("DELETE", `/v1/data/${name}/${encodeURIComponent(key)}`));
    }
    for (const [key, value] of Object.entries(data)) {
      await expectOk(request("PUT", `/v1/data/${name}/${encodeURIComponent(key)}`, "application/json", JSON.stringify(value)));
    }
    present = text;
  };

  return {
    packages,
    evaluate: (path, input: Json, { data }): Promise<PolicyAnswer> =>
      inTurn(async () => {
        try {
          await load(data ?? {});
          const parts = path[0] === "data" ? path.slice(1) : path;
          const target = [name, ...parts].map(encodeURIComponent).join("/");
          const reply = await request("POST", `/v1/data/${target}`, "application/json", JSON.stringify({ input }));
          if (reply.status !== 200) return { kind: "error", ...failureOf(reply) };
          const { body } = reply;
          const has = typeof body === "object" && body !== null && Object.hasOwn(body, "result");
          return has ? { kind: "defined", value: (body as { result: Json }).result } : { kind: "undefined" };
        } catch (error) {
          if (present === "") present = "{}";
          return { kind: "error", code: "opa_unreachable", message: reason(error) };
        }
      }),
  };
}

async function expectOk(pending: Promise<Reply>): Promise<void> {
  const { status } = await pending;
  if (status >= 400 && status !== 404) throw new Error(`the OPA server answered ${status}`);
}

async function readCapped(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > limit) throw new Error("the OPA server's reply is too large");
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface OpaError {
  readonly code?: string;
  readonly message?: string;
  readonly location?: { readonly row?: number; readonly col?: number };
}

function errorsOf({ body }: Reply): readonly OpaError[] {
  const { errors } = (body ?? {}) as { readonly errors?: readonly OpaError[] };
  return Array.isArray(errors) ? errors : [];
}

function problemsOf(reply: Reply, file: string): readonly PolicyProblem[] {
  const errors = errorsOf(reply);
  if (errors.length === 0) return [{ code: "opa_refused", message: failureOf(reply).message, file, row: 1, col: 1 }];
  return errors.map(({ code, message, location }) => ({
    code: code ?? "rego_compile_error",
    message: message ?? "",
    file,
    row: location?.row ?? 1,
    col: location?.col ?? 1,
  }));
}

function failureOf(reply: Reply): { readonly code: string; readonly message: string } {
  const [first] = errorsOf(reply);
  const body = (reply.body ?? {}) as { readonly code?: string; readonly message?: string };
  return {
    code: first?.code ?? body.code ?? "opa_refused",
    message: first?.message ?? body.message ?? `the OPA server answered ${reply.status}`,
  };
}
