import { objectError, storageError, storageErrors } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { s3Error, s3Failure } from "../src/errors.ts";

test("a code with one meaning is answered in S3's words, and what is known beyond them goes beside", () => {
  expect(s3Failure(objectError("NoSuchBucket", "the bucket does not exist"))).toMatchObject({
    status: 404,
    code: "NoSuchBucket",
    message: "The specified bucket does not exist.",
    detail: "the bucket does not exist",
  });
  expect(s3Failure(storageError("NotFound", "the object does not exist"))).toMatchObject({
    status: 404,
    code: "NoSuchKey",
    message: "The specified key does not exist.",
  });
});

test("a code with several meanings keeps its own words", () => {
  const failed = s3Failure(s3Error("InvalidArgument", "encoding-type must be url"));
  expect(failed).toEqual({ status: 400, code: "InvalidArgument", message: "encoding-type must be url", ours: false });
});

test("what is not known says nothing of its cause", () => {
  const failed = s3Failure(new Error("secret path /x"));
  expect(failed).toMatchObject({ status: 500, code: "InternalError", ours: true });
  expect(JSON.stringify(failed)).not.toContain("secret");
});

test("every 503 of S3 says when to return", () => {
  for (const [code, kind] of Object.entries(storageErrors)) {
    const { s3 } = kind as { readonly s3?: { readonly status: number } };
    if (s3?.status !== 503) continue;
    expect([code, s3Failure(new CodedError(code, ""))]).toEqual([
      code,
      expect.objectContaining({ status: 503, retryAfter: expect.any(Number) }),
    ]);
  }
});
