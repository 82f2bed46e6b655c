import { CodedError, checkOptions } from "@seneschal/kernel";
import type { EntityRecogniser, EntitySpan } from "@seneschal/kernel/ports";
import { boundedBody } from "../http/bounded-body.ts";
import { mtlsFetch } from "../http/index.ts";
import { OwnerQueues } from "../worker-pool/owner-queues.ts";

export interface HttpRecogniserOptions {
  /** Address of the service without `/analyze`. */
  readonly url: string;
  /** ISO 639-1, as the service calls it. */
  readonly language: string;
  /** What the service calls an entity -> what it is here; null: found and not told. Only these are asked for. */
  readonly entities: Readonly<Record<string, string | null>>;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  /** PEM of the CAs that its certificate is checked against; default: the host's. */
  readonly ca?: string;
  /** Milliseconds that one call may take, whatever number of texts it has. Default 3000. */
  readonly timeout?: number;
  /** Requests at once. Default 8. */
  readonly concurrency?: number;
  /** Texts of one owner that may wait. Default 32,768. */
  readonly waitingPerOwner?: number;
}

interface Asked {
  readonly owner: string;
  ask(): Promise<void>;
}

const MAX_ANSWER = 8_388_608;
/** Seconds after which to ask again. */
const RETRY_AFTER = 5;

/**
 * A service that speaks Presidio's protocol: `POST {url}/analyze` of `{text, language, entities}`, one text a request, answered by `[{entity_type, start, end, score}]` with offsets in code points. Whatever
 * goes wrong (no answer in time, another status than 200, no such list, a span outside of the text, an entity that was not asked for) rejects with `service_unavailable`. Owners take turns.
 *
 * @example
 * ```ts
 * import { openHttpRecogniser } from "@seneschal/adapters/recognisers";
 * const recogniser = openHttpRecogniser({ url: "http://127.0.0.1:5002", language: "en", entities: { PERSON: "PERSON", GPE: "LOCATION" } });
 * console.log(recogniser.entities); // [ 'PERSON', 'LOCATION' ]
 * await recogniser.close();
 * ```
 */
export function openHttpRecogniser(options: HttpRecogniserOptions): EntityRecogniser {
  checkOptions("options", options, {
    url: "string",
    language: "string",
    entities: "object",
    token: "string?",
    ca: "string?",
    timeout: "number?",
    concurrency: "number?",
    waitingPerOwner: "number?",
  });
  const { language, token, ca, timeout = 3000, concurrency = 8, waitingPerOwner = 32_768 } = options;
  const url = `${options.url.replace(/\/+$/, "")}/analyze`;
  const entities = new Map(Object.entries(options.entities));
  const wanted = [...entities].flatMap(([type, entity]) => (entity === null ? [] : [type]));
  const http = mtlsFetch({ timeout, ...(ca === undefined ? {} : { ca }) });
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const closing = new AbortController();
  const queues = new OwnerQueues<Asked>();
  let running = 0;

  const next = (): void => {
    while (running < concurrency) {
      const [asked] = queues.take(1, () => true);
      if (asked === undefined) return;
      running++;
      void asked.ask().finally(() => {
        running--;
        next();
      });
    }
  };

  const analyze = async (text: string, signal: AbortSignal): Promise<readonly EntitySpan[]> => {
    // Presidio answers 500 to an empty text.
    if (text === "") return [];
    const body = JSON.stringify({ text, language, entities: wanted });
    let answer: unknown;
    try {
      signal.throwIfAborted();
      const response = await http.fetch(url, { method: "POST", headers, body, redirect: "error", signal });
      const read = await boundedBody(response, MAX_ANSWER, () => unavailable("the recogniser's answer is too long"));
      if (response.status !== 200) throw unavailable(`the recogniser answered ${response.status}`);
      answer = JSON.parse(read.toString("utf8"));
    } catch (error) {
      if (error instanceof CodedError) throw error;
      throw unavailable(
        signal.aborted ? "the recogniser does not answer in time" : "the recogniser does not answer as it should",
        error,
      );
    }
    return spansOf(answer, text, entities);
  };

  return {
    name: "presidio",
    entities: [...new Set([...entities.values()].filter((entity) => entity !== null))],
    async recognise(texts, owner) {
      if (closing.signal.aborted) throw unavailable("the recogniser is closed");
      if (queues.waiting(owner) + texts.length > waitingPerOwner)
        throw unavailable("too many texts wait for the recogniser: try again");
      const failing = new AbortController();
      const signal = AbortSignal.any([closing.signal, failing.signal, AbortSignal.timeout(timeout)]);
      const answers = texts.map(
        (text) =>
          new Promise<readonly EntitySpan[]>((resolve, reject) => {
            queues.add({ owner, ask: () => analyze(text, signal).then(resolve, reject) });
          }),
      );
      next();
      try {
        return await Promise.all(answers);
      } finally {
        // Of texts whose neighbour failed nobody waits for an answer.
        failing.abort();
        await Promise.allSettled(answers);
      }
    },
    async close() {
      closing.abort();
      await http.close();
    },
  };
}

/** The spans of an answer, by UTF-16 code units. Throws `service_unavailable` for what is no answer about this text. */
function spansOf(answer: unknown, text: string, entities: ReadonlyMap<string, string | null>): readonly EntitySpan[] {
  if (!Array.isArray(answer)) throw unavailable(WRONG_SHAPE);
  if (answer.length === 0) return [];
  const units = [0];
  for (const character of text) units.push((units.at(-1) ?? 0) + character.length);
  return answer.flatMap((item: unknown): readonly EntitySpan[] => {
    if (typeof item !== "object" || item === null) throw unavailable(WRONG_SHAPE);
    const { entity_type: type, start: from, end: to, score } = item as Readonly<Record<string, unknown>>;
    const entity = typeof type === "string" ? entities.get(type) : undefined;
    const [start, end] = [from, to].map((at) => (typeof at === "number" ? units[at] : undefined));
    const fits = typeof score === "number" && score >= 0 && score <= 1;
    if (entity === undefined || start === undefined || end === undefined || start >= end || !fits) throw unavailable(WRONG_SHAPE);
    return entity === null || score === 0 ? [] : [{ entity, start, end, score }];
  });
}

const WRONG_SHAPE = "the recogniser's answer is no list of what is in the text";

/** What the other side wrote stays with the cause: it may hold what was asked. */
function unavailable(message: string, cause?: unknown): CodedError {
  return new CodedError("service_unavailable", message, { retry_after: RETRY_AFTER }, cause);
}
