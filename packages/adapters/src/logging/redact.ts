const SECRET =
  /pass(word|phrase)?$|secret|token|authorization|cookie|private|plaintext|share|seed|otp|^(key|pem|dek|kek|pin)$|_(key|pem|dek|kek)$|api_?key|signature/i;
const DEPTH = 6;
const TEXT = 2048;

/**
 * A copy of a log record without secrets: values under names that hold secrets become `[redacted]`, bytes `[bytes]`, long text is
 * cut. A safety net below the rule that no secret is given to the log in the first place.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.length > TEXT ? `${value.slice(0, TEXT)}...` : value;
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return "[bytes]";
  if (depth >= DEPTH) return "[deep]";
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return error(value, depth);
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hides(name, inner) ? "[redacted]" : redact(inner, depth + 1)]),
  );
}

/** Numbers and booleans under such a name (`token_count`, `mfa_secret_set`) tell nothing. */
function hides(name: string, value: unknown): boolean {
  return SECRET.test(name) && typeof value !== "number" && typeof value !== "boolean" && value !== null;
}

function error(value: Error, depth: number): unknown {
  const { name, message, stack, cause } = value;
  const { code, details } = value as { code?: unknown; details?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(details === undefined ? {} : { details: redact(details, depth + 1) }),
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: redact(cause, depth + 1) }),
  };
}
