export { type ArgumentKind, checkArgument, checkOptions, type OptionKinds } from "./argument.ts";
export { CodedError, isCoded } from "./errors.ts";
export { escapeHtml } from "./html.ts";
export type { Json, JsonObject } from "./json.ts";
export { judgeTake, RATE_SLICES, type Rate, type RateWindow, sliceOf, type Take, takeFrom } from "./rate-window.ts";
export { textDecoder, utf8Decode, utf8Encode } from "./utf8.ts";
export { wildcardEnds } from "./wildcards.ts";
