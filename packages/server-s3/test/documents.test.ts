import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readXml, type XmlForm, type XmlList } from "../src/xml.ts";
import { documents } from "../src/xml-documents.ts";

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** An element of a document, and whether more than one may stand beside it. */
interface Node {
  readonly name: string;
  readonly form: XmlForm;
  readonly list: boolean;
  readonly children: readonly Node[];
  readonly text: string;
}

const samples: Readonly<Record<string, string>> = { text: "x", boolean: "true", integer: "1" };

/** A document with every element that its form knows, lists with one element. */
function whole(name: string, form: XmlForm, list = false): Node {
  const children =
    typeof form === "string"
      ? []
      : Object.entries(form)
          .filter(([child, inner]) => inner !== "unbuilt" && !child.startsWith("@"))
          .map(([child, inner]) => {
            const many = typeof inner === "object" && "each" in inner;
            return whole(child, many ? (inner as XmlList).each : (inner as XmlForm), many);
          });
  return { name, form, list, children, text: typeof form === "string" ? (samples[form] ?? "") : "" };
}

type Change = (node: Node, inner: string) => string | undefined;
const tagged = (name: string, inner: string, attributes = "") => `<${name}${attributes}>${inner}</${name}>`;
const written = (node: Node, target?: Node, change?: Change): string => {
  const inner = node.text + node.children.map((child) => written(child, target, change)).join("");
  return (node === target ? change?.(node, inner) : undefined) ?? tagged(node.name, inner);
};
const nodes = (node: Node): readonly Node[] => [node, ...node.children.flatMap(nodes)];
const all = Object.entries(documents).flatMap(([name, form]) => {
  const root = whole(name, form);
  return nodes(root).map((node) => ({ root, node, form: form as XmlForm }));
});
const read = (root: Node, form: XmlForm, text: string) => {
  try {
    return readXml(text, root.name, form).name;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("every document that a request may bring", () => {
  test("is taken with all that it may say, in the namespace of S3 and in none", () => {
    for (const { root, form, node } of all.filter((a) => a.node === a.root)) {
      expect(read(root, form, written(root))).toBe(root.name);
      expect(
        read(
          root,
          form,
          written(root, node, (n, inner) => tagged(n.name, inner, ` xmlns="${namespace}"`)),
        ),
      ).toBe(root.name);
    }
  });
  test("is refused with an element twice that is no list, and taken with a list of two", () => {
    for (const { root, node, form } of all.filter((a) => a.node !== a.root)) {
      const twice = written(root, node, (n, inner) => tagged(n.name, inner) + tagged(n.name, inner));
      expect([root.name, node.name, read(root, form, twice)]).toEqual([
        root.name,
        node.name,
        node.list ? root.name : "MalformedXML",
      ]);
    }
  });
  test("is refused with anything in it that is not its own, wherever it stands", () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        fc.stringMatching(/^[A-Za-z_][\w.-]{0,11}$/),
        fc.nat(3),
        ({ root, node, form }, odd, how) => {
          fc.pre(typeof node.form === "string" || !Object.hasOwn(node.form, odd));
          fc.pre(node.name !== odd);
          const changes: readonly Change[] = [
            // An unknown element in it.
            (n, inner) => tagged(n.name, `${inner}<${odd}/>`),
            // Another name.
            (_n, inner) => tagged(node === root || !siblings(root, node).includes(odd) ? odd : "-", inner),
            // A foreign namespace.
            (n, inner) => tagged(n.name, inner, ` xmlns="${odd}"`),
            // An attribute.
            (n, inner) => tagged(n.name, inner, ` ${odd}="x"`),
          ];
          fc.pre(how !== 3 || odd !== "xmlns");
          expect(["MalformedXML", "NotImplemented"]).toContain(read(root, form, written(root, node, changes[how])));
          if (how !== 1 && !/^x/i.test(odd)) expect(read(root, form, written(root, node, changes[how]))).toBe("MalformedXML");
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 1000) },
    ));
  test("is refused with text beside elements, and where a boolean or a number is none", () => {
    for (const { root, node, form } of all) {
      const text = written(root, node, (n, inner) => tagged(n.name, `maybe${inner}`));
      const expected = node.form === "text" ? root.name : "MalformedXML";
      expect([root.name, node.name, read(root, form, text)]).toEqual([root.name, node.name, expected]);
    }
  });
});

function siblings(root: Node, node: Node): readonly string[] {
  const parent = nodes(root).find((n) => n.children.includes(node));
  return parent === undefined || typeof parent.form === "string" ? [] : Object.keys(parent.form);
}
