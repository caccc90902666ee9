// Names that readers have for things, as patterns of a question; a new row needs nothing else.

/** Terms that readers may use, and the book's own term for the same thing. @type {[RegExp, string][]} */
export const CALLED_HERE = [
  [/^(why|do)\b(?!.*interpol).*\bposition(al)? (encoding|embedd?ing)s?\W*$/i, "where was each patch"],
  [/\bposition(al)? (encoding|embedd?ing)s?\b/i, "position"],
  [/\bsinusoid(al|s)?\b/i, "sines and cosines"],
  [/(\b1 ?\/ ?)?(√ ?|\bsqrt ?)\(?d(_?[kh]|im)?\b\)?/i, "√d"],
  [/\bro-?pe\b/i, "rotary positions"],
  [/\bbatch-?norm\b/i, "batch norm"],
  [/\blayer[- ]?normali[sz]ation\b/i, "LayerNorm"],
  [/\bknowledge distillation\b/i, "distillation"],
  [/\badam vs\.? sgd\b/i, "AdamW instead of plain steps"],
  [/\bflash[- ]?attention\b/i, "fused attention"],
  [/\b(cls|\[cls\])(?= token)/i, "class"],
  [/\bback-?prop(agation)?\b/i, "backward pass"],
  [/^vits?$/i, "Vision Transformer"],
  [/\bskip connection/i, "residual connection"],
  [/\bdrop ?path\b/i, "stochastic depth"],
  [/\bfeed[- ]?forward( network)?\b/i, "MLP"],
  [/\b(half|mixed) precision\b|\bfp16\b|\bamp\b/i, "autocast"],
  [/\bquanti[sz]ation\b/i, "eight bits"],
  [/\btransfer learning\b/i, "fine-tuning"],
  [/^.*\b(saliency|heat ?maps?|visuali[sz]\w* .*attention|explain\w* .*predictions?)\b.*$/i, "attention maps"],
  [/\ball the same\W*$/i, "all alike"],
  [/\battention sinks?\b/i, "registers"],
  [/\b(in|equi)variance to permutations?\b|\bpermutation (in|equi)varian(ce|t)\b/i, "shuffle"],
  [/^.*\b(how much|enough) (training )?data\b.*$|^how many (training )?images\b.*\bneed.*$/i, "need so many images"],
  [/\bthroughput\b|\binference (speed|time)\b/i, "speed"],
  [/\brandom seeds?\b|\breproducib(le|ility)\b/i, "seed"],
  [/\btrain[ -/]*(val\w* )?test split\b/i, "images in three parts"],
  [/\bearly stopping\b/i, "overfitting looks"],
  [/\b(how many|tiny|base) parameters\b|\bparameter count\b|\bnumber of parameters\b/i, "every parameter counted"],
  [/\b(photos?|pictures)\b/i, "photographs"],
  [/\beinsum\b/i, "einops"],
  [/\bmulti[- ]?gpu\b/i, "DDP"],
  [/\b(load|use) (timm|torchvision|hugging ?face)('s)? (weights|models?)\b/i, "load weights"],
  [/\b(cosine|learning rate) (schedule|decay)\b|\b(learning rate |lr )?schedulers?\b/i, "warm-up cosine"],
  [/\boverfit\w*\b.*\b(data ?sets?|data|images)\b/i, "overfitting"],
  [/\bexplainability\b|\binterpretability\b/i, "what attention maps do not tell"],
];

/** Words that are no mistakes although the book has others for them. */
export const THEIR_WORDS = `apple backprop backpropagation distillation finder heatmap hybrid inference permutation
  precision quantization reuse saliency sinks sinusoidal stem throughput typo visualise visualize`.split(/\s+/);

const SYMPTOMS = "side_roads/when_it_does_not_work";
const INSTALLING = "book/package/in_use#installing";
const SHAPES = `${SYMPTOMS}#the-shapes-do-not-fit`;
const TYPES = `${SYMPTOMS}#the-wrong-device-type-or-label`;
const POSITIONS = `${SYMPTOMS}#size-mismatch-for-pos-embed-the-positions-do-not-fit`;
const AT_LN_K = `${SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes`;
const TAKE_IT = "book/intro#take-it-with-you";
const READING = "00_before_you_start#how-to-read-this-book";
const EXPLODES = `${SYMPTOMS}#the-loss-explodes-or-is-nan`;
const BELOW = `${SYMPTOMS}#validation-accuracy-far-below-training-accuracy`;

const WISHES = "colab|kaggle|binder|download|pdf|offline|locally|print|notebooks|licen[cs]es?|copyright|free";
const WISHED = "run|open|start|google|read|get|save|whole|all|book|notebook|exercises|code";

/** The place of what readers look for in vain, but whose words the book has in another sense. */
export const NOWHERE = "";

/** Sections that answer a question best although others have more of its words. @type {[RegExp, string][]} */
export const TOLD_AT = [
  [/\b(nn\.functional|F)\.scaled_dot_product_attention\b/, "11_speed#by-hand-fused-attention"],
  [new RegExp(`^(?=.*\\b(${WISHES})\\b)((${WISHES}|${WISHED})\\b *)+$`, "i"), TAKE_IT],
  [/\bdownload .*\b(book|notebooks?|exercises)\b|\bread .*\boffline\b|\bbook\b.* \bfree\b/i, TAKE_IT],
  [/\bgrad(ient)?s? (is|are) none\b/i, "14_bug_clinic#the-module-six-quick-tests"],
  [/\bcommercial(ly)?\b|\b(re-?use|use (the|these|this|your|its)) (figure|drawing|diagram|text)s?\b/i, TAKE_IT],
  [/^translate\b(?! equi).{0,20}$|^.{0,20}\b(german|french|spanish|chinese|other languages?)\b.{0,15}$/i, NOWHERE],
  [/^(change ?log|what['’]?s new|release notes|(image )?super[- ]?resolution)$/i, NOWHERE],
  [/\btrying to backward\b|\bbackward through the graph\b|\binplace operation\b/i, NOWHERE],
  [/^(how|where) (do|can|should|to)( i| we)? (start|begin)\W*$|^(getting started|quick ?start)$/i, READING],
  [/\b(need|without|have no)( an?)? (gpu|graphics card)\b|^gpu req|^(no|without) (gpu|cuda)$|^cpu[- ]only$/i, READING],
  [/\bwrong with (my|this)\b|^(help|it does(n['’]t| not) work)$/i, `${SYMPTOMS}#when-it-does-not-work`],
  [/\bpython version/i, "book/classroom#setting-up"],
  [/^(dark|light|night) (mode|theme)$|^keyboard shortcuts?$/i, "book/accessibility#a-few-things-that-help"],
  [
    /^(contact|feedback|errata|typos?|contribut\w+|report (an? )?\w+|found an? (mistake|error|typo))\b.{0,20}$/i,
    "book/accessibility#if-something-is-in-your-way",
  ],
  [/^((how to )?cit(e|ing|ation)|bibtex|authors?|who wrote)( this| the| it)?( book)?\W*$/i, "book/intro#how-to-cite"],
  [/^((lecture )?slides?( decks?)?|decks?|powerpoint|pptx?)$/i, "book/teaching#plan-a-course"],
  [/^((final |mid-?term )?exams?|mid-?terms?|test papers?)$/i, "book/assessment#the-quiz"],
  [
    /^how (long|much time|many hours) (does|do|will|is) .*\b(it|book|course|read|reading)( take| last| need)?$/i,
    "book/intro#the-three-hour-route",
  ],
  [/^(how (do i|to) |pip |windows )?(install(ation|ing)?|set ?up)\b/i, INSTALLING],
  [/\bno module named\b|^ModuleNotFoundError\b|\bnot compiled with CUDA\b|\bno NVIDIA driver\b/i, INSTALLING],
  [/\bout of memory\b|\boom\b/i, `${SYMPTOMS}#out-of-memory`],
  [/\bweights[_ ]only\b/i, "side_roads/weights_from_elsewhere#pickles-and-safetensors"],
  [/\bdivide axis of length\b/i, "02_patch_embedding#images-that-do-not-divide-into-patches"],
  [/\bdivisible by (n|num)_heads\b/i, "side_roads/heads_elsewhere#heads-that-do-not-divide-d"],
  [/\b(height|width|size) .*\bmatch\w* model\b|\bsize mismatch for [\w.]*pos(ition)?_embed/i, POSITIONS],
  [/\bdimensional (input|weight)\b|\bExpected \dD\b|\bto be equal size\b|\bmatch target batch_size\b/i, SHAPES],
  [/^\(?[BTDNPCK](,? [BTDNPCK])*\)?$/, "book/notation#shapes"],
  [/\b(mps|apple|macbook|cpu|laptop)\b.*\bslow|\bslow\b.*\b(mps|apple|macbook)\b/i, `${SYMPTOMS}#training-is-slow`],
  [/^mps$|\bapple\b|\bmac(book| gpu)\b/i, "book/package/command_line#train"],
  [/\b(object )?detection$|^(semantic |image )?segmentation$/i, "book/map_of_papers#other-tasks"],
  [/^(mae|masked auto-?encoders?)$/i, "side_roads/without_labels#without-labels"],
  [/^confusion matri(x|ces)$/i, "book/package/in_use#every-image-of-a-data-set"],
  [/\bsave\b.*\b(model|checkpoint)\b|^torch\.save\b/i, "side_roads/your_own_photographs#ask-it-save-it-load-it"],
  [/^batch ?size$/i, "side_roads/the_rest_of_the_toolbox#how-large-a-batch"],
  [/^embed(s|ded)?$/i, "02_patch_embedding#patch-embedding"],
  [/^patch ?sizes?$/i, "02_patch_embedding#one-matrix-for-all-patches"],
  [/^clip$/i, "side_roads/words_and_pictures#clip-which-caption-belongs-to-this-picture"],
  [/^(qkv|q,? k,?( and)? v)( matrix)?$/i, "05_multi_head_attention#one-matrix-for-q-k-and-v"],
  [/^(optimi[sz]er\.)?zero_grad(\(\))?$|^loss\.backward/, "08_training#eight-lines-that-train-a-vision-transformer"],
  [/\blearning rate (is )?too (high|large)\b|\bnan\b.* loss\b|\bloss\b.* nan\b/i, EXPLODES],
  [/^(exercises? |chapter )?(solutions?|answers)( (to|of|for|chapter)\b.*)?$/i, "book/intro#how-a-chapter-goes"],
  [/^(prerequisites?|requirements|what (do|should) i (need|know))$/i, "00_before_you_start#a-ten-minute-self-test"],
  [/^(demo|interactive|playground|in the browser|transformers\.?js)$/i, "book/lab#the-vit-lab"],
  [/^(@|@ operator|operator @|matmul|matrix (multiplication|product))$/i, "00_before_you_start#a-linear-layer"],
  [/^γ$|(gamma|beta).*(gamma|beta|layer.?norm)|layer.?norm.*(gamma|beta|γ|β)/i, "06_encoder_block#by-hand-layernorm"],
  [/\b(missing|unexpected) key|^KeyError: '(?!head|fc\.)\w+[._]/i, "10_pretrained_weights#what-breaks-strict-false"],
  [/\bsize mismatch for (heads?|fc|classifier)\b|^(head|classifier|fc)\.\w+$/i, "10_pretrained_weights#fine-tuning"],
  [/\bsize of tensor a \((19[678]|25[678]|26[01]|57[678])\) must match\b/i, POSITIONS],
  [/\bposition(al)? embedd?ings?\b.*\b(shape|size|fit|mismatch)/i, POSITIONS],
  [/\bon the same device\b|\binput type\b.*\b(weight|bias) type\b/i, TYPES],
  [/\bexpected scalar type\b|\btarget dtype to be long\b|\bdevice-side assert\b|^cuda error$/i, TYPES],
  [/\b(target|label)\b.*\bout of (bounds|range)\b/i, TYPES],
  [
    /^(permute|reshape|transpose|view)( ?(vs\.?|versus|or|and))? (permute|reshape|transpose|view)$/i,
    "00_before_you_start#the-order-of-the-numbers-in-memory",
  ],
  [/^((gradient|activation) )?checkpointing$/i, "11_speed#by-hand-activation-checkpointing"],
  [/^regulari[sz]ation$/i, "08_training#the-ingredients-one-by-one"],
  [/^((the )?(original |vit )?papers?|an image is worth\b.*)$/i, "book/map_of_papers#a-map-of-papers"],
  [/^conv\w* stem$/i, "02_patch_embedding#further-reading"],
  [/^(nn\.)?conv2d\b/i, "02_patch_embedding#the-same-layer-written-as-a-convolution"],
  [/^dino([ -]?v?\d)?$/i, "book/map_of_papers#without-labels"],
  [/^(references|bibliography)$/i, "book/references#references"],
  [/\bsame dtype\b|\bto the desired output type\b/i, "11_speed#by-hand-bfloat16-and-autocast"],
  [/\bmat1 and mat2\b|\bcannot be multiplied\b|\binvalid for input\b|\bmatrix multiplication error\b/i, SHAPES],
  [/\b(batch2|size of) tensor\b|\bmust match the( existing)? size\b|\b(shape|dimension)s? (error|mismatch)/i, SHAPES],
  [/\bto have \d+ channels\b|\bgiven groups\b/i, `${SYMPTOMS}#images-with-1-4-or-10-channels`],
  [/\b(not|n['’]t) (learn|train|converge)\b/i, AT_LN_K],
  [/\b(val\w*|test) (accuracy|acc)\b.*(\bnot|n['’]t|\bstops?)\b.*\b(improv|increas|ris(e|ing)|chang)\w*/i, BELOW],
  [/\b(loss|accuracy)\b.*(\bnot|n['’]t)\b.*\b(go|get|fall|drop|improv|decreas|increas|ris(e|ing)|chang)\w*/i, AT_LN_K],
  [/\bacc(uracy)?\b.*(\b(stuck|stays?) .*\b10\b|\b10 ?(%|per)|\bchance\b)|\bloss plateaus?\b/i, AT_LN_K],
  [/\bpredict\w* .*\bsame (class|label|digit)\b/i, `${SYMPTOMS}#the-model-predicts-one-class-for-every-image`],
  [/\bval(idation)? loss\b.*\b(higher|above|larger|greater|ris(es|ing)|increas\w*|goes up|going up)\b/i, BELOW],
  [/\bhow many (heads|blocks|layers)\b/i, `${SYMPTOMS}#which-patch-size-depth-width-and-heads-for-my-images`],
  [
    /^(how is )?(self[- ]?)?attention( mechanism| computed| calculated| works?)?$/i,
    "04_scaled_dot_product_attention#scaled-dot-product-attention",
  ],
];
