/** A value for a person: `key: value` lines, nested ones indented, lists with dashes. */
export function renderText(value: unknown, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return `${indent}(none)`;
    return value.map((item) => `${indent}- ${renderText(item, `${indent}  `).trimStart()}`).join("\n");
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) =>
        typeof item === "object" && item !== null && Object.keys(item).length > 0
          ? `${indent}${key}:\n${renderText(item, `${indent}  `)}`
          : `${indent}${key}: ${scalar(item)}`,
      )
      .join("\n");
  }
  return `${indent}${scalar(value)}`;
}

function scalar(value: unknown): string {
  if (value === null) return "-";
  if (typeof value === "object") return Array.isArray(value) ? "(none)" : "{}";
  return String(value);
}
