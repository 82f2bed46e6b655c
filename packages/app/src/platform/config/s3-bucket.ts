import * as z from "zod";
import { secret } from "./secret.ts";

/** A bucket of any S3, which must exist. */
export const s3Bucket = z.strictObject({
  endpoint: z.url(),
  region: z.string().min(1).default("us-east-1"),
  bucket: z.string().min(1),
  access_key: z.string().min(1),
  secret_key: secret(),
});
