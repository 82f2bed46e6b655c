import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClassifier, DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, recognise, redact } from "../src/index.ts";

const found = (text: string) => recognise(text, DEFAULT_RECOGNISERS).map((f) => [f.entity, text.slice(f.start, f.end)]);
const { classify } = createClassifier();

describe("Arabic, Hindi, Chinese and Japanese", () => {
  test.each([
    ["السيدة مريم الخليفي", "PERSON", "مريم الخليفي"],
    ["अब श्रीमती सुनीता शर्मा आएँगी", "PERSON", "सुनीता शर्मा"],
    ["请联系王芳女士。", "PERSON", "王芳"],
    ["佐藤健太さんは休みです", "PERSON", "佐藤健太"],
    ["Kartei ジョン・スミス様", "PERSON", "ジョン・スミス"],
    ["هاتف ٠٥٠١٢٣٤٥٦٧", "PHONE_NUMBER", "٠٥٠١٢٣٤٥٦٧"],
    ["मोबाइल ९८७६५ ४३२१०", "PHONE_NUMBER", "९८७६५ ४३२१०"],
    ["手机１３９１２３４５６７８", "PHONE_NUMBER", "１３９１２３４５６７８"],
    ["رقم الهوية 1000000008", "NATIONAL_ID", "1000000008"],
    ["マイナンバー 1234 5678 9018", "NATIONAL_ID", "1234 5678 9018"],
    // The sample of GB 11643.
    ["身份证号11010519491231002X", "NATIONAL_ID", "11010519491231002X"],
  ])("%s holds a %s at its exact place", (text, entity, value) => {
    expect(found(text)).toContainEqual([entity, value]);
  });

  test.each([
    ["تاريخ الميلاد: ١٢ مارس ١٩٨٥", "DATE_OF_BIRTH"],
    ["जन्म तिथि १२ मार्च १९८५", "DATE_OF_BIRTH"],
    ["她出生于1985年3月12日。", "DATE_OF_BIRTH"],
    ["昭和60年3月12日生まれ", "DATE_OF_BIRTH"],
    ["أعاني من السكري", "HEALTH_DATA"],
    ["मुझे दमा है", "HEALTH_DATA"],
    ["我有抑郁症", "HEALTH_DATA"],
    ["父が肺がんで入院しました", "HEALTH_DATA"],
    ["راتبي ٥٠٠٠ ريال", "SALARY"],
    ["मेरा वेतन ₹45,000 है", "SALARY"],
    ["我月薪两万，就是20000元", "SALARY"],
    ["私の年収は500万円です", "SALARY"],
    ["هي عضو في النقابة", "UNION_MEMBERSHIP"],
    ["वह ईसाई है", "RELIGION"],
    ["他是同性恋", "SEXUAL_ORIENTATION"],
    ["社員の指紋を登録した", "BIOMETRIC_DATA"],
  ])("%s is %s", (text, entity) => {
    expect(classify(text).findings.map((f) => f.entity)).toContain(entity);
  });

  test.each([
    ["a brand in kana", "王芳女士在の良品上班，她患有抑郁症。", "王芳"],
    [
      "a paragraph in Japanese above it",
      "会議は明日の午後からです。よろしくお願いします。\n王芳女士说她的同事李明先生已经在上个星期离职，请大家注意。",
      "李明",
    ],
  ])("Chinese is read as Chinese beside %s", (_, text, name) => {
    expect(found(text)).toContainEqual(["PERSON", name]);
  });

  test("a line of a Japanese form is read as Japanese, whatever else stands in the text", () => {
    expect(found("以下の通りです。よろしくお願いします。\n氏名：佐藤健太\n备注")).toContainEqual(["PERSON", "佐藤健太"]);
  });

  test.each([
    "الوقاية من أمراض القلب تبدأ بالرياضة",
    "السيد الرئيس، أهلا بكم",
    "दुनिया में हर दसवें व्यक्ति को मधुमेह होता है",
    "आज मौसम अच्छा है",
    "全球每十个人中就有一人患有糖尿病",
    "联系方式：见官网",
    "研究によると、若者のうつ病が増えている",
    "システム障害が発生しました",
    "お客様各位",
  ])("%s is about nobody", (text) => {
    expect(classify(text).findings).toEqual([]);
  });

  test("marks that are written apart, or left out, hide nothing, and offsets stay those of the text", () => {
    const sentences = ["السيد أحمد الخليفي", "マイナンバー 1234 5678 9018", "मरीज़: राजेश शर्मा", "ガン：父が肺がんです"];
    fc.assert(
      fc.property(fc.constantFrom(...sentences), fc.constantFrom("NFC", "NFD", "NFKD"), fc.string(), (said, form, before) => {
        const text = `${before.replace(/[\p{L}\p{N}]/gu, "")}\n${said.normalize(form)}`;
        const there = recognise(text, DEFAULT_RECOGNISERS);
        expect(there.map((f) => f.entity)).toEqual(recognise(said, DEFAULT_RECOGNISERS).map((f) => f.entity));
        for (const { start, end } of there) {
          expect(start).toBeGreaterThan(text.indexOf("\n"));
          expect(text.slice(start, end).normalize("NFC").length).toBeGreaterThan(0);
        }
      }),
    );
  });

  test("names are found in whatever order their languages and rules come", () => {
    const names = ["السيدة مريم الخليفي", "Dear Mr Okafor", "请联系王芳女士", "श्रीमती सुनीता शर्मा"];
    const alone = new Map(names.map((said) => [said, found(said).length]));
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: 2 }), (said) => {
        const expected = said.reduce((sum, each) => sum + (alone.get(each) ?? 0), 0);
        expect(found(said.join("\n\n")).filter(([entity]) => entity === "PERSON")).toHaveLength(expected);
      }),
    );
  });

  test("what is found is hidden whole, native digits too", () => {
    const text = "客户姓名：王芳，手机１３９１２３４５６７８，出生日期1985年3月12日";
    const once = redact(text, { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] }).text;
    expect(once).toBe("客户姓名：<PERSON>，手机<PHONE_NUMBER>，出生日期<DATE_OF_BIRTH>");
  });
});
