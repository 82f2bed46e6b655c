/** What every client of an S3 server is made with here: buckets by path, and no trailing checksums, which are news to some servers. */
export function s3ClientConfig(given: {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string | (() => Promise<string>);
}) {
  const { endpoint, region, accessKey: accessKeyId, secretKey } = given;
  const credentials =
    typeof secretKey === "string"
      ? { accessKeyId, secretAccessKey: secretKey }
      : // What has ended already is asked for at each request.
        async () => ({ accessKeyId, secretAccessKey: await secretKey(), expiration: new Date(0) });
  return {
    endpoint,
    region,
    forcePathStyle: true,
    credentials,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  } as const;
}
