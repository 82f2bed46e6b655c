import { describe, expect, test } from "vitest";
import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redact } from "../src/index.ts";

const redacted = (text: string): string =>
  redact(text, { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] }).text;

describe("where a word announces a value, the value is hidden and not the word alone", () => {
  test.each([
    ["His salary will be raised from £41,200 to £43,750 in May.", ["41,200", "43,750"]],
    ["Maria earns $5,400 a month.", ["5,400"]],
    ["Base pay USD 96k for Maria Gonzales.", ["96k"]],
    ["Sein Gehalt beträgt 4.200 Euro.", ["4.200"]],
    ["Il suo stipendio è di 2.100 euro.", ["2.100"]],
    ["他的月薪是12000元。", ["12000"]],
    ["田中さんの月給は30万円です。", ["30万"]],
    ["उसका वेतन ₹52,000 है।", ["52,000"]],
    ["MRN 00482913", ["00482913"]],
    ["MRN: AB-4829134 was admitted", ["4829134"]],
    ["medical record number is 00482913", ["00482913"]],
    ["Patientennummer 4711882", ["4711882"]],
    ["where patient_id = 00482913", ["00482913"]],
    ["paid with the usual card, cvv 384", ["384"]],
    ["CVC2: 3841", ["3841"]],
    ["card security code is 384.", ["384"]],
    ["cryptogramme visuel : 384".replace(" :", ":"), ["384"]],
    ["GET /reset?user=7&token=Zk93jSl20xQpLm4 HTTP/1.1", ["Zk93jSl20xQpLm4"]],
    ['api_key = "Zk93jSl20xQpLm4"', ["Zk93jSl20xQpLm4"]],
    ["STRIPE_KEY: ab12cd34ef56", ["ab12cd34ef56"]],
  ])("%s", (text, values) => {
    for (const value of values) expect(redacted(text)).not.toContain(value);
  });

  test.each([
    "The average salary is 52,000 euros.",
    "Revenue was $5,400,000 in May.",
    "the medical record is complete after 12 days",
    "3 patients, 1200 beds",
    "CVN 78 is an aircraft carrier",
    "the cvv has three digits",
    "token: tls-prod-24",
    'api_key = "settings1"',
    "access_key = my_bucket_2024",
    "const token = user1.token2",
    "secret_key: config.key1",
  ])("nothing to hide: %s", (text) => expect(redacted(text)).toBe(text));
});

describe("behind a title a person is named, whatever the title looks like and whatever the name begins with", () => {
  test.each([
    ["Geachte heer Van der Velden, dank voor uw brief.", "Velden"],
    ["Geachte heer van der Velden, dank voor uw brief.", "Velden"],
    ["Mevrouw De Vries belt morgen.", "Vries"],
    ["Mrs van der Berg called.", "Berg"],
    ["Herr von und zu Tannenau kommt.", "Tannenau"],
    ["Mr. De Angelo called.", "Angelo"],
    ["Gentile Sig.ra Bellavista, grazie.", "Bellavista"],
    ["Gentile Dott.ssa Bellavista, grazie.", "Bellavista"],
    ["Gentile Prof.ssa Bellavista, grazie.", "Bellavista"],
    ["Egregio Avv. Bellavista, grazie.", "Bellavista"],
    ["Hr. Tannenau kommt morgen.", "Tannenau"],
    ["Mevr. Tulpenveld belt.", "Tulpenveld"],
    ["尊敬的王小明先生：您好", "王小明"],
    ["请联系张小红女士。", "张小红"],
  ])("%s", (text, name) => expect(redacted(text)).not.toContain(name));

  test.each([
    "Der Herr der Ringe ist ein Buch.",
    "Die Frau des Nachbarn kommt.",
    "Madame la Directrice est là.",
    "El doctor de la Universidad vino.",
    "Contact HR. Forms are there.",
    "mag ich nicht. Heute auch",
    "王小学在哪里",
  ])("nobody: %s", (text) => expect(redacted(text)).toBe(text));
});

describe("addresses as China, Japan and Korea write them", () => {
  test.each([
    ["住址：北京市朝阳区建国路88号。", "建国路88号"],
    ["地址：上海市浦东新区世纪大道100号5楼", "世纪大道100号"],
    ["他住在广州市天河区体育西路103号2栋301室", "103号2栋301室"],
    ["住所 東京都渋谷区神南1-2-3", "神南1-2-3"],
    ["〒150-0041 東京都渋谷区神南1丁目2番3号", "1丁目2番3号"],
    ["大阪市北区梅田3-1-1に住んでいます", "梅田3-1-1"],
    ["주소: 서울특별시 강남구 테헤란로 152", "테헤란로 152"],
  ])("%s", (text, place) => expect(redacted(text)).not.toContain(place));

  test.each([
    "北京地铁10号线",
    "2026年5月12日在上海市开会",
    "会議は5月12日、横浜市で行います",
    "バージョン1-2-3を使う",
    "서울시 인구는 940만",
    "第3会议室，5号楼",
  ])("none: %s", (text) => expect(redacted(text)).toBe(text));
});
