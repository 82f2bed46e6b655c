// Common names of countries that the lexicon of names has few of, as telephone books and registers of births there have them; in Latin letters, without accents.

/** Given names of Japan, Korea, China, Vietnam, Thailand, of East, West and Southern Africa, Ethiopia, the Arab countries, Iran, Central Asia, Portugal and Brazil. */
export const WORLD_FIRST_NAMES =
  `hiroshi takashi kenji kenta haruto yuto sota yuki haruka sakura yui aoi hina misaki nanami akiko keiko yoko kumiko michiko naoko yumiko tomoko noriko kazuko masako hiroko satoshi takeshi makoto masaru minoru shigeru yoshio kazuo akio hideo daisuke shota ryota tatsuya kazuya takuya naoki hiroki koichi kenichi shinichi yuichi junichi ryo ren sho tsubasa ayaka mayumi emi eri kaori chihiro rina mio riko asuka shinji koji eiji yuji
  minjun seojun jihoon jiho hyunwoo minho jungkook seoyeon jiyoon jiwoo minji soyeon eunji hyejin yuna sujin sunhee youngsoo minseo taehyung sangwoo kyungsoo donghyun
  xiaoming xiaohong xiaoyan weiwei meiling meili jianguo jianhua guoqiang zhiqiang haiyan lihua xiuying yuhan zihan yichen zixuan haoran jiahao yating yuxin jingyi xinyi ruoxi zhihao mingyu lingling fangfang xiuli guihua
  thuy huong hanh trang phuong duc tuan hung quang thanh minh khanh ngoc linh thao hoa huyen nhung dung thu somchai somsak somying siriporn kanya niran anong chai apinya wanchai
  achieng akinyi atieno adhiambo anyango awuor otieno onyango odhiambo ochieng omondi okoth wanjiku wanjiru wambui njeri nyambura wangari muthoni wairimu kamau njoroge mwangi kariuki kimani maina njuguna karanja mutua mwende musyoka wafula nekesa nafula baraka juma rehema neema amani zawadi furaha imani bahati tumaini upendo mosi makena kiprop kipchoge kipkemboi chebet chepkoech jepkosgei cherono jelagat
  kelechi chinedu chidi chioma chiamaka adaeze nneka ngozi ifeoma ifeanyi obinna emeka uche nkechi amaka ebere okechukwu nnamdi chukwuemeka chinwe olumide oluwaseun babatunde adewale folake funmilayo temitope ayodele damilola tunde yetunde bisi segun kunle sade titilayo femi wale aminu hauwa zainab kwame kofi kwabena yaw kwaku akosua abena adwoa esi efua ama yaa nana mamadou ousmane cheikh aissatou fatoumata aminata mariama moussa ibrahima oumar seydou awa binta salif boubacar
  thabo sipho lerato naledi nomvula nosipho themba zanele thandiwe bongani lwazi sibusiso mpho tshepo palesa refilwe karabo kagiso lindiwe ayanda nkosana siyabonga tendai tatenda farai rudo chipo tapiwa rumbidzai kudzai
  abebe bekele kebede tesfaye haile almaz tigist mulugeta hirut selam meseret yonas dawit getachew alemu worku genet
  khaled yousef youssef mustafa mahmoud abdelrahman hussein omar tariq rania nour layla leila huda samira salma mariam noura reem dina hala amal faisal sultan majid nasser walid karim hamza bilal ziad farid samir reza hossein mehdi ali amir behzad dariush farhad kaveh shirin nasrin maryam zahra fatemeh parisa laleh azadeh niloofar aigerim nursultan aliya dinara timur rustam jamshid dilnoza gulnara bakyt
  deolinda everton wanderley josivaldo edmilson jucilene rosangela valdir claudiomir edson wesley thiago tiago rui joaquim conceicao fatima lurdes graca zulmira bernardino adelino abilio belmiro`.replace(
    /\s+/g,
    " ",
  );

/** Family names of the same, that the lexicon has not. */
export const WORLD_LAST_NAMES =
  `tanaka suzuki takahashi watanabe yamamoto nakamura kobayashi yoshida yamada sasaki yamaguchi matsumoto inoue kimura hayashi shimizu yamazaki mori abe ikeda hashimoto ishikawa ogawa fujita okada goto hasegawa murakami kondo ishii sakamoto endo aoki fujii nishimura fukuda ota miura fujiwara okamoto matsuda nakagawa nakano harada tamura takeuchi kaneko wada nakayama ishida ueda morita hara shibata kudo yokoyama miyazaki uchida
  nguyen tran pham hoang huynh phan duong dang bui ngo wijaya santoso hidayat nugroho setiawan suharto susanto siregar nasution simanjuntak reyes dela-cruz bautista villanueva mendoza aquino
  otieno onyango odhiambo ochieng omondi okoth wanjiku kamau njoroge mwangi kariuki kimani maina njuguna karanja mutua musyoka wafula kiprop kipchoge chebet kibet rotich koech ruto odinga kenyatta mutiso nyong'o oduya wekesa barasa simiyu
  okafor okeke okonkwo okoro nwosu nwankwo eze obi okoye onyeka uzoma adeyemi adebayo ogunleye ogunbanjo balogun abiola olawale mensah boateng owusu asante osei appiah agyeman ofori addo diallo traore keita coulibaly toure camara cisse ndiaye diop faye gueye sarr sow bah barry konate
  dlamini nkosi ndlovu khumalo mokoena molefe sithole zulu mthembu ngcobo zwane radebe mabaso tshabalala moyo ncube sibanda chikwanha mutasa tesfaye bekele abebe haile gebremedhin wolde
  teixeira carvalho figueiredo vasconcelos magalhaes nogueira siqueira cavalcante`.replace(/\s+/g, " ");

/** Family names that stand before the given name: of China, Korea and Vietnam, with those of Hong Kong and Taiwan. */
export const NAMES_BEFORE =
  "wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin guo ma luo liang zheng xie tang feng yu dong xiao cheng cao yuan deng fu shen zeng peng lu jiang cai jia ding wei xue ye yan pan du dai xia zhong tian ren fang shi yao tan liao zou xiong jin hao kong bai cui kang mao qiu qin gu hou shao meng qian duan kim lee park choi jung kang cho yoon jang lim shin seo kwon hwang ahn nguyen tran pham hoang huynh phan vu dang bui ngo duong chan wong cheung leung lau ng kwok chow yip tsai hsu chang lai";

/** A given name of China in letters: two syllables of pinyin. */
export const PINYIN_NAME =
  /^(?:(?:[bpmfdtnlgkhjqxrzcsyw]|zh|ch|sh)?(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|ai|ei|ao|ou|an|en|in|un|ia|ie|iu|ua|uo|ui|ue|er|a|o|e|i|u)-?){2}$/;

/** Endings of family names in Slavic countries, Greece, the Caucasus, Turkey, Iran, Scandinavia, Finland, Romania, Iberia and India. */
export const FAMILY_ENDINGS =
  /^[a-z]{2,}(?:ov|ova|ev|eva|enko|chuk|ski|ska|sky|skaya|wicz|czyk|czak|opoulos|opoulou|idis|idou|adis|akis|aki|yan|ian|adze|shvili|iani|oglu|zadeh|pour|nejad|sson|ssen|dottir|lainen|nen|escu|eanu|vic|ovic|ez|eira|ucci|elli|etti|ini|oni|wala|kar|nathan|swamy|murthy|appa|gowda|anto|awan|wati|nwa|chukwu)$/;
