export {
  closedValues as s3ClosedValues,
  everywhere as s3Everywhere,
  type Operation as S3Operation,
  operations as s3Operations,
} from "./operations.ts";
export { serveS3 } from "./serve-s3.ts";
