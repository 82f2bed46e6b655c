import {
  grpcError,
  grpcStatus,
  type StorageErrorKind,
  type StorageErrorName,
  storageError,
  storageErrors,
} from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { storageFailure } from "../src/storage-failure.ts";

const names = Object.keys(storageErrors) as StorageErrorName[];

test("every failure of the taxonomy has the status that it says, and whether it is to be tried again; which chunk is lost is the operator's affair", () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string(), (name, message) => {
      const kind: StorageErrorKind = storageErrors[name];
      const { code, message: told, metadata, ours } = storageFailure(storageError(name, message));
      expect(code).toBe(grpcStatus[kind.grpc]);
      expect(metadata["error-reason"]).toBe(name);
      expect(metadata["error-retriable"]).toBe(String(kind.class === "retriable"));
      expect(metadata["error-retry-after"]).toBe(kind.retryAfter === undefined ? undefined : String(kind.retryAfter));
      const lost = kind.grpc === "INTERNAL" || kind.grpc === "DATA_LOSS";
      expect(told).toBe(lost ? "the object cannot be read" : message);
      expect(ours).toBe(lost || kind.grpc === "UNAVAILABLE");
    }),
  );
});

test("what nobody foresaw is INTERNAL, is ours, and tells nothing of itself, whatever is thrown", () => {
  const thrown = fc.oneof(
    fc.string().map((message) => new Error(message)),
    fc
      .string()
      .filter((code) => !Object.hasOwn(storageErrors, code))
      .map((code) => new CodedError(`x ${code}`, code)),
    fc.constantFrom("__proto__", "constructor", "toString").map((code) => new CodedError(code, code)),
    fc.anything().filter((value) => !(value instanceof Error)),
  );
  fc.assert(
    fc.property(thrown, (error) => {
      expect(storageFailure(error)).toEqual({
        code: grpcStatus.INTERNAL,
        message: "internal error",
        ours: true,
        metadata: { "error-reason": "Internal", "error-retriable": "false" },
      });
    }),
  );
});

test("of what only a call by gRPC meets the client is told why", () => {
  const told = storageFailure(grpcError("InvalidRange", "offset is behind the 3 bytes", { field: "offset" }));
  expect([told.code, told.message, told.ours]).toEqual([grpcStatus.OUT_OF_RANGE, "offset is behind the 3 bytes", false]);
  expect(storageFailure(grpcError("OperationAborted", "try again")).metadata["error-retriable"]).toBe("true");
});
