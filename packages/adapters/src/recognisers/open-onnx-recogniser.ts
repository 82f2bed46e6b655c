import { readFile } from "node:fs/promises";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type { EntityRecogniser, EntitySpan } from "@seneschal/kernel/ports";
import { openWorkerPool } from "../worker-pool/index.ts";
import { onnxRuntime, readModelConfig, type TokenClassifierFiles } from "./token-classifier.ts";

export interface OnnxRecogniserOptions extends TokenClassifierFiles {
  /** At most; each has the model for itself. Default 2, of which the second starts when work waits. */
  readonly threads?: number;
  /** Milliseconds that one text may take, and one call. Default 3000. */
  readonly timeout?: number;
  /** Texts of one owner that may wait. Default 32,768. */
  readonly waitingPerOwner?: number;
}

/** What a model can be refused for. */
export type RecogniserErrorCode = "model_unusable";

/**
 * A model for token classification (BERT and its kind with WordPiece, as exported to ONNX) in threads of this process, on `onnxruntime-node` or, where that is not installed, on `onnxruntime-web`. Texts that are longer than the model
 * reads at once are read in windows that overlap. Rejects with `model_unusable` for a model whose files are not there or do not belong together, or a label that `entities` does not speak of, and with `back_end_missing`. Later
 * whatever goes wrong, and what takes too long, rejects with `service_unavailable`.
 *
 * @example
 * ```ts
 * import { openOnnxRecogniser } from "@seneschal/adapters/recognisers";
 * const [model, vocabulary, config] = ["ner/model.onnx", "ner/vocab.txt", "ner/config.json"];
 * const entities = { PER: "PERSON", LOC: "LOCATION", ORG: "ORGANIZATION", MISC: null };
 * const refused = await openOnnxRecogniser({ model, vocabulary, config, lowerCase: false, entities }).catch(({ code }) => code);
 * console.log(["model_unusable", "back_end_missing"].includes(refused)); // true
 * ```
 */
export async function openOnnxRecogniser(options: OnnxRecogniserOptions): Promise<EntityRecogniser> {
  checkOptions("options", options, {
    model: "string",
    vocabulary: "string",
    config: "string",
    lowerCase: "boolean",
    entities: "object",
    threads: "number?",
    timeout: "number?",
    waitingPerOwner: "number?",
  });
  const { threads = 2, timeout = 3000, waitingPerOwner = 32_768, ...files } = options;
  onnxRuntime();
  try {
    readModelConfig(await readFile(files.config, "utf8"), files.entities);
  } catch (error) {
    throw unusable(`${files.config}: ${error instanceof Error ? error.message : error}`, error);
  }
  const pool = openWorkerPool<string, readonly EntitySpan[]>({
    name: "recogniser",
    module: new URL("./worker", import.meta.url),
    settings: files,
    workers: threads,
    deadline: timeout,
    waitingPerOwner,
    batch: 16,
  });
  try {
    await pool.run("are you there", "start");
  } catch (error) {
    await pool.close();
    throw unusable(`the model cannot be used: ${causeOf(error)}`, error);
  }
  let closed = false;
  return {
    name: "onnx",
    entities: [...new Set(Object.values(files.entities).filter((entity) => entity !== null))],
    async recognise(texts, owner) {
      if (closed) throw unavailable("the recogniser is closed");
      if (texts.length > waitingPerOwner) throw unavailable("too many texts for the recogniser");
      const bound = AbortSignal.timeout(timeout);
      const late = new Promise<never>((_, reject) => {
        bound.addEventListener("abort", () => reject(unavailable("the recogniser takes too long")), { once: true });
      });
      try {
        return await Promise.race([Promise.all(texts.map((text) => pool.run(text, owner))), late]);
      } catch (error) {
        if (isCoded(error, "service_unavailable")) throw error;
        throw unavailable(isCoded(error, "deadline_exceeded") ? "the recogniser takes too long" : "the recogniser failed", error);
      }
    },
    state: pool.state,
    async close() {
      closed = true;
      await pool.close();
    },
  };
}

const RETRY_AFTER = 5;

function causeOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause ?? error);
}

function unusable(message: string, cause: unknown): CodedError<RecogniserErrorCode> {
  return new CodedError("model_unusable", message, {}, cause);
}

function unavailable(message: string, cause?: unknown): CodedError {
  return new CodedError("service_unavailable", message, { retry_after: RETRY_AFTER }, cause);
}
