import { pageKey, redirectOf, type Website } from "@seneschal/core/storage";
import { expect, test } from "vitest";

// The examples of Amazon S3's manual, "Configuring a webpage redirect".
test("rules redirect as the manual of S3 says: by prefix, by the answer, by both, the first that fits", () => {
  const site: Website = {
    index: "index.html",
    rules: [
      { prefix: "docs/", redirect: { replacePrefix: "documents/" } },
      { prefix: "images/", redirect: { replaceKey: "folderdeleted.html", code: 302 } },
      { prefix: "pay/", status: 404, redirect: { host: "pay.example.org", protocol: "https" } },
      { status: 404, redirect: { host: "other.example.org", replacePrefix: "report-404/" } },
    ],
  };
  expect(redirectOf(site, "docs/a/b.html")).toEqual({ code: 301, key: "documents/a/b.html" });
  expect(redirectOf(site, "images/cat.png")).toEqual({ code: 302, key: "folderdeleted.html" });
  expect(redirectOf(site, "other")).toBeUndefined();
  expect(redirectOf(site, "docs/a", 404)).toEqual({ code: 301, host: "other.example.org", key: "report-404/docs/a" });
  expect(redirectOf(site, "pay/x", 404)).toEqual({ code: 301, host: "pay.example.org", protocol: "https", key: "pay/x" });
  expect(redirectOf(site, "pay/x", 403)).toBeUndefined();
  expect(redirectOf({ redirectAll: { host: "example.org" } }, "any", 404)).toEqual({
    code: 301,
    host: "example.org",
    key: "any",
  });
});

test("the page of a directory is its index document", () => {
  const site = { index: "index.html" };
  for (const [path, key] of [
    ["", "index.html"],
    ["a/", "a/index.html"],
    ["a", "a"],
    ["a//", "a//index.html"],
  ] as const)
    expect(pageKey(site, path)).toBe(key);
});
