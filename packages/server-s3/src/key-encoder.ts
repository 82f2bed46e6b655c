import type { S3Call } from "./call.ts";
import { s3Error } from "./errors.ts";
import { uriEncode } from "./sigv4.ts";

/** How a listing writes keys: as they are, or escaped as a URL where the client asks for it. Throws `InvalidArgument`. */
export function keyEncoder({ query }: S3Call): (text: string) => string {
  const type = query.get("encoding-type");
  if (type !== undefined && type !== "url") throw s3Error("InvalidArgument", "Invalid Encoding Method specified in Request");
  return type === undefined ? (text) => text : (text) => text.split("/").map(uriEncode).join("/");
}
