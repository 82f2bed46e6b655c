import type * as z from "zod";

/** The schemas directly inside of another, each with the path to it. */
function schemaParts(schema: z.core.$ZodType, path: string): readonly (readonly [z.core.$ZodType, string])[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return [
        ...Object.entries(def.shape).map(([key, child]) => [child, `${path}.${key}`] as const),
        ...(def.catchall === undefined ? [] : [[def.catchall, `${path}.*`] as const]),
      ];
    case "array":
      return [[def.element, `${path}[]`]];
    case "record":
      return [[def.valueType, `${path}.*`]];
    case "tuple":
      return def.items.map((child, i) => [child, `${path}[${i}]`]);
    case "union":
      return def.options.map((child) => [child, path]);
    case "intersection":
      return [
        [def.left, path],
        [def.right, path],
      ];
    case "pipe":
      return [
        [def.in, path],
        [def.out, path],
      ];
    case "lazy":
      return [[def.getter(), path]];
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
    case "nonoptional":
    case "catch":
      return [[def.innerType, path]];
    default:
      return [];
  }
}

/** Every schema inside of one, itself first, each once with the first path that leads to it. */
export function* schemasWithin(
  schema: z.core.$ZodType,
  path: string,
  seen = new Set<z.core.$ZodType>(),
): Generator<readonly [z.core.$ZodType, string]> {
  if (seen.has(schema)) return;
  seen.add(schema);
  yield [schema, path];
  for (const [child, name] of schemaParts(schema, path)) yield* schemasWithin(child, name, seen);
}
