import { join } from "node:path";
import { readText } from "@seneschal/adapters/files";
import type { Metrics } from "@seneschal/adapters/metrics";
import { openHttpRecogniser, openOnnxRecogniser } from "@seneschal/adapters/recognisers";
import { CodedError, checkArgument, isCoded } from "@seneschal/kernel";
import type { EntityRecogniser } from "@seneschal/kernel/ports";
import { Counter, Gauge, Histogram } from "prom-client";
import * as z from "zod";
import { duration, file, type HealthCheck } from "../platform/index.ts";

const entityName = z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/);
/** What the model calls an entity -> what it is here; null: it is not looked at. */
const entities = z
  .record(z.string().min(1).max(64), entityName.nullable())
  .refine((named) => Object.values(named).some((entity) => entity !== null), "no entity is told");

/** A service that speaks Presidio's protocol. */
const presidio = z.strictObject({
  kind: z.literal("presidio"),
  /** Address without `/analyze`; `http` to this machine alone. */
  url: z.url({ protocol: /^https?$/ }).max(2048),
  /** ISO 639-1. */
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .default("en"),
  entities: entities.default({ PERSON: "PERSON", LOCATION: "LOCATION" }),
  /** Its bearer token. */
  token_file: file("secret").optional(),
  /** CAs that its certificate is checked against; without it the host's. */
  ca_file: file("authorities").optional(),
  /** For all that is asked at once. */
  timeout: duration("3s"),
});

/** A model in threads of this process. */
const onnx = z.strictObject({
  kind: z.literal("onnx"),
  /** Of `model.onnx`, `vocab.txt` and `config.json`, which are read at the start alone: nobody looks for changes of files so large. */
  directory: z.string().min(1),
  /** The model has no capitals. */
  lower_case: z.boolean().default(false),
  entities: entities.default({ PER: "PERSON", LOC: "LOCATION", ORG: "ORGANIZATION", MISC: null }),
  /** At most; each has the model for itself. */
  threads: z.int().min(1).max(64).default(2),
  /** For one text, and for all that is asked at once. */
  timeout: duration("3s"),
});

export const recogniserSetting = z.discriminatedUnion("kind", [presidio, onnx]);
export type RecogniserSettings = z.output<typeof recogniserSetting>;

/** What the recognisers of the configuration find. */
export function configuredEntities({
  recognisers,
  recogniser,
}: {
  readonly recognisers: readonly { readonly entity: string }[];
  readonly recogniser?: Pick<RecogniserSettings, "entities"> | undefined;
}): readonly { readonly entity: string }[] {
  const told = Object.values(recogniser?.entities ?? {}).flatMap((entity) => (entity === null ? [] : [{ entity }]));
  return [...recognisers, ...told];
}

const SETTING = "classification.recogniser";

/** Opens the model of the configuration. Throws `config_invalid`, naming the setting, for what cannot be used as it is. */
export async function openRecogniser(settings: RecogniserSettings): Promise<EntityRecogniser> {
  checkArgument("settings", settings, "object");
  if (settings.kind === "onnx") return openModel(settings);
  const { url, language, entities, token_file, ca_file, timeout } = settings;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !["127.0.0.1", "[::1]", "localhost"].includes(hostname))
    throw new CodedError("config_invalid", `${SETTING}.url: expected https, or http to this machine`);
  return openHttpRecogniser({
    url,
    language,
    entities,
    timeout,
    ...(token_file === undefined ? {} : { token: (await text("token_file", token_file)).trim() }),
    ...(ca_file === undefined ? {} : { ca: await text("ca_file", ca_file) }),
  });
}

async function openModel(settings: z.output<typeof onnx>): Promise<EntityRecogniser> {
  const { directory, lower_case, entities, threads, timeout } = settings;
  const [model = "", vocabulary = "", config = ""] = ["model.onnx", "vocab.txt", "config.json"].map((name) =>
    join(directory, name),
  );
  const files = { model, vocabulary, config };
  return openOnnxRecogniser({ ...files, lowerCase: lower_case, entities, threads, timeout }).catch((error: unknown) => {
    if (!isCoded(error, "model_unusable", "back_end_missing")) throw error;
    throw new CodedError("config_invalid", `${SETTING}: ${error.message}`, {}, error);
  });
}

async function text(setting: string, path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new CodedError("config_invalid", `${SETTING}.${setting}: cannot be read`, {}, error);
  }
}

/** Opens the model of the configuration and asks it. Rejects with `config_invalid`, naming the setting, for what cannot be used as it is, and with `service_unavailable` where it does not answer. */
export async function probeRecogniser(settings: RecogniserSettings): Promise<void> {
  const recogniser = await openRecogniser(settings);
  try {
    await ask(recogniser);
  } finally {
    await recogniser.close();
  }
}

/** A text that names nobody. */
const PROBE = "are you there";

async function ask(recogniser: EntityRecogniser): Promise<void> {
  await recogniser.recognise([PROBE], "health");
}

export function recogniserCheck(recogniser: EntityRecogniser | undefined): HealthCheck {
  return {
    name: "recogniser",
    required: false,
    applies: () => recogniser !== undefined,
    check: async () => recogniser && ask(recogniser),
  };
}

/** The recogniser, counted. The metrics are there without one as well. */
export function measuredRecogniser(
  recogniser: EntityRecogniser | undefined,
  { registry, prefix }: Metrics,
): EntityRecogniser | undefined {
  const registers = [registry];
  const texts = new Counter({ name: `${prefix}_recogniser_texts_total`, help: "Texts that the recogniser read", registers });
  const failures = new Counter({
    name: `${prefix}_recogniser_failures_total`,
    help: "Questions that the recogniser did not answer",
    registers,
  });
  const failing = new Gauge({
    name: `${prefix}_recogniser_failing`,
    help: "1 while the recogniser did not answer the last question",
    registers,
  });
  const seconds = new Histogram({
    name: `${prefix}_recogniser_duration_seconds`,
    help: "Time that the recogniser took for a question",
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 3, 10],
    registers,
  });
  if (recogniser === undefined) return undefined;
  return {
    name: recogniser.name,
    entities: recogniser.entities,
    state: () => recogniser.state?.(),
    async recognise(asked, owner) {
      const end = seconds.startTimer();
      try {
        const answers = await recogniser.recognise(asked, owner);
        texts.inc(asked.length);
        failing.set(0);
        return answers;
      } catch (error) {
        failures.inc();
        failing.set(1);
        throw error;
      } finally {
        end();
      }
    },
    close: () => recogniser.close(),
  };
}
