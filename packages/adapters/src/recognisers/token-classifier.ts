import { readFile } from "node:fs/promises";
import { isCoded } from "@seneschal/kernel";
import type { EntitySpan } from "@seneschal/kernel/ports";
import { backEnd } from "../back-end.ts";
import { type LabelMeaning, labelledSpans, meaningOfLabel } from "./labelled-spans.ts";
import { type WordPiece, WordPieces } from "./word-pieces.ts";

/** A model for token classification with what belongs to it, as Hugging Face lays them out. */
export interface TokenClassifierFiles {
  /** ONNX, with the inputs `input_ids` and, where it has them, `attention_mask` and `token_type_ids`. */
  readonly model: string;
  /** `vocab.txt`: a WordPiece token in each line. */
  readonly vocabulary: string;
  /** `config.json`: `id2label`, `max_position_embeddings`. */
  readonly config: string;
  /** The model has no capitals. */
  readonly lowerCase: boolean;
  /** What the model calls an entity, without `B-` and `I-` -> what it is here; null: it is not told. */
  readonly entities: Readonly<Record<string, string | null>>;
}

/** What of ONNX Runtime is used; both of its packages for Node have it. */
interface Runtime {
  readonly env: { logLevel?: string; readonly wasm?: { numThreads?: number } };
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => unknown;
}

interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, Output | undefined>>>;
}

interface Output {
  readonly data: unknown;
  readonly dims: readonly number[];
}

const native = backEnd<Runtime>("onnxruntime-node");
const webAssembly = backEnd<Runtime>("onnxruntime-web");

/** The native package where it is installed: it has to be built or fetched by its install script. The other one runs anywhere. */
export function onnxRuntime(): Runtime {
  try {
    return native();
  } catch (error) {
    if (!isCoded(error, "back_end_missing")) throw error;
    return webAssembly();
  }
}

/** Pieces of neighbouring windows that both read: what is near a border is taken from the one that sees further. */
const OVERLAP = 64;
const KNOWN_INPUTS = ["input_ids", "attention_mask", "token_type_ids"];

/** The labels of a model by their ids, and how many tokens it reads at once. Throws RangeError for what is not so, and for a label that `entities` does not speak of. */
export function readModelConfig(
  text: string,
  entities: TokenClassifierFiles["entities"],
): { readonly labels: readonly LabelMeaning[]; readonly window: number } {
  const config = JSON.parse(text) as {
    readonly id2label?: Readonly<Record<string, string>>;
    readonly max_position_embeddings?: number;
  };
  const { id2label = {}, max_position_embeddings: window = 512 } = config;
  const ids = Object.keys(id2label);
  if (ids.length < 2) throw new RangeError("it has no id2label");
  const labels = ids.map((_, id): LabelMeaning => {
    const label = id2label[id];
    if (typeof label !== "string") throw new RangeError(`id2label has no ${id}`);
    if (label === "O") return undefined;
    const { name, begins } = meaningOfLabel(label);
    const entity = Object.hasOwn(entities, name) ? entities[name] : undefined;
    if (entity === undefined) throw new RangeError(`its label ${label} is not among the entities`);
    return entity === null ? undefined : { entity, begins };
  });
  if (!Number.isInteger(window) || window < 2 * OVERLAP + 2)
    throw new RangeError("max_position_embeddings: not a length of texts");
  return { labels, window: window - 2 };
}

/** Loads a model for token classification. Throws what its files and the runtime throw. */
export async function openTokenClassifier(
  files: TokenClassifierFiles,
): Promise<(text: string) => Promise<readonly EntitySpan[]>> {
  const { env, InferenceSession, Tensor } = onnxRuntime();
  const [model, vocabulary, config] = await Promise.all([
    readFile(files.model),
    readFile(files.vocabulary, "utf8"),
    readFile(files.config, "utf8"),
  ]);
  const { labels, window } = readModelConfig(config, files.entities);
  const words = new WordPieces(vocabulary.replace(/\r?\n$/, "").split(/\r?\n/), files.lowerCase);
  const [begin, end] = [words.idOf("[CLS]"), words.idOf("[SEP]")];
  // What it says of a failure is told by what it throws.
  env.logLevel = "fatal";
  // One core each: texts are read side by side by several threads.
  if (env.wasm !== undefined) env.wasm.numThreads = 1;
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 });
  const strange = session.inputNames.find((name) => !KNOWN_INPUTS.includes(name));
  if (strange !== undefined) throw new RangeError(`the model asks for ${strange}`);
  const [output = ""] = session.outputNames.includes("logits") ? ["logits"] : session.outputNames;

  const logitsOf = async (pieces: readonly WordPiece[]): Promise<Float32Array> => {
    const ids = [begin, ...pieces.map(({ id }) => id), end];
    const values: Readonly<Record<string, readonly number[]>> = {
      input_ids: ids,
      attention_mask: ids.map(() => 1),
      token_type_ids: ids.map(() => 0),
    };
    const feeds = session.inputNames.map((name) => {
      return [name, new Tensor("int64", BigInt64Array.from(values[name] ?? [], BigInt), [1, ids.length])] as const;
    });
    const { data, dims } = (await session.run(Object.fromEntries(feeds)))[output] ?? { data: undefined, dims: [] };
    if (!(data instanceof Float32Array) || dims.at(-1) !== labels.length || data.length !== ids.length * labels.length)
      throw new RangeError(`the model's ${output} has another shape than its labels`);
    return data;
  };

  return async (text) => {
    const pieces = words.of(text);
    /** Where the logits of each piece are. */
    const said: Float32Array[] = new Array(pieces.length);
    for (let from = 0; from < pieces.length; from += window - OVERLAP) {
      const read = pieces.slice(from, from + window);
      const data = await logitsOf(read);
      for (let i = from === 0 ? 0 : OVERLAP / 2; i < read.length; i++)
        said[from + i] = data.subarray((i + 1) * labels.length, (i + 2) * labels.length);
      if (from + window >= pieces.length) break;
    }
    return labelledSpans(pieces, (piece) => said[piece] as Float32Array, labels);
  };
}
