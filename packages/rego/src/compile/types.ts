import type { BuiltinTable } from "../builtins/builtin.ts";
import type { Statement } from "./ir.ts";
import type { LoweredRule } from "./lower.ts";
import type { Report, RuleNode, RuleSet } from "./tree.ts";

/** Infers types and reports what can never hold. */
export class TypeChecker {
  private readonly root: RuleNode;
  private readonly builtins: BuiltinTable;
  private readonly report: Report;

  constructor(root: RuleNode, builtins: BuiltinTable, report: Report) {
    this.root = root;
    this.builtins = builtins;
    this.report = report;
  }

  body(_file: string, _rule: LoweredRule | undefined, _statements: readonly Statement[]): void {
    void [this.root, this.builtins, this.report];
  }

  finish(_set: RuleSet, _rules: readonly LoweredRule[], _fallback: LoweredRule | undefined): void {}
}
