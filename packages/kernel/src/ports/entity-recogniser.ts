import type { WorkerPoolState } from "./worker-pool.ts";

/** A stretch of a text that is taken for an entity. Offsets are UTF-16 code units, `end` exclusive. */
export interface EntitySpan {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
  /** 0..1: how sure that is. */
  readonly score: number;
}

/**
 * Finds names and other entities in texts by a model, in this process or elsewhere; what Presidio calls a remote recogniser or an NLP engine.
 *
 * Laws: there is an answer for each text, in their order; a span lies within its text, is not empty, does not part a surrogate pair, and its entity is one of
 * `entities`; a text is answered the same whatever stands beside it in the call and whoever else asks at the time; a long text is read to its end. There is no
 * partial answer: where one text could not be read in time the call rejects with `service_unavailable` and `retry_after`, and so does a call beyond its owner's budget. After `close`
 * every call rejects.
 */
export interface EntityRecogniser {
  readonly name: string;
  /** What it may find. */
  readonly entities: readonly string[];
  /** `owner` is whose budget the call is charged to, usually an organisation. */
  recognise(texts: readonly string[], owner: string): Promise<readonly (readonly EntitySpan[])[]>;
  /** What its workers do, where it has any. */
  state?(): WorkerPoolState | undefined;
  close(): Promise<void>;
}
