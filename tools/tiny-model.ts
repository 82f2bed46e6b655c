import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Files of a model that knows some words. */
export interface TinyModel {
  readonly model: string;
  readonly vocabulary: string;
  readonly config: string;
}

/**
 * A model for token classification in ONNX, as small as it can be: an embedding of each token and a matrix that says what labels it has. It tags the words that it is told of, by their pieces. No text around them counts.
 */
export async function writeTinyModel(
  directory: string,
  {
    words,
    labels,
    more = {},
    inputs = ["input_ids", "attention_mask"],
  }: {
    /** Piece -> label. */
    readonly words: Readonly<Record<string, string>>;
    readonly labels: readonly string[];
    readonly more?: object;
    readonly inputs?: readonly string[];
  },
): Promise<TinyModel> {
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,"];
  const vocabulary = [
    ...["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
    ...Object.keys(words),
    ...letters.flatMap((letter) => [letter, `##${letter}`]).filter((piece) => words[piece] === undefined),
  ];
  const outside = labels.indexOf("O");
  const labelOf = (token: string): number => labels.indexOf(words[token] ?? "O");
  const embedding = vocabulary.flatMap((token) => labels.map((_, label) => (label === labelOf(token) ? 1 : 0)));
  const matrix = labels.flatMap((_, from) => labels.map((_, to) => (from === to ? (from === outside ? 9 : 5) : 0)));
  const files = {
    model: join(directory, "model.onnx"),
    vocabulary: join(directory, "vocab.txt"),
    config: join(directory, "config.json"),
  };
  await writeFile(files.model, onnx(vocabulary.length, labels.length, embedding, matrix, inputs));
  await writeFile(files.vocabulary, `${vocabulary.join("\n")}\n`);
  const id2label = Object.fromEntries(labels.map((label, id) => [id, label]));
  await writeFile(files.config, JSON.stringify({ id2label, max_position_embeddings: 256, ...more }));
  return files;
}

/** A field of a protobuf message: a number, or bytes (a text, a message). */
function field(number: number, value: number | readonly number[]): readonly number[] {
  return typeof value === "number"
    ? [...varint(number << 3), ...varint(value)]
    : [...varint((number << 3) | 2), ...varint(value.length), ...value];
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

const text = (value: string): readonly number[] => [...new TextEncoder().encode(value)];
const INT64 = 7;
const FLOAT = 1;

/** `onnx.ModelProto`, of the messages and numbers of onnx.proto3. */
function onnx(
  tokens: number,
  labels: number,
  embedding: readonly number[],
  matrix: readonly number[],
  inputs: readonly string[],
): Uint8Array {
  const node = (operator: string, from: readonly string[], to: string) =>
    field(1, [...from.flatMap((name) => field(1, text(name))), ...field(2, text(to)), ...field(4, text(operator))]);
  const tensor = (name: string, dims: readonly number[], data: readonly number[]) =>
    field(5, [
      ...dims.flatMap((dim) => field(1, dim)),
      ...field(2, FLOAT),
      ...field(8, text(name)),
      ...field(9, [...new Uint8Array(new Float32Array(data).buffer)]),
    ]);
  const value = (number: number, name: string, type: number, dims: readonly (string | number)[]) => {
    const shape = dims.flatMap((dim) => field(1, typeof dim === "number" ? field(1, dim) : field(2, text(dim))));
    return field(number, [...field(1, text(name)), ...field(2, field(1, [...field(1, type), ...field(2, shape)]))]);
  };
  const graph = [
    ...node("Gather", ["embedding", inputs[0] ?? ""], "hidden"),
    ...node("MatMul", ["hidden", "matrix"], "logits"),
    ...field(2, text("tagger")),
    ...tensor("embedding", [tokens, labels], embedding),
    ...tensor("matrix", [labels, labels], matrix),
    ...inputs.flatMap((name) => value(11, name, INT64, ["batch", "sequence"])),
    ...value(12, "logits", FLOAT, ["batch", "sequence", labels]),
  ];
  return Uint8Array.from([...field(1, 8), ...field(7, graph), ...field(8, field(2, 13))]);
}
