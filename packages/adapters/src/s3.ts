/** What every client of an S3 server is made with here: buckets by path, and no trailing checksums, which are news to some servers. */
export function s3ClientConfig(given: {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}) {
  const { endpoint, region, accessKey, secretKey } = given;
  return {
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  } as const;
}
