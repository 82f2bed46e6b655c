import { type Growing, type GrowingObject, isRecord, isWhole, itemsOf } from "./growing.ts";

/** What grows, as JSON text in the order of its fields; a line for each item of a list that is read meanwhile. */
async function* jsonText(value: Growing): AsyncGenerator<string> {
  if (isWhole(value)) yield JSON.stringify(value);
  else if (typeof value === "function") yield* jsonText(await value());
  else if (isRecord(value)) {
    yield "{";
    yield* fieldsText(value);
    yield "}";
  } else {
    let before = "[\n";
    for await (const item of itemsOf(value)) {
      yield before;
      yield* jsonText(item);
      before = ",\n";
    }
    yield before === "[\n" ? "[]" : "\n]";
  }
}

/** The fields of an object without its braces, so that the writer can add others behind them. */
export async function* fieldsText(object: GrowingObject): AsyncGenerator<string> {
  let before = "";
  for (const [field, value] of Object.entries(object)) {
    yield `${before}${JSON.stringify(field)}:`;
    yield* jsonText(value);
    before = ",";
  }
}
