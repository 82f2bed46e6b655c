import { CodedError } from "@seneschal/kernel";

/** "invalid token" (401), with the reason in the details and nothing of the token. */
export function invalidToken(reason: string): CodedError {
  return new CodedError("invalid_token", "invalid token", { reason });
}
