import { checkArgument } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { type Narrowing, narrowed } from "../classification/search/narrowed.ts";
import type { Recogniser } from "../classification/search/recogniser.ts";
import type { TierPolicy } from "../classification/tiers.ts";
import { injectionsIn } from "../models/injection.ts";
import { type RedactionFormat, redactAs } from "./formats.ts";
import type { Redacted } from "./redact.ts";
import { redactionKeys } from "./redaction-keys.ts";
import type { RedactionRule } from "./rules.ts";

/** A text to redact away from the service: plain data, so that it can be sent. */
export interface RedactionTask {
  readonly text: string;
  readonly format: RedactionFormat;
  readonly rules: readonly RedactionRule[];
  /** Of the workspace, 32 bytes. */
  readonly key: readonly number[];
  readonly country?: string;
  /** Table, file or data set that a table is of: context for its columns. */
  readonly about?: string;
  /** Texts that stand for values which were taken out before: they are left as they are. */
  readonly placeholders?: readonly string[];
  /** What the caller wants hidden, where that is not all. */
  readonly narrowing?: Narrowing;
  /** Tell also what the text tries to do to a model. */
  readonly injections?: boolean;
}

/** Where redactions are done: in this thread or beside it. */
export interface Redactor {
  /** Rejects as `classify` does, and for a text that takes too long: never with the text as it was. */
  redact(task: RedactionTask, owner: string): Promise<Redacted>;
}

/** Does a task. */
export function redactTask(
  task: RedactionTask,
  given: {
    readonly policy: TierPolicy;
    readonly recognisers: readonly Recogniser[];
    readonly crypto: CryptoProvider;
    readonly random: Random;
  },
): Redacted {
  checkArgument("task", task, "object");
  checkArgument("given", given, "object");
  const { text, format, rules, key, country, about, placeholders, narrowing = {}, injections } = task;
  const { policy, crypto, random } = given;
  const recognisers = narrowed(given.recognisers, narrowing);
  const keys = redactionKeys(crypto, Uint8Array.from(key), random);
  const redacted = redactAs(format, text, {
    policy,
    recognisers,
    rules,
    keys,
    ...(country === undefined ? {} : { country }),
    ...(about === undefined ? {} : { about }),
    ...(placeholders === undefined ? {} : { placeholders: new Set(placeholders) }),
  });
  return injections === true ? { ...redacted, injections: injectionsIn(text) } : redacted;
}
