import type { Json, JsonObject } from "../json.ts";

/** JSON with sorted keys and no white space; members that are undefined are left out. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value))
    return value.some((item) => typeof item === "object" && item !== null)
      ? `[${value.map(canonicalJson).join(",")}]`
      : JSON.stringify(value);
  const object = value as JsonObject;
  let text = "";
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
