import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";

export const MODEL_ENDPOINTS = ["chat/completions", "completions", "embeddings"] as const;
export type ModelEndpoint = (typeof MODEL_ENDPOINTS)[number];

/** A text of a request, and how to put another one in its place. */
export interface PromptText {
  readonly path: string;
  /** Who speaks: `system`, `user`, `assistant`, `tool` ...; `none` outside of a talk. */
  readonly role: string;
  /** Texts that a model reads as one, in their order. */
  readonly parts: readonly string[];
  /**
   * `text`: to be hidden in. `json`: the same, and it has to be JSON afterwards. `fixed`: it names something, and must hold nothing that is to be hidden.
   */
  readonly form: "text" | "json" | "fixed";
  set(parts: readonly string[]): void;
}

export interface ModelRequest {
  /** A copy of what the caller sent; what `texts` are set to stands in it. */
  readonly body: Record<string, unknown>;
  readonly texts: readonly PromptText[];
  /** Kinds of parts that hold no text: `image_url`, `input_audio` ... */
  readonly media: readonly string[];
}

type Obj = Record<string, unknown>;

/** Members of a request that are numbers and choices, never texts: their types are checked with the request. */
const SETTINGS = new Set(
  "frequency_penalty presence_penalty temperature top_p n best_of max_tokens max_completion_tokens seed dimensions stream store parallel_tool_calls echo".split(
    " ",
  ),
);

/**
 * All that a request can say to a model. Every string, every name of a member and every number long enough to mean something is among the texts: what is not known
 * by name is read as JSON, and nothing is passed over.
 */
export function readModelRequest(endpoint: ModelEndpoint, given: Readonly<Obj>): ModelRequest {
  checkArgument("endpoint", endpoint, "string");
  checkArgument("given", given, "object");
  const body = JSON.parse(JSON.stringify(given)) as Obj;
  const texts: PromptText[] = [];
  const media: string[] = [];

  const add = (holder: Obj | unknown[], key: string | number, path: string, role: string, form: PromptText["form"]): void => {
    const value = (holder as Obj)[key] as string;
    const set = ([text]: readonly string[]): void => {
      (holder as Obj)[key] = text;
    };
    texts.push({ path, role, parts: [value], form, set });
  };
  const fixed = (value: string, path: string, role: string): void => {
    texts.push({ path, role, parts: [value], form: "fixed", set: () => undefined });
  };
  /** A member that nobody knows: it goes as JSON, with its name. */
  const unknown = (holder: Obj, key: string, path: string, role: string): void => {
    const value = holder[key];
    if (value === null || typeof value === "boolean") {
      fixed(key, path, role);
      return;
    }
    texts.push({
      path,
      role,
      parts: [JSON.stringify({ [key]: value })],
      form: "json",
      set: ([json = ""]) => {
        delete holder[key];
        Object.assign(holder, jsonObject(json, path));
      },
    });
  };
  /** Descriptions of tools and of answers: texts may change, names and numbers may not. */
  const described = (holder: Obj | unknown[], key: string | number, path: string): void => {
    const value = (holder as Obj)[key];
    if (typeof value === "string") {
      if (NAMES.has(String(key))) fixed(value, path, "none");
      else add(holder, key, path, "system", "text");
    } else if (typeof value === "number") fixed(String(value), path, "none");
    else if (Array.isArray(value)) value.forEach((_, i) => void described(value, i, `${path}[${i}]`));
    else if (isObject(value))
      for (const name of Object.keys(value)) {
        fixed(name, path, "none");
        described(value, name, `${path}.${name}`);
      }
  };
  const stringOrList = (holder: Obj, key: string, form: "text" | "fixed"): void => {
    const value = holder[key];
    if (typeof value === "string") add(holder, key, key, "user", form);
    else if (Array.isArray(value) && value.every((each) => typeof each === "string"))
      value.forEach((_, i) => void add(value, i, `${key}[${i}]`, "user", form));
    else if (value !== null) throw unreadable(key, "expected a text or a list of texts: numbers of tokens cannot be read");
  };
  const content = (message: Obj, path: string, role: string): void => {
    const { content: value } = message;
    if (value === null) return;
    if (typeof value === "string") {
      add(message, "content", `${path}.content`, role, "text");
      return;
    }
    if (!Array.isArray(value)) throw unreadable(`${path}.content`, "expected a text or a list of parts");
    const readable: { readonly part: Obj; readonly key: "text" | "refusal" }[] = [];
    for (const [i, part] of value.entries()) {
      const at = `${path}.content[${i}]`;
      if (!isObject(part) || typeof part["type"] !== "string") throw unreadable(at, "expected a part with its type");
      const { type } = part;
      const key = type === "refusal" ? "refusal" : "text";
      if (
        (type === "text" || type === "refusal" || type === "input_text" || type === "output_text") &&
        typeof part[key] === "string"
      )
        readable.push({ part, key });
      else media.push(/^[a-z_]{1,32}$/.test(type) ? type : "unknown");
      for (const name of Object.keys(part)) {
        if (name === "type") fixed(type, `${at}.type`, role);
        else if (readable.at(-1)?.part === part ? name !== key : !isPayload(part[name]))
          unknown(part, name, `${at}.${name}`, role);
      }
    }
    if (readable.length > 0)
      texts.push({
        path: `${path}.content`,
        role,
        parts: readable.map(({ part, key }) => part[key] as string),
        form: "text",
        set(parts) {
          for (const [i, { part, key }] of readable.entries()) part[key] = parts[i];
        },
      });
  };
  const call = (named: unknown, path: string, role: string): void => {
    if (!isObject(named)) throw unreadable(path, "expected an object");
    for (const key of Object.keys(named)) {
      const value = named[key];
      const at = `${path}.${key}`;
      if ((key === "arguments" || key === "input") && typeof value === "string") add(named, key, at, role, "text");
      else if ((key === "function" || key === "custom") && isObject(value)) call(value, at, role);
      else if (NAMES.has(key) && typeof value === "string") fixed(value, at, role);
      else unknown(named, key, at, role);
    }
  };

  const message = (given: unknown, path: string): void => {
    if (!isObject(given) || typeof given["role"] !== "string") throw unreadable(path, "expected a message with its role");
    const role = /^[a-z_]{1,32}$/.test(given["role"]) ? given["role"] : "none";
    for (const key of Object.keys(given)) {
      const value = given[key];
      const at = `${path}.${key}`;
      if (key === "content") content(given, path, role);
      else if (key === "tool_calls" && Array.isArray(value)) value.forEach((each, i) => void call(each, `${at}[${i}]`, role));
      else if (key === "function_call" && isObject(value)) call(value, at, role);
      else if ((key === "refusal" || key === "reasoning_content" || key === "reasoning") && typeof value === "string")
        add(given, key, at, role, "text");
      else if (NAMES.has(key) && typeof value === "string") fixed(value, at, role);
      else unknown(given, key, at, role);
    }
  };

  for (const key of Object.keys(body)) {
    const value = body[key];
    if (key === "model") fixed(String(value), key, "none");
    else if (SETTINGS.has(key) && (typeof value === "number" || typeof value === "boolean" || value === null)) continue;
    else if (key === "messages" && endpoint === "chat/completions" && Array.isArray(value))
      value.forEach((each, i) => void message(each, `messages[${i}]`));
    else if ((key === "prompt" && endpoint === "completions") || (key === "input" && endpoint === "embeddings"))
      stringOrList(body, key, "text");
    else if (key === "stop") stringOrList(body, key, "fixed");
    else if (DESCRIPTIONS.has(key)) described(body, key, key);
    else unknown(body, key, key, "none");
  }
  return { body, texts, media };
}

/** The bytes of a picture, of sound or of a file, which is what a policy lets through that allows such parts. */
function isPayload(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { url, data, format, file_data, filename, detail, ...rest } = value;
  const named = [format, filename, detail].every(
    (each) => each === undefined || (typeof each === "string" && /^[\w.-]{1,64}$/.test(each)),
  );
  const bytes = [url, file_data].every(
    (each) => each === undefined || (typeof each === "string" && /^data:[\w/+.;=-]{1,128},/.test(each)),
  );
  const base64 = data === undefined || (typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data));
  return named && bytes && base64 && Object.keys(rest).length === 0 && [url, file_data, data].some((each) => each !== undefined);
}

/** Members that name what the other side knows by that name. */
const NAMES = new Set(["name", "role", "type", "id", "tool_call_id"]);
const DESCRIPTIONS = new Set([
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "response_format",
  "logit_bias",
  "stream_options",
]);

function isObject(value: unknown): value is Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function jsonObject(json: string, path: string): Obj {
  try {
    return JSON.parse(json) as Obj;
  } catch {
    throw unreadable(path, "holds a number that is to be hidden, and cannot hold anything in its place");
  }
}

function unreadable(field: string, reason: string): Error {
  return governanceError("validation_failed", `${field}: ${reason}`, { field, reason });
}
