import { describe, expect, test } from "vitest";
import { documentOf } from "../document-of.ts";

const VARIABLES =
  '{"s": "abc", "n": 3, "zero": 0, "l": ["a", 1.5, null], "o": {"b": 2, "a": "x"}, "t": true, "e": [], "none": null}';

function render(template: string, variables = VARIABLES): unknown {
  return documentOf(`p := strings.render_template(input, ${variables})`, template);
}

describe("strings.render_template, a template of Go's text/template", () => {
  test.each([
    ["{{.s}}-{{.n}} {{.l}} {{.o}} {{.t}}", "abc-3 [a 1.5 <nil>] map[a:x b:2] true"],
    ["{{range $i, $x := .l}}{{if $i}},{{end}}{{$i}}:{{$x}}{{end}}", "0:a,1:1.5,2:<undefined>"],
    ["{{range .e}}x{{else}}none{{end}}", "none"],
    ["{{range $k, $v := .o}}{{$k}}={{$v}};{{end}}", "a=x;b=2;"],
    ["{{with .o}}{{.a}}{{end}}{{with .e}}no{{else with .s}}{{.}}{{end}}", "xabc"],
    ["{{if .e}}a{{else if .zero}}digits are text{{else}}c{{end}}", "digits are text"],
    ["{{and .t .s}} {{or .e .n}} {{not .none}}", "abc 3 true"],
    ["{{len .s}} {{index .l 0}} {{index .o `b`}} {{slice .s 1}} {{len (slice .l 1 3)}}", "3 a 2 bc 2"],
    ["{{eq .s `x` `abc`}} {{lt 1 2}} {{gt 1.5 2.5}} {{ge `b` `a`}} {{ne .n `3`}}", "true true false true false"],
    ["{{printf `%05d|%-4s|%q|%v` 42 .s .s .n}} {{.s | printf `%s-%s` `x`}}", '00042|abc |"abc"|3 x-abc'],
    ["{{print 1 2 .s 3}}|{{println 1 .s}}", "1 2abc3|1 abc\n"],
    ["{{html `<a href='x'>`}} {{js `it's`}} {{urlquery `a b&`}}", "&lt;a href=&#39;x&#39;&gt; it\\'s a+b%26"],
    ["a \n{{- 1 -}}\n b {{- /* gone */ -}} c", "a1bc"],
    ["{{define `x`}}<{{.}}>{{end}}{{template `x` .s}}{{block `y` .n}}[{{.}}]{{end}}", "<abc>[3]"],
    ["{{$x := 1}}{{range .l}}{{$x = .}}{{break}}{{end}}{{$x}}{{$.s}}", "aabc"],
    ["{{range 3}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}}", "02"],
    ["{{.n.Int64}} {{(.o).a}} {{0x1F}} {{1e3}} {{'a'}} {{1_000}}", "3 x 31 1000 97 1000"],
    ["{{.missing}} {{.missing.too}} {{.none}}", "<undefined> <undefined> <undefined>"],
  ])("%s", (template, text) => {
    expect(render(template)).toBe(text);
  });

  test.each([
    "{{.s.t}}",
    "{{.s 1}}",
    "{{nope}}",
    "{{$y}}",
    "{{if}}{{end}}",
    "{{if 1}}",
    "{{end}}",
    "{{break}}",
    "{{1 | 2}}",
    "{{(1}}",
    "{{nil}}",
    "{{eq .s 1}}",
    "{{index .l 9}}",
    "{{template `x`}}",
    "{{/* open",
    "{{`open}}",
    "{{1i}}",
    "{{call .s}}",
  ])("%s is refused: the call is undefined", (template) => {
    expect(render(template)).toBeUndefined();
  });

  test.each([
    ["a template that calls itself", "{{define `x`}}{{template `x`}}{{end}}{{template `x`}}"],
    ["a range without end", "{{range 9000000000}}{{end}}"],
    ["output that grows", "{{range 9000000}}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{{end}}"],
    ["a huge width", "{{printf `%2000000d` 1}}"],
    ["deep nesting", `${"{{if 1}}".repeat(5000)}${"{{end}}".repeat(5000)}`],
    ["deep parentheses", `{{${"(".repeat(5000)}1${")".repeat(5000)}}}`],
  ])("%s is a limit", (_what, template) => {
    expect(render(template)).toBe("eval_limit_error");
  });
});
