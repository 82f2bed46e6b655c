import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";

describe("builtins", () => {
  test.each([
    // RFC 4648, section 10
    ['base64.encode("foobar")', "Zm9vYmFy"],
    ['base64.decode("Zm9vYg==")', "foob"],
    // FIPS 180-4 and RFC 1321
    ['crypto.sha256("abc")', "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ['crypto.md5("abc")', "900150983cd24fb0d6963f7d28e17f72"],
    // RFC 4231, test case 2
    [
      'crypto.hmac.sha256("what do ya want for nothing?", "Jefe")',
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    // semver.org, section 11
    ['semver.compare("1.0.0-alpha.1", "1.0.0-alpha.beta")', -1],
    ['semver.compare("1.0.0-rc.1", "1.0.0")', -1],
    // RFC 5952
    ['net.cidr_merge(["2001:db8:0:0:0:0:0:0/33", "2001:db8:8000::/33"])', ["2001:db8::/32"]],
    ['time.format([1582977600000000000, "UTC", "Mon Jan _2 15:04:05 2006"])', "Sat Feb 29 12:00:00 2020"],
    ['time.parse_ns("RFC1123Z", "Sat, 29 Feb 2020 13:00:00 +0100")', 1582977600000000000],
    ["time.add_date(1580428800000000000, 0, 1, 0)", 1583107200000000000],
    ['time.clock([1593561600000000000, "America/New_York"])', [20, 0, 0]],
    ['sprintf("%05d|%-4s|%x|%6.2f|%v|%[1]d", [42, "a", "hi", 1.005, {1}])', "00042|a   |6869|  1.00|{1}|42"],
    ['sprintf("%d %s", ["a"])', "%!d(string=a) %!s(MISSING)"],
    ['regex.replace("foo", "(?P<n>o)", "<${n}>")', "f<o><o>"],
    ['regex.split("a*", "baaac")', ["b", "c"]],
    ['glob.match("a.{b,*.c}.d", ["."], "a.x.c.d")', true],
    ['upper("straße")', "STRAßE"],
    ['indexof("😀b", "b")', 1],
    ['count(hex.decode("ff00"))', 2],
    ['hex.encode(base64.decode("/w=="))', "ff"],
    // docs.aws.amazon.com, Signature Version 4, "get-vanilla" of the test suite
    [
      'providers.aws.sign_req({"method": "GET", "url": "https://example.amazonaws.com/"}, {"aws_service": "service", "aws_region": "us-east-1", "aws_access_key": "AKIDEXAMPLE", "aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}, 1440938160000000000).headers.Authorization',
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    ],
    ['units.parse("100m")', 0.1],
    ['yaml.unmarshal("a: yes\\nb: 0x10")', { a: true, b: 16 }],
    ['yaml.marshal({"a": [1, "1"], "b": {"c": null}})', 'a:\n- 1\n- "1"\nb:\n  c: null\n'],
    ['yaml.marshal("line\\n\\nline")', "|-\n  line\n\n  line\n"],
    ['yaml.unmarshal("a: 1\\na: 2")', { a: 2 }],
    ['json.marshal({0: "a", "0": "b"})', '{"0":"b"}'],
    ['json.patch({"a": [1, 2]}, [{"op": "add", "path": "/a/1", "value": 9}])', { a: [1, 9, 2] }],
    ['json.marshal("<&>")', '"\\u003c\\u0026\\u003e"'],
  ])("%s", (expression, value) => {
    expect(documentOf(`p := ${expression}`)).toEqual(value);
  });

  // RFC 7515, appendix A.1
  test("io.jwt verifies the HS256 example of RFC 7515 and refuses it with another key", () => {
    const token =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    expect(documentOf(`p := io.jwt.verify_hs256("${token}", base64url.decode("${key}"))`)).toBe(true);
    expect(documentOf(`p := io.jwt.verify_hs256("${token}", "other")`)).toBe(false);
  });

  test("keys and I/O are off unless the engine allows them", () => {
    for (const call of [
      'io.jwt.encode_sign_raw("", "", "")',
      'http.send({"url": "", "method": ""})',
      "opa.runtime()",
      'crypto.parse_private_keys("")',
    ]) {
      expect(() => documentOf(`p := ${call}`)).toThrow("undefined function");
    }
  });
});
