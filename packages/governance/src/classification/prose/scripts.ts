import type { ProseSpan } from "./persons.ts";
import { foldMarks } from "./script-fold.ts";
import {
  ARABIC_FIRST_NAMES,
  ARABIC_LAST_NAMES,
  CHINESE_COMMON_SURNAMES,
  CHINESE_SURNAMES,
  HINDI_NAMES,
  HINDI_SURNAMES,
  JAPANESE_SURNAMES,
  NEPALI_NAMES,
} from "./script-names.ts";

// Arabic, Hindi, Chinese and Japanese: no capitals tell names there, and two of them put no blanks between words, so that sentences are read by the words
// of a category, by titles, honorifics and labels, and by lexica of family names. Illnesses follow the chapters of ICD-10 in its translations, drugs the stems
// of the International Nonproprietary Names (WHO) as those languages write them, the other categories GDPR Article 9.

/** What one written language knows. */
interface Script {
  readonly letters: RegExp;
  /** Names of people in a sentence, with flag `g` and a group `name`. */
  readonly persons: readonly RegExp[];
  /** Who a sentence is about. */
  readonly somebody: RegExp;
  /** What makes it one about everybody. */
  readonly general: RegExp;
  readonly subjects: readonly (readonly [entity: string, word: RegExp, unless?: RegExp])[];
  readonly pay: RegExp;
  readonly amount: RegExp;
}

/** Alternatives of a list apart by blanks, longest first, so that the longest is taken. */
const any = (list: string): string =>
  [...new Set(foldMarks(list).text.trim().split(/\s+/))]
    .sort((a, b) => b.length - a.length)
    .join("|")
    .replaceAll("_", " ");

// --- Arabic: a word may have conjunction, preposition and article before it, and a possessive behind.

const AR = "[\\u0621-\\u064a]";
const arabic = (list: string) =>
  new RegExp(`(?<!${AR})[وف]?[بلك]?(?:ال|لل)?(?:${any(list)})(?:ي|ه|ها|نا|كم?|هم|ات|ين|ا)?(?!${AR})`, "u");
const AR_FIRST = any(
  `${ARABIC_FIRST_NAMES} محمد فاطمة عائشة خديجة مريم زينب يوسف ياسر ياسين يحيى يزيد يعقوب يونس ياسمين يسرى تامر تركي تميم توفيق سارة سالم سامي سعد سعود سعيد سلمان سلوى سليمان سمير سميرة سناء سهام سيف`,
);
/** The next word of a name: not one that begins a phrase, nor a verb of the third person or the future. */
const AR_STOP = any(
  "من في على الى عن مع قبل بعد بخصوص و او ثم قد هو هي ان انه انها كان كانت هذا هذه التي الذي لا لم لن ما هل كل عند عضو غدا اليوم امس سوف رقم ورقم تاريخ مواليد منذ خلال بسبب حول الرئيس الوزير المدير السفير الاولى المحترم المحترمة الفاضل الفاضلة العميل الطبيب المعالج الجديد الجديدة السابق السابقة نفسه حصل حصلت وصل وصلت قال قالت طلب طلبت",
);
const AR_WORD = `(?!(?:${AR_STOP})(?!${AR}))(?:(?=(?:${AR_FIRST})(?!${AR}))|(?![يتس]${AR}{3,}(?= ${AR})))(?!و${AR}{3})${AR}{2,}`;
const AR_LINK = "(?:ال|ابن|بن|بنت|ابو|ابا|عبد|ام)";
const AR_FAMILY = `(?: (?:${AR_LINK} ${AR}{2,}|ال(?!ى)${AR}{2,}|${any(ARABIC_LAST_NAMES)}))`;
const AR_NAME = `(?:عبد )?${AR_WORD}(?: ال(?:دين|حق|له|زمان))?(?:${AR_FAMILY}{1,3}|(?: ${AR_WORD})?)`;
const AR_TITLES = any(
  "السيد السيدة سيد سيدة الدكتور الدكتورة دكتور دكتورة د\\. الاستاذ الاستاذة استاذ المهندس المهندسة مهندس الشيخ الشيخة الانسة الحاج الحاجة المحامي المحامية الشيف الكابتن العزيز العزيزة",
);
const AR_ROLES = any(
  "الموظف الموظفة المريض المريضة العميل العميلة الزبون الزبونة المستفيد المستفيدة زميلنا زميلتنا زميلي زميلتي صديقي صديقتي اخي اختي الطالب الطالبة المدير المديرة الممرض الممرضة جاري جارتي",
);
const ARABIC: Script = {
  letters: /[\u0621-\u064a]/,
  persons: [
    // `يا محمود`, `مرحبا سلمى`
    new RegExp(
      `(?<!${AR})(?:يا|مرحبا|اهلا|عزيزي|عزيزتي|شكرا|صباح الخير|مساء الخير) (?<name>(?:${AR_FIRST})(?!${AR})(?:${AR_FAMILY}{1,3})?)`,
      "gu",
    ),
    new RegExp(`(?<!${AR})[ولب]{0,2}(?:${AR_TITLES}|لسيدة?|لدكتورة?|لاستاذة?)(?:(?<=\\.) ?| )(?<name>${AR_NAME})`, "gu"),
    new RegExp(
      `(?<!${AR})(?:و?اسم(?:ي|ه|ها)(?: هو)?|الاسم(?: الكامل)?|اسم (?:العميل|المريض|الموظف|المستفيد)) ?:? ?(?<name>${AR_NAME})`,
      "gu",
    ),
    new RegExp(`(?<!${AR})(?:${AR_ROLES}) ?: ?(?<name>${AR_NAME})`, "gu"),
    new RegExp(`(?<!${AR})(?:${AR_ROLES}) (?<name>(?!ال)(?:عبد )?${AR_WORD}(?: ال(?:دين|حق))?${AR_FAMILY}{1,3})`, "gu"),
    new RegExp(`(?<!${AR})(?:${AR_ROLES}) (?<name>(?:${AR_FIRST})(?!${AR}))`, "gu"),
    new RegExp(
      `(?<!${AR})(?<name>(?:عبد )?(?:${AR_FIRST}) (?:(?:بن|ابن|بنت|ال) ${AR}{2,}|(?:${any(ARABIC_LAST_NAMES)})(?!${AR})))`,
      "gu",
    ),
  ],
  somebody: arabic(
    "انا هو هي لدي عندي عنده عندها اعاني يعاني تعاني مصاب مصابة اصابت تشخيص زوج زوجت زوجة اخي اختي امي ابي والد والدة والدت ابن ابنت مريض مريضة موظف موظفة زميل زميلة عميل صديق صديقة جار راتب راتبي اتقاضى يتقاضى تتقاضى احصل",
  ),
  general: arabic(
    "الوقاية دراسة دراسات ابحاث عالميا العالم متوسط نسبة اشخاص شخص المصابين المرضى اعراض انتشار انتشارا منظمة توعية تاريخ_ال ما_هو ما_هي",
  ),
  subjects: [
    [
      "HEALTH_DATA",
      arabic(
        "سكري سرطان ربو صرع التهاب ضغط_الدم اكتئاب فشل_كلوي الفشل_الكلوي قصور_القلب روماتيزم صدفية انيميا فقر_الدم صداع_نصفي الصداع_النصفي جلطة جلطات حامل اجهاض ايدز نقص_المناعة توحد فصام زهايمر باركنسون كسور غسيل_كلى الكيماوي الكيميائي مستشفى ادمان قرحة السل تصلب لوكيميا ورم اورام ذبحة وبائي كبد_وبائي تشمع تليف بهاق نقرس ثلاسيميا ارق عقم ولادة_قيصرية شلل انفصام نوبة_قلبية مشلول كورونا ملاريا",
      ),
    ],
    [
      "HEALTH_DATA",
      arabic(
        `انسولين ميتفورمين وارفارين اسبرين باراسيتامول بنادول مورفين كورتيزون ${AR}{2,}سيلين ${AR}{2,}مايسين ${AR}{2,}برازول ${AR}{2,}ستاتين ${AR}{2,}سارتان ${AR}{2,}ازيبام`,
      ),
    ],
    [
      "RELIGION",
      arabic(
        "مسلم مسلمة مسيحي مسيحية يهودي يهودية قبطي قبطية كاثوليكي شيعي شيعية سني سنية درزي بوذي هندوسي ملحد ملحدة مسجد كنيسة كنيس القداس",
      ),
    ],
    ["UNION_MEMBERSHIP", arabic("نقابة نقابي نقابية نقابات")],
    ["SEXUAL_ORIENTATION", arabic("مثلي مثلية متحول_جنسيا متحولة_جنسيا ميوله_الجنسية ميولها_الجنسية")],
    [
      "POLITICAL_OPINION",
      arabic("حزب شيوعي شيوعية اشتراكي اشتراكية ليبرالي صوت_لصالح صوتت_لصالح"),
      /حزب .{0,20}(?:يعلن|يطالب|اعلن)/u,
    ],
    ["BIOMETRIC_DATA", arabic("بصمة بصمات قزحية بصمة_الوجه القياسات_الحيوية")],
    ["GENETIC_DATA", arabic("طفرة_جينية الطفرة_الجينية الحمض_النووي فحص_جيني")],
    ["ETHNICITY", arabic("من_اصل من_اصول عرقه عرقها")],
  ],
  pay: arabic("راتب رواتب مرتب اجر معاش دخل يتقاضى تتقاضى اتقاضى"),
  amount: /\d[\d.,٬]{0,14} ?(?:ريال|درهم|دينار|جنيه|دولار|ليرة|يورو|ر\.س|د\.إ|الف)/u,
};

// --- Hindi.

const HI = "[\\u0900-\\u097f]";
const hindi = (list: string) => new RegExp(`(?<!${HI})(?:${any(list)})(?!${HI})`, "u");
const HI_STOP = any(
  "को का की के से में पर और है हैं था थी थे ने तो भी ही कि जो यह वह वे मैं हम आप एक नया नई अब कल आज क्या नहीं कृपया संख्या नंबर जन्म मोबाइल फोन ईमेल समस्या यहाँ वहाँ जी द्वारा लिए साथ भाई बहन माता पिता हाँ धन्यवाद नमस्ते",
);
/** Verbs of the future are no part of a name. */
const HI_FUTURE = `${HI}{1,12}(?:एगा|एगी|[एे][ँं]गे|[एे][ँं]गी|ेगा|[ऊू][ँं]गा|[ऊू][ँं]गी)(?!${HI})`;
const HI_WORD = `(?!(?:${HI_STOP})(?!${HI})|${HI_FUTURE})${HI}{2,}`;
const HI_NAME = `${HI_WORD}(?: ${HI_WORD}(?:['’]${HI}{2,})?){0,2}`;
const HI_LAST = any(HINDI_SURNAMES);
const HI_PAIRED = any(`${HINDI_NAMES} ${NEPALI_NAMES}`);
const HINDI: Script = {
  letters: /[\u0904-\u0939]/,
  persons: [
    new RegExp(
      `(?<!${HI})(?:${any("श्री श्रीमती सुश्री डॉ\\. डॉ डा\\. डॉक्टर प्रो\\. प्रोफेसर मिस्टर मिसेज मिस पंडित")}) (?<name>${HI_NAME})`,
      "gu",
    ),
    // `मोहम्मद इरफ़ान`, `सुनीता जी`
    new RegExp(
      `(?<!${HI})(?<name>(?:${any("मोहम्मद मुहम्मद अब्दुल सैयद शेख मौलाना सरदार")}) ${HI_WORD})(?= (?:को|का|की|के|ने|से|जी|है|हैं|पर)(?!${HI})|[,।]|$)`,
      "gu",
    ),
    new RegExp(`(?<!${HI})(?:नमस्ते|नमस्कार|प्रिय|आदरणीय|धन्यवाद),? (?<name>${HI_WORD}(?: ${HI_WORD})?) जी(?!${HI})`, "gu"),
    new RegExp(`(?<!${HI})नाम ?: ?(?<name>${HI_NAME})`, "gu"),
    new RegExp(
      `(?<!${HI})(?:मेरा|उसका|उनका|इनका|इसका|आपका) नाम (?<name>${HI_WORD}(?: ${HI_WORD}(?:['’]${HI}{2,})?){0,2}?)(?= है| हैं| था| थी|[,।]|$)`,
      "gu",
    ),
    new RegExp(
      `(?<!${HI})(?:${any("मरीज रोगी ग्राहक कर्मचारी सहकर्मी मित्र दोस्त पड़ोसी अधिकारी प्रबंधक भुगतान_पाने_वाला लाभार्थी आवेदक छात्र")}) ?: ?(?<name>${HI_NAME})`,
      "gu",
    ),
    new RegExp(`(?<!${HI})(?<name>${HI_WORD} ${HI_WORD}(?:['’]${HI}{2,})?) जी(?!${HI})`, "gu"),
    new RegExp(
      `(?<!${HI})(?:${any("मरीज रोगी ग्राहक कर्मचारी सहकर्मी मित्र दोस्त पड़ोसी")}) (?<name>${HI_WORD} ${HI_WORD}(?:['’]${HI}{2,})?)(?=,| (?:का|की|के|को|ने|से|हैं?|मजदूर|यूनियन)(?!${HI}))`,
      "gu",
    ),
    new RegExp(`(?<!${HI})(?<name>${HI_WORD} (?:${HI_LAST})(?!${HI}))`, "gu"),
    new RegExp(`(?<!${HI})(?<name>(?:${HI_PAIRED}) (?:${HI_PAIRED})(?!${HI}))`, "gu"),
  ],
  somebody: hindi(
    "मैं मैंने मुझे मेरा मेरी मेरे उसे उसका उसकी उसके उसने उनका उनकी उनके उन्हें उन्होंने वह माँ मां माता पिता पापा मम्मी पत्नी पति बेटा बेटी बेटे भाई बहन मरीज रोगी कर्मचारी सहकर्मी ग्राहक दोस्त मित्र दादा दादी नाना नानी चाचा चाची मामा भाभी जी बच्चे बच्चा पड़ोसी पड़ोसन बॉस मैनेजर शिक्षक शिक्षिका अध्यापक छात्र छात्रा आवेदक आरोपी किरायेदार ड्राइवर वे वो उनसे उससे",
  ),
  general: new RegExp(
    `${hindi("बचाव अध्ययन शोध दुनिया विश्व औसत लक्षण लोगों रोकथाम मरीजों प्रतिशत जागरूकता क्या_है क्यों_होता").source}|हर ${HI}+ व्यक्ति`,
    "u",
  ),
  subjects: [
    [
      "HEALTH_DATA",
      hindi(
        "मधुमेह डायबिटीज शुगर कैंसर दमा अस्थमा मिर्गी पीलिया अवसाद डिप्रेशन गठिया रक्तचाप बीपी टीबी तपेदिक क्षय माइग्रेन डेंगू मलेरिया एड्स एचआईवी लकवा दिल_का_दौरा हार्ट_अटैक हृदय_रोग गर्भवती गर्भपात डायलिसिस कीमोथेरेपी सर्जरी अस्पताल बुखार निमोनिया हेपेटाइटिस थायराइड एनीमिया सिजोफ्रेनिया पथरी अल्सर मोतियाबिंद ट्यूमर रसौली बीमार बीमारी चर्मरोग एलर्जी टाइफाइड कोविड कोरोना पक्षाघात बवासीर हर्निया गुर्दा_रोग हेपेटाइटिस_बी मोटापा अनिद्रा नशा_मुक्ति",
      ),
    ],
    [
      "HEALTH_DATA",
      new RegExp(
        `(?<!${HI})(?:${any("इंसुलिन मेटफॉर्मिन पैरासिटामोल एस्पिरिन क्रोसिन मॉर्फिन")}|${HI}{2,12}(?:सिलिन|माइसिन|स्टैटिन|सार्टन|प्राजोल|प्रिल))(?!${HI})`,
        "u",
      ),
    ],
    ["RELIGION", hindi("मुस्लिम मुसलमान ईसाई सिख बौद्ध यहूदी पारसी नास्तिक मस्जिद गिरजाघर चर्च गुरुद्वारा नमाज रोजा हिंदू हिन्दू")],
    ["UNION_MEMBERSHIP", hindi("यूनियन श्रमिक_संघ मजदूर_संघ कर्मचारी_संघ ट्रेड_यूनियन")],
    ["SEXUAL_ORIENTATION", hindi("समलैंगिक उभयलिंगी ट्रांसजेंडर किन्नर")],
    ["POLITICAL_OPINION", hindi("भाजपा कांग्रेस कम्युनिस्ट समाजवादी आम_आदमी_पार्टी को_वोट पार्टी_का_सदस्य पार्टी_की_सदस्य")],
    ["BIOMETRIC_DATA", hindi("फिंगरप्रिंट अंगूठे_का_निशान उंगलियों_के_निशान बायोमेट्रिक आँखों_की_पुतली आइरिस")],
    ["GENETIC_DATA", hindi("डीएनए आनुवंशिक जीन_परीक्षण")],
    ["ETHNICITY", hindi("जाति अनुसूचित_जाति अनुसूचित_जनजाति दलित आदिवासी मूल_का मूल_की")],
  ],
  pay: hindi("वेतन तनख्वाह तनख़्वाह सैलरी पगार मानदेय आय कमाता कमाती कमाते"),
  amount: /₹ ?\d|(?:रु\.?|Rs\.?) ?\d|\d[\d.,]{0,14} ?(?:रुपये|रुपए|रुपया|रु|हजार|लाख)/u,
};

// --- Chinese.

const HAN = "[\\p{Script=Han}々]";
/** What goes on behind a name rather than in it. */
const NOT_GIVEN =
  "的是在和与了也有为及于从被将说去来给把对不很又再到会能要想先后每住患诊工请已因今昨身电手号码联系医经主教同学总本先女小太师属确您我他她，的这那吗呢吧啊还就都没让当此其之以所";
/** Words that begin like a family name. */
const ZH_WORDS =
  "方式|方法|方案|方面|方便|方向|关系|关于|关注|关键|安全|安排|安装|成绩|成长|成功|成本|成员|常见|常用|常规|高度|高级|高中|时间|时候|文件|文化|文档|任务|任何|任职|任课|全部|全体|全职|金额|金融|管理|管道|项目|应当|应该|应付|应急|经验|单位|单独|包括|包装|万一|计划|路线|车辆|车位|水平|年龄|年度|年轻|程序|程度|段落|和谐|平台|平均|平时|白天|石油|连接|连续|权限|权利|席位|司机|司法|古代|简历|简单|通知|明细|明确|郎中|游客|游戏|温度|雷达|江湖|米饭|牛奶|马上|花费|严重|严格|危险|贺卡|家属|家庭|国家|数据|利益|利率|解决|解释|曲线|卓越|农村|农民|商品|商业|谷歌|鲁班|施工|倪虹|华为|祝福|祝贺|向导|何时|何处|章节|章程|史料|景点|景色|党员|费用|宫殿|房屋|居民|强制|党组|满意|满足|宣传|宣布|容易|容量|越来|温馨|支付|支持|余额|余地|党费";
const SURNAME = `(?!${ZH_WORDS})(?:${any(CHINESE_SURNAMES)}|欧阳|司马|上官|诸葛|東方|[${CHINESE_COMMON_SURNAMES}])`;
/** `小` begins given names, where no word that it begins goes on. */
const ZH_GIVEN = `(?:(?:(?![${NOT_GIVEN}])|(?=小(?![姐学时组心区型吃费额孩朋说事子腿雪麦])))${HAN}){1,2}?`;
const ZH_TITLE =
  "(?:先生|女士|小姐|太太|老师|医生|大夫|教授|经理|主任|律师|总监|护士|同学|工程师|师傅|董事长|总经理|科长|处长|局长|院长|校长|博士|阿姨|叔叔)";
const ZH_END = `(?=$|[^\\p{Script=Han}]|${ZH_TITLE}|本人|的|是|在|和|与|于|被|说|患|住|已|因|将|也|有|今|昨|请|月薪|年薪|工资|出生|诊断|确诊|入职|离职|表示|申请|参加|加入|为|至|到|给|处)`;
const CHINESE: Script = {
  letters: /\p{Script=Han}/u,
  persons: [
    new RegExp(`(?<name>${SURNAME}${ZH_GIVEN})${ZH_TITLE}`, "gu"),
    new RegExp(`(?<!${HAN})(?<name>${SURNAME})(?:先生|女士|小姐|太太|老师|医生|教授|律师)`, "gu"),
    new RegExp(
      `(?:姓名|名叫|我叫|我是|本人|患者|病人|客户|员工|职工|同事|收款人|联系人|收件人|申请人|付款人|持卡人|户名|负责人|学生|联系|转告|邀请|通知|感谢|候选人|租客|朋友|邻居|(?:客服|销售|项目|产品|部门|客户|财务|人事|大堂)?(?:经理|主管|专员|总监)|主任|律师|医生|护士|班主任)(?:为|是|叫)? ?:? ?(?<name>${SURNAME}${ZH_GIVEN})${ZH_END}`,
      "gu",
    ),
    new RegExp(
      `(?<!${HAN})(?<name>${SURNAME}${ZH_GIVEN})(?=(?:今天|昨天|明天|今早|刚才|上周|这周|下周)?(?:说|请假|住院|生病|加班|出差|迟到)|表示|认为|住在|患有|被诊断|被确诊|确诊|月薪|年薪|请假|入职|离职|辞职|出生于|的(?:电话|手机|身份证|月薪|年薪|工资|收入|邮箱|生日|住址|病|银行|护照|账号|妻子|丈夫|儿子|女儿))`,
      "gu",
    ),
  ],
  somebody:
    /我|他|她|您|患者|病人|本人|爸|妈|父亲|母亲|妻子|丈夫|老婆|老公|儿子|女儿|同事|员工|先生|女士|客户|朋友|申请人|哥|弟|姐|妹|叔|阿姨|爷爷|奶奶|外公|外婆|孩子|宝宝|老师|邻居|室友|同学|老板|经理|男友|女友|求职者|被保险人|投保人|嫌疑人|房客|司机|(?<!\p{Script=Han})[小老阿]\p{Script=Han}(?=怀孕|得了|患|住院|确诊|请|是|因|有|说|被|加入|信|月薪|年薪|抑郁|生病|昨|今|在|要|做)/u,
  general: /预防|研究|全球|世界|平均|症状|什么是|如何|人群|患者应|患者的饮食|每.{1,4}人|发病率|比例|%|指南|科普|有哪些|年轻人/u,
  subjects: [
    [
      "HEALTH_DATA",
      /(?:\p{Script=Han}{1,6}(?:病|癌|炎|症|瘤|综合征|中毒|骨折|梗死|梗塞|衰竭|溃疡|结石|硬化|瘫痪|肺结核)|高血压|高血脂|癫痫|哮喘|乙肝|甲肝|丙肝|艾滋|HIV|中风|怀孕|流产|化疗|放疗|透析|住院|手术|抑郁|焦虑|自闭|过敏|贫血|失眠|痛风|结核|偏头痛|截肢|试管婴儿)(?![毒假房床])/u,
      /毛病|通病|病毒库|症结/u,
    ],
    [
      "HEALTH_DATA",
      /胰岛素|双胍|西林|霉素|\p{Script=Han}(?:沙坦|普利|洛尔|地平|他汀|替尼|单抗|唑仑|西泮|拉唑|格列净|列汀)|阿司匹林|布洛芬|泼尼松|华法林|吗啡|美沙酮|舍曲林|氟西汀/u,
    ],
    [
      "RELIGION",
      /基督徒|天主教|佛教徒|穆斯林|伊斯兰教|犹太教|道教徒|教徒|信奉|清真寺|教堂|做礼拜|无神论/u,
      /教堂(?:建筑|历史|参观)/u,
    ],
    ["UNION_MEMBERSHIP", /工会/u],
    ["SEXUAL_ORIENTATION", /同性恋|双性恋|跨性别|变性|出柜|性取向/u, /权益|运动|电影/u],
    ["POLITICAL_OPINION", /党员|入党|加入.{0,6}党|投票给|支持.{0,6}党/u],
    ["BIOMETRIC_DATA", /指纹|虹膜|声纹|人脸(?:识别|数据|信息|特征)|掌纹|生物特征/u, /传感器|证书|哈希/u],
    ["GENETIC_DATA", /基因(?:突变|检测|携带)|DNA|染色体/u],
    ["ETHNICITY", /(?:维吾尔|藏|回|壮|满|苗|彝|蒙古|朝鲜|汉|哈萨克|土家|侗|瑶|白)族|民族:|血统|少数民族/u],
  ],
  pay: /月薪|年薪|工资|薪水|薪资|薪酬|底薪|奖金|月入|年入|收入/u,
  amount:
    /\d[\d.,]{0,14} ?(?:万|千|百)?元|¥ ?\d|人民币 ?\d|\d[\d.]{0,8}万|[一二两三四五六七八九十]{1,3}[万千](?:[一二三四五六七八九]千?)?/u,
};

// --- Japanese.

const JA_LIST = `${JAPANESE_SURNAMES} 斎藤 斉藤 齋藤`.split(" ");
/** Family names of one character are words as well, and some are prefectures and towns. */
const JA_PLACES = new Set(
  "福島 千葉 石川 福井 山口 長野 宮崎 宮城 秋田 山形 富山 徳島 香川 高知 大分 熊本 岡山 広島 長崎 佐賀 奈良 三重 滋賀 上野 渋谷 目黒 品川 中野 川崎 横浜 松本 松山 高松 豊田 本田 松下 川口 池袋".split(
    " ",
  ),
);
const JA_LONG = `(?:${any(JA_LIST.filter((name) => name.length > 1).join(" "))})`;
const JA_SURE = `(?:${any(JA_LIST.filter((name) => name.length > 1 && !JA_PLACES.has(name)).join(" "))})`;
const JA_SURNAME = `(?:${any(JA_LIST.join(" "))})`;
/** Places, companies and offices rather than given names. */
const JA_NOT_GIVEN =
  "(?!県|市|区|町|村|駅|大学|銀行|病院|電機|工業|製|産|商|建設|不動|支店|本店|高校|中学|小学|空港|城|湖|川|山|島)";
const JA_GIVEN = `(?:${JA_NOT_GIVEN}${HAN}{1,3}|[\\p{Script=Hiragana}]{2,4}|[\\p{Script=Katakana}ー]{2,5}|${HAN}{1,2}[\\p{Script=Hiragana}]{1,2}|[\\p{Script=Hiragana}]{1,2}${HAN}{1,2})`;
const JA_HONORIFIC = "(?:さん|様|さま|氏|くん|君|ちゃん|殿|先生|部長|課長|社長|係長|主任|教授|医師|弁護士|店長|選手|院長)";
const JA_END = `(?=$|[^\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー]|${JA_HONORIFIC}|です|と申|と言|は|が|の|に|を|へ|も|から|より|まで|で)`;
const JAPANESE: Script = {
  letters: /[\u3041-\u30ff]|\p{Script=Han}/u,
  persons: [
    new RegExp(`(?<name>${JA_LONG} ?${JA_GIVEN}?)${JA_HONORIFIC}`, "gu"),
    new RegExp(`(?<!${HAN})(?<name>${JA_SURNAME} ?(?:${HAN}{1,2})?)(?:さん|様|さま|先生|ちゃん|くん)`, "gu"),
    new RegExp(
      `(?<!${HAN})(?<name>(?!お|皆|神|奥|業者|患者|学生|職人|同僚|店員|各位|王|仏|母|父|兄|姉|弟|妹|客|社員|会員|先輩|後輩|店長|部長|社長|隣)${HAN}{1,3}(?![者屋先店師手家員生社方主客長衆達人])${HAN}(?: ?[\\p{Script=Hiragana}]{2,3})??)(?:さん|様|氏)`,
      "gu",
    ),
    /(?<name>[\p{Script=Katakana}ー]{2,10}・[\p{Script=Katakana}ー]{2,12}(?:・[\p{Script=Katakana}ー]{2,12})?)(?=さん|様|氏|は|が|と|、|$)/gu,
    new RegExp(`私は(?<name>${JA_SURNAME} ?${JA_GIVEN})(?=と申|と言|です)`, "gu"),
    new RegExp(
      `(?:氏名|名前|お名前|患者名?|お客様名|担当者?|名義|宛名|受取人|社員|同僚の?|名前は) ?:? ?(?<name>(?:${JA_LONG} ?${JA_GIVEN}|${JA_SURNAME} ?${JA_NOT_GIVEN}${HAN}{1,2}))${JA_END}`,
      "gu",
    ),
    new RegExp(
      `(?<!${HAN})(?<name>${JA_SURE} ?(?!${HAN}*(?:県|市|区|町|村|駅|社|店|所|部|課|機|業|局|館|校|院|会|組|線|港|園|寺|橋|通))${HAN}{1,3})${JA_END}`,
      "gu",
    ),
  ],
  somebody:
    /私|僕|俺|彼|彼女|父|母|妻|夫|息子|娘|兄|弟|姉|妹|患者|社員|同僚|本人|さん|様|氏名|友人|祖父|祖母|おじ|おば|上司|部下|先輩|後輩|新人|隣人|大家|応募者|被保険者|契約者|容疑者|ちゃん|くん|君|うちの子|先生|店長|部長|課長/u,
  general: /予防|研究|世界|平均|症状|とは|患者数|人に[一1]人|割合|調査|ガイドライン|一般に|若者|歴史/u,
  subjects: [
    [
      "HEALTH_DATA",
      /(?:[\p{Script=Han}\p{Script=Katakana}ーA-Z]{1,8}(?:病|癌|がん|ガン|炎|症|腫瘍|障害|症候群|骨折|梗塞|中毒|麻痺|不全|結核|リウマチ|アレルギー)|うつ|鬱|てんかん|ぜんそく|喘息|高血圧|認知症|妊娠|流産|入院|手術|抗がん剤|透析|HIV|エイズ|脳卒中|偏頭痛|不眠|貧血|痛風)/u,
      /(?:システム|通信|ネットワーク|サーバー?|電波|接続)障害|障害(?:報告|対応|発生|情報|復旧)|病院の(?:建設|予定)/u,
    ],
    [
      "HEALTH_DATA",
      /インスリン|[\p{Script=Katakana}ー]{1,8}(?:マイシン|シリン|サルタン|プリル|ロール|ジピン|スタチン|チニブ|マブ|ゼパム|ゾラム|プラゾール|ホルミン|ファリン|グリプチン)|アスピリン|プレドニゾロン|モルヒネ|ロキソニン|カロナール|イブプロフェン/u,
      /コントロール|パトロール|エイプリル/u,
    ],
    [
      "RELIGION",
      /キリスト教徒|カトリック|プロテスタント|イスラム教|ムスリム|ユダヤ教|仏教徒|創価学会|信者|信徒|教会|モスク|礼拝|無宗教/u,
      /建築|観光/u,
    ],
    ["UNION_MEMBERSHIP", /労働組合|組合員|組合|労組/u, /協同組合|住宅組合|信用組合|管理組合/u],
    ["SEXUAL_ORIENTATION", /同性愛|両性愛|ゲイ|レズビアン|トランスジェンダー|性的指向|カミングアウト/u, /権利|映画/u],
    ["POLITICAL_OPINION", /党員|入党|[党]に(?:投票|入)|支持政党|を支持/u],
    ["BIOMETRIC_DATA", /指紋|虹彩|声紋|顔認証|静脈認証|生体(?:認証|情報)|掌紋/u, /証明書|ハッシュ/u],
    ["GENETIC_DATA", /遺伝子(?:検査|変異)|DNA|染色体/u],
    ["ETHNICITY", /在日|アイヌ|部落|民族的|人種は|系の?(?:二世|三世)/u],
  ],
  pay: /月給|年収|給料|給与|月収|賃金|時給|日給|賞与|ボーナス|手取り/u,
  amount: /\d[\d.,]{0,14} ?(?:万|千)?円|¥ ?\d/u,
};

/** Japanese without kana, as in forms: labels tell names, family names alone would be places of China. */
const JAPANESE_FORMS: Script = { ...JAPANESE, letters: CHINESE.letters, persons: JAPANESE.persons.slice(5, 6) };

const NATIVE = /[\u0621-\u064a\u0904-\u0939\u3041-\u30ff\p{Script=Han}]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]+/gu;
const IDEOGRAPHS = /\p{Script=Han}+/gu;
/** Of the letters of Japanese prose far more than this are kana; of a Chinese text that names a Japanese brand far fewer. */
const JAPANESE_SHARE = 0.1;
/** So many ideographs without kana are no Japanese prose, whatever stands around them. */
const PROSE = 20;
/** Sentences, or what is so long of one. */
const SENTENCE = /[^。！？!?؟।\n]{1,300}/gu;

/**
 * Names of people and categories of personal data in Arabic, Hindi, Chinese and Japanese. Time is linear in the text: a sentence is read in bounded pieces. Offsets are those of the text.
 */
export function scriptSpansIn(text: string): ProseSpan[] {
  const found: ProseSpan[] = [];
  if (!NATIVE.test(text)) return found;
  const folded = foldMarks(text);
  const around = kanaShare(folded.text).share >= JAPANESE_SHARE;
  for (const { 0: line, index: begin } of folded.text.matchAll(/[^\n]+/gu)) {
    const { letters, share } = kanaShare(line);
    const japanese = share >= JAPANESE_SHARE || (around && letters < PROSE);
    const scripts = [ARABIC, HINDI, ...(japanese ? [JAPANESE] : [CHINESE, JAPANESE_FORMS])];
    for (const { 0: sentence, index } of line.matchAll(SENTENCE)) {
      for (const script of scripts) {
        if (!script.letters.test(sentence)) continue;
        for (const { entity, rule, start, end } of readSentence(script, sentence))
          found.push({
            entity,
            rule,
            start: folded.start(begin + index + start),
            end: folded.end(begin + index + end),
          });
      }
    }
  }
  return found;
}

/** How many letters of a text are ideographs or kana, and which part of them is kana. */
function kanaShare(text: string): { readonly letters: number; readonly share: number } {
  const length = (runs: RegExp): number => (text.match(runs) ?? []).reduce((sum, run) => sum + run.length, 0);
  const kana = length(KANA);
  const letters = kana + length(IDEOGRAPHS);
  return { letters, share: letters === 0 ? 0 : kana / letters };
}

const everywhere = new WeakMap<RegExp, RegExp>();
/** The expression with the flag `g`, made once: a sentence may name an operation and what it is for. */
function everyOf(word: RegExp): RegExp {
  const known = everywhere.get(word) ?? new RegExp(word, `${word.flags}g`);
  everywhere.set(word, known);
  return known;
}

function readSentence(script: Script, sentence: string): ProseSpan[] {
  const found: ProseSpan[] = [];
  for (const pattern of script.persons) {
    // Not by `matchAll`, which makes a new expression for each sentence.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(sentence); match !== null; match = pattern.exec(sentence)) {
      const name = match.groups?.["name"] ?? "";
      const start = match.index + match[0].indexOf(name);
      const end = start + name.trimEnd().length;
      if (name !== "" && !found.some((other) => other.start < end && other.end > start))
        found.push({ entity: "PERSON", rule: "title, label or family name", start, end });
    }
  }
  const named = found.length > 0;
  const general = script.general.test(sentence) && !named;
  if (general || !(named || script.somebody.test(sentence))) return found;
  for (const [entity, word, unless] of script.subjects) {
    if (unless?.test(sentence) === true) continue;
    for (const { 0: said, index } of sentence.matchAll(everyOf(word)))
      found.push({ entity, rule: "word of the category", start: index, end: index + said.length });
  }
  const pay = script.pay.exec(sentence);
  if (pay === null) return found;
  const amounts = [...sentence.matchAll(new RegExp(script.amount, "gu"))];
  if (amounts.length > 0)
    found.push({ entity: "SALARY", rule: "pay and amount", start: pay.index, end: pay.index + pay[0].length });
  // A sum that begins with its currency was looked at as far as its first digit.
  for (const { 0: sum, index } of amounts) {
    const rest = /^[\d.,٬]{0,15}(?: ?[万萬千百億亿]?[元円])?/u.exec(sentence.slice(index + sum.length))?.[0] ?? "";
    found.push({
      entity: "SALARY",
      rule: "amount of pay",
      start: index,
      end: index + sum.length + rest.replace(/[.,٬]+$/, "").length,
    });
  }
  return found;
}
