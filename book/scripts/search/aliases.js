// Names that readers have for things, as patterns of a question; a new row needs nothing else.

/** Terms that readers may use, and the book's own term for the same thing. @type {[RegExp, string][]} */
export const CALLED_HERE = [
  [/\bposition(al)? (encoding|embedd?ing)s?\b/i, "position"],
  [/\bsinusoid(al|s)?\b/i, "sines and cosines"],
  [/(\b1 ?\/ ?)?(√ ?|\bsqrt ?)\(?d(_?[kh]|im)?\b\)?/i, "√d"],
  [/\bro-?pe\b/i, "rotary positions"],
  [/\bbatch-?norm\b/i, "batch norm"],
  [/\blayer[- ]?normali[sz]ation\b/i, "LayerNorm"],
  [/\bknowledge distillation\b/i, "distillation"],
  [/\badam vs\.? sgd\b/i, "AdamW instead of plain steps"],
  [/\bflash[- ]?attention\b/i, "fused attention"],
  [/\bout of memory\b|\boom\b/i, "activation memory"],
  [/\b(cls|\[cls\])(?= token)/i, "class"],
  [/\bskip connection/i, "residual connection"],
  [/\bdrop ?path\b/i, "stochastic depth"],
  [/\bfeed[- ]?forward( network)?\b/i, "MLP"],
  [/\b(half|mixed) precision\b|\bfp16\b|\bamp\b/i, "autocast"],
  [/\bquanti[sz]ation\b/i, "eight bits"],
  [/\btransfer learning\b/i, "fine-tuning"],
  [/\bsaliency( maps?)?\b|\bheat ?maps?\b/i, "attention maps"],
  [/\b(cosine|learning rate) (schedule|decay)\b/i, "warm-up cosine"],
  [/\bhow many parameters\b|\bparameter count\b|\bnumber of parameters\b/i, "every parameter counted"],
  [/\b(photos?|pictures)\b/i, "photographs"],
  [/\beinsum\b/i, "einops"],
  [/\bmulti[- ]?gpu\b/i, "DDP"],
  [/\b(load|use) (timm|torchvision|hugging ?face)('s)? (weights|models?)\b/i, "load weights"],
  [/\b(learning rate |lr )?schedulers?\b/i, "warm-up cosine"],
  [/\boverfit\w*\b.*\b(data ?sets?|data|images)\b/i, "overfitting"],
  [/\bexplainability\b|\binterpretability\b/i, "what attention maps do not tell"],
];

const SYMPTOMS = "notebooks/side_roads/when_it_does_not_work.html";

/** Sections that answer a question best although others have more of its words. @type {[RegExp, string][]} */
export const TOLD_AT = [
  [/\b(nn\.functional|F)\.scaled_dot_product_attention\b/, "notebooks/11_speed.html#by-hand-fused-attention"],
  [
    /^(install(ation|ing)?|set ?up|colab|kaggle|binder|download|pdf|licen[cs]es?)$/i,
    "book/intro.html#take-it-with-you",
  ],
  [/^((how to )?cit(e|ing|ation)|bibtex)( (this|the) book)?$/i, "book/intro.html#how-to-cite"],
  [/^((lecture )?slides?( decks?)?|decks?|powerpoint|pptx?)$/i, "book/teaching.html#plan-a-course"],
  [/^((final |mid-?term )?exams?|mid-?terms?|test papers?)$/i, "book/assessment.html#the-quiz"],
  [
    /^how (long|much time|many hours) (does|do|will|is) .*\b(it|book|course|read|reading)( take| last| need)?$/i,
    "book/intro.html#the-three-hour-route",
  ],
  [/^(exercise )?(solutions?|answers)$/i, "book/intro.html#how-a-chapter-goes"],
  [
    /^(prerequisites?|requirements|what (do|should) i (need|know))$/i,
    "notebooks/00_before_you_start.html#a-ten-minute-self-test",
  ],
  [/^(demo|interactive|playground|in the browser|transformers\.?js)$/i, "book/lab.html#the-vit-lab"],
  [
    /^(@|@ operator|operator @|matmul|matrix (multiplication|product))$/i,
    "notebooks/00_before_you_start.html#a-linear-layer",
  ],
  [
    /^γ$|\b(gamma|beta)\b.*\b(gamma|beta|layer ?-?norm)\b|\blayer ?-?norm\b.*(gamma|beta|γ|β)/i,
    "notebooks/06_encoder_block.html#by-hand-layernorm",
  ],
  [
    /\b(missing|unexpected) keys?\b|^KeyError: '(?!heads?\.|fc\.)\w+[._][\w.]+'$/i,
    "notebooks/10_pretrained_weights.html#what-breaks-strict-false",
  ],
  [
    /\bsize mismatch for (head|heads|fc|classifier)\b|^(head|classifier|fc)\.(weight|bias)$/i,
    "notebooks/10_pretrained_weights.html#fine-tuning",
  ],
  [
    /\bsize of tensor a \((19[678]|25[678]|26[01]|57[678])\) must match\b/i,
    `${SYMPTOMS}#size-mismatch-for-pos-embed-the-positions-do-not-fit`,
  ],
  [
    /\bposition(al)? embedd?ings?\b.*\b(shape|size|fit|mismatch)/i,
    `${SYMPTOMS}#size-mismatch-for-pos-embed-the-positions-do-not-fit`,
  ],
  [/\bon the same device\b|\binput type\b.*\b(weight|bias) type\b/i, `${SYMPTOMS}#the-wrong-device-type-or-label`],
  [/\b(scalar |target d)type (to be )?long\b/i, `${SYMPTOMS}#the-wrong-device-type-or-label`],
  [/\bdevice-side assert\b|^cuda error$/i, `${SYMPTOMS}#the-wrong-device-type-or-label`],
  [/\b(target|label)\b.*\bout of (bounds|range)\b/i, `${SYMPTOMS}#the-wrong-device-type-or-label`],
  [
    /^(permute|reshape|transpose|view)( ?(vs\.?|versus|or|and))? (permute|reshape|transpose|view)$/i,
    "notebooks/00_before_you_start.html#the-order-of-the-numbers-in-memory",
  ],
  [/^((gradient|activation) )?checkpointing$/i, "notebooks/11_speed.html#by-hand-activation-checkpointing"],
  [/^regulari[sz]ation$/i, "notebooks/08_training.html#the-ingredients-one-by-one"],
  [/^((the )?(original |vit )?papers?|an image is worth\b.*)$/i, "book/map_of_papers.html#a-map-of-papers"],
  [/^(nn\.)?conv2d\b/i, "notebooks/02_patch_embedding.html#the-same-layer-written-as-a-convolution"],
  [/^dino([ -]?v?\d)?$/i, "book/map_of_papers.html#without-labels"],
  [/^(references|bibliography)$/i, "book/references.html#references"],
  [/\bhave the same dtype\b/i, "notebooks/11_speed.html#by-hand-bfloat16-and-autocast"],
  [
    /\bmat1 and mat2\b|\bcannot be multiplied\b|\binvalid for input\b|\bmatrix multiplication error\b/i,
    `${SYMPTOMS}#the-shapes-do-not-fit`,
  ],
  [/\bsize of tensor [ab]\b|\bmust match the( existing)? size\b/i, `${SYMPTOMS}#the-shapes-do-not-fit`],
  [/\bof batch2 tensor\b|\b(shapes?|dimensions?) (error|mismatch)/i, `${SYMPTOMS}#the-shapes-do-not-fit`],
  [/\bto have \d+ channels\b/i, `${SYMPTOMS}#images-with-1-4-or-10-channels`],
  [
    /\bexpected scalar type\b|\bcast to the desired output type\b/i,
    "notebooks/11_speed.html#by-hand-bfloat16-and-autocast",
  ],
  [/\b(not|n['’]t) (learn|train|converge)\b/i, `${SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes`],
  [
    /\b(val\w*|test) (accuracy|acc)\b.*(\bnot|n['’]t|\bstops?)\b.*\b(improv|increas|ris(e|ing)|chang)\w*/i,
    `${SYMPTOMS}#validation-accuracy-far-below-training-accuracy`,
  ],
  [
    /\b(loss|accuracy)\b.*(\bnot|n['’]t)\b.*\b(go|get|fall|drop|improv|decreas|increas|ris(e|ing)|chang)\w*/i,
    `${SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes`,
  ],
  [
    /\baccuracy\b.*(\b(stuck|stays?)\b.*\b10\b|\b10 ?(%|per ?cent)|\bchance\b)/i,
    `${SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes`,
  ],
  [/\bpredict\w* .*\bsame (class|label|digit)\b/i, `${SYMPTOMS}#the-model-predicts-one-class-for-every-image`],
  [
    /\bval(idation)? loss\b.*\b(higher|above|larger|greater|ris(es|ing)|increas\w*|goes up|going up)\b/i,
    `${SYMPTOMS}#validation-accuracy-far-below-training-accuracy`,
  ],
  [/\bhow many (heads|blocks|layers)\b/i, `${SYMPTOMS}#which-patch-size-depth-width-and-heads-for-my-images`],
  [
    /^(self[- ]?)?attention( mechanism)?$/i,
    "notebooks/04_scaled_dot_product_attention.html#scaled-dot-product-attention",
  ],
];
