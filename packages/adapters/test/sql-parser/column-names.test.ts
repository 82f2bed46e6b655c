import { createClassifier } from "@seneschal/governance";
import { describe, expect, test } from "vitest";
import { openSqlParser } from "../../src/sql-parser/index.ts";

const classifier = createClassifier({ sql: await openSqlParser() });

describe("a column of a statement is read by its name, its table and the columns beside it", () => {
  test.each([
    ["select userpassword from t", "RESTRICTED"],
    ["SELECT CUSTSSN FROM T", "PROPRIETARY"],
    ["select 工资 from t", "PROPRIETARY"],
    ['select "пароль" from t', "RESTRICTED"],
    ["select password_policy, email_sent_at from t", "INTERNAL"],
    ["select hiv_status from t", "RESTRICTED"],
    ["select race from employees", "RESTRICTED"],
    ["select race, date_of_birth from t", "RESTRICTED"],
    ["select race from races", "INTERNAL"],
    ["select pin from gpio", "INTERNAL"],
  ])("%s: %s", (query, tier) => expect(classifier.classify(query).tier).toBe(tier));

  test("one that may name something is told, with less confidence", () => {
    const { reasoning, confidence } = classifier.classify("select race from t");
    expect(reasoning).toContain("may name ethnicity");
    expect(confidence).toBeLessThan(classifier.classify("select total from t").confidence);
  });
});
