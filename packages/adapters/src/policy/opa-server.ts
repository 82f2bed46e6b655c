import { randomUUID } from "node:crypto";
import { CodedError, checkOptions, type Json, type JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyEngine, PolicyProblem, PolicySource, PolicyWork } from "@seneschal/kernel/ports";
import { mountModule, parseModule } from "@seneschal/rego";
import { boundedBody } from "../http/bounded-body.ts";

export interface OpaServerOptions {
  /** For example `http://127.0.0.1:8181`. */
  readonly url: string;
  readonly token?: string;
  /** Milliseconds per request; 1000 unless given. */
  readonly timeout?: number;
  /** Bytes of a reply; 8 MB unless given. */
  readonly maxReply?: number;
  readonly fetch?: typeof fetch;
  /**
   * Asked before a policy goes to the server, for what the server would not refuse: builtins by which policies of others could call
   * anybody from there (`http.send`), and sources that are dear to read.
   */
  readonly before?: Pick<PolicyEngine, "check">;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Seconds after which a server that could not be reached is worth another try. */
const RETRY_AFTER = 5;

/** Policies that the server holds for one engine. */
const MOUNTED = 1_000;

/** A policy's place in the server's document tree. */
interface Mount {
  readonly name: string;
  readonly sources: readonly PolicySource[];
  /** The data that the server holds for it, as JSON; empty: not known. */
  data: string;
  /** What is done there is done in turn: nobody is answered from a policy that is half there. */
  queue: Promise<unknown>;
}

/**
 * An OPA server over its REST API. Each compiled policy is mounted below a name of its own in the server's document tree,
 * with the data it is evaluated with, so that policies of one package do not meet. `time.now_ns` is the server's own.
 * A server that was started anew, and has lost them, gets each again when it is asked for; of more than a thousand those that were asked
 * longest ago are taken away until they are asked for. `check` and `compile` reject with `service_unavailable` while the server cannot be
 * reached; an evaluation then is an error answer with code `opa_unreachable`.
 */
export function opaServerPolicyEngine(options: OpaServerOptions): PolicyEngine {
  checkOptions("options", options, {
    url: "string",
    token: "string?",
    timeout: "number?",
    maxReply: "number?",
    fetch: "function?",
    before: "object?",
  });
  const { url, token, timeout = 1_000, maxReply = 8_000_000 } = options;
  const send = options.fetch ?? fetch;
  /** Asked longest ago first. */
  const mounted = new Map<string, Mount>();

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
    const text = (await boundedBody(response, maxReply, () => new Error("the OPA server's reply is too large"))).toString("utf8");
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };

  /** Puts all sources below the mount's name; in rounds, because a module may call functions of one that comes later. */
  const put = async ({ name, sources }: Mount): Promise<readonly PolicyProblem[]> => {
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

  const inTurn = <T>(mount: Mount, work: () => Promise<T>): Promise<T> => {
    const turn = mount.queue.then(work, work);
    mount.queue = turn.catch(() => undefined);
    return turn;
  };

  const unmount = async (mount: Mount): Promise<void> => {
    mounted.delete(mount.name);
    await inTurn(mount, async () => {
      if (mounted.has(mount.name)) return;
      for (const i of mount.sources.keys()) await request("DELETE", `/v1/policies/${mount.name}/${mount.sources.length - 1 - i}`);
      await request("DELETE", `/v1/data/${mount.name}`);
    }).catch(() => undefined);
  };

  /** Notes that a policy is asked for; another one gives way when there are too many. */
  const use = (mount: Mount): void => {
    mounted.delete(mount.name);
    mounted.set(mount.name, mount);
    const [oldest] = mounted.values();
    if (mounted.size > MOUNTED && oldest !== undefined) void unmount(oldest);
  };

  const mount = async (
    sources: readonly PolicySource[],
    work?: PolicyWork,
  ): Promise<{ mount: Mount; problems: readonly PolicyProblem[] }> => {
    const name = `seneschal_${randomUUID().replaceAll("-", "")}`;
    const made: Mount = { name, sources, data: "{}", queue: Promise.resolve() };
    const refused = (await options.before?.check(sources, work)) ?? sources.flatMap((source) => parseModule(source).problems);
    if (refused.length > 0) return { mount: made, problems: refused };
    use(made);
    try {
      const problems = await inTurn(made, () => put(made));
      if (problems.length > 0) await unmount(made);
      return { mount: made, problems };
    } catch (error) {
      await unmount(made);
      throw new CodedError("service_unavailable", "the OPA server cannot be reached", { retry_after: RETRY_AFTER }, error);
    }
  };

  const load = async (mount: Mount, data: JsonObject): Promise<void> => {
    const text = JSON.stringify(data);
    if (text === mount.data) return;
    const before = mount.data === "" ? undefined : Object.keys(JSON.parse(mount.data) as JsonObject);
    mount.data = "";
    if (before === undefined) await expectOk(request("DELETE", `/v1/data/${mount.name}`));
    for (const key of before ?? []) {
      if (!Object.hasOwn(data, key)) await expectOk(request("DELETE", `/v1/data/${mount.name}/${encodeURIComponent(key)}`));
    }
    for (const [key, value] of Object.entries(data)) {
      const path = `/v1/data/${mount.name}/${encodeURIComponent(key)}`;
      await expectOk(request("PUT", path, "application/json", JSON.stringify(value)));
    }
    mount.data = text;
  };

  const evaluate = async (mount: Mount, path: readonly string[], input: Json, data: JsonObject): Promise<PolicyAnswer> => {
    await load(mount, data);
    const parts = path[0] === "data" ? path.slice(1) : path;
    const target = [mount.name, ...parts].map(encodeURIComponent).join("/");
    const reply = await request("POST", `/v1/data/${target}`, "application/json", JSON.stringify({ input }));
    if (reply.status !== 200) return { kind: "error", ...failureOf(reply) };
    const { body } = reply;
    const has = typeof body === "object" && body !== null && Object.hasOwn(body, "result");
    return has ? { kind: "defined", value: (body as { result: Json }).result } : { kind: "undefined" };
  };

  /** Nothing is there: because the policy says nothing, or because the server has lost it. */
  const lost = async ({ name }: Mount): Promise<boolean> => (await request("GET", `/v1/policies/${name}/0`)).status === 404;

  return {
    name: "opa-server",
    check: async (sources, work) => {
      const { mount: made, problems } = await mount(sources, work);
      if (problems.length === 0) await unmount(made);
      return problems;
    },
    compile: async (sources, work) => {
      const { mount: made, problems } = await mount(sources, work);
      if (problems.length > 0) return { ok: false, problems };
      return {
        ok: true,
        policy: {
          packages: sources.map((source) => parseModule(source).module?.packagePath ?? []),
          evaluate: (path, input, { data = {} }) => {
            use(made);
            return inTurn(made, async () => {
              try {
                const answer = await evaluate(made, path, input, data);
                if (answer.kind !== "undefined" || !(await lost(made))) return answer;
                made.data = "{}";
                const [problem] = await put(made);
                if (problem !== undefined) return { kind: "error", code: problem.code, message: problem.message };
                return await evaluate(made, path, input, data);
              } catch (error) {
                return { kind: "error", code: "opa_unreachable", message: reason(error) };
              }
            });
          },
        },
      };
    },
    close: async () => {
      for (const made of [...mounted.values()]) await unmount(made);
    },
  };
}

async function expectOk(pending: Promise<Reply>): Promise<void> {
  const { status } = await pending;
  if (status >= 400 && status !== 404) throw new Error(`the OPA server answered ${status}`);
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
