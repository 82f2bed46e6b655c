export type { DataSource, SourceAsset, SourceListing } from "./data-source.ts";
export { openPostgresSource, type PostgresSourceOptions } from "./open-postgres-source.ts";
export { openS3Source, type S3SourceOptions } from "./open-s3-source.ts";
export type { SourceScope } from "./source-scope.ts";
