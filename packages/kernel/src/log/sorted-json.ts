import type { Json, JsonObject } from "../json.ts";

/** JSON with sorted keys and no white space, as entries and snapshots are hashed; members that are undefined are left out. What is signed is in RFC 8785: `canonicalJson` of `@seneschal/crypto`. */
export function sortedJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value))
    return value.some((item) => typeof item === "object" && item !== null)
      ? `[${value.map(sortedJson).join(",")}]`
      : JSON.stringify(value);
  const object = value as JsonObject;
  let text = "";
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${sortedJson(member)}`;
  }
  return `{${text}}`;
}
