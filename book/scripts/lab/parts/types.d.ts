// What the lab's modules hand each other. Letters as in the book: N patches, T tokens, D width, h heads.

export type Pair = [number, number];
export type Numbers = Float32Array | Float64Array;
/** Numbers that may be sent to a worker or a graphics card. */
export type Sent = Float32Array<ArrayBuffer>;
export type Pen = CanvasRenderingContext2D;

/** A model as its data script brings it; see book/lab_data.py. */
export interface Sizes {
  channels: number;
  classes: number;
  depth: number;
  heads: number;
  width: number;
  imageSize: Pair;
  gridSize: Pair;
  patchSize: Pair;
  epsilon: number;
  mean: number[];
  std: number[];
  permutation: number[];
}
export interface Written extends Sizes {
  tensors: [name: string, shape: number[]][];
  dtype: "float16" | "float32";
  numbers: string;
  measured: Measured;
}
/** The same, decoded. */
export interface Model extends Sizes {
  tensors: [name: string, shape: number[]][];
  parameters: Record<string, Numbers>;
  measured: Measured;
}
/** Accuracies on the test images. */
export interface Measured {
  images: number;
  trained: number;
  untrained: number;
  shuffled: number;
  headOff: number[][];
}
export interface WrittenPictures {
  labels: number[];
  digits: string;
  grounds: string;
  textures: string[];
  textureSize: Pair;
}
export interface Pictures {
  labels: number[];
  digits: Float64Array[];
  grounds: Record<string, Float64Array>;
  textureSize: Pair;
}

/** Arrays as long as the given lengths say, with the same names and nesting. */
export type Arrays<L> = L extends number ? Float32Array
  : L extends (infer One)[] ? Arrays<One>[]
  : { [K in keyof L]: Arrays<L[K]> };
export type Room = ReturnType<typeof import("./model.js").roomFor>;
export type Block = Room["blocks"][number];
/** What a step of the forward pass calls with its result. */
export type Watch = (name: string, shape: number[], values: Numbers) => void;
export interface Options {
  shuffled?: boolean;
  off?: Set<string>;
  room?: Room;
  watch?: Watch;
}
export interface Tensor {
  dimensions: number[];
  values: Numbers;
}

export interface Answer {
  probabilities: Numbers;
  sure: number;
  best: number;
  level: boolean;
}
export interface Votes {
  patches: Answer[];
  answer: Answer;
}

export interface Scrap {
  pixels: Float64Array;
  top: number;
  left: number;
}
export interface Ground {
  pixels: Float64Array;
  rows: number;
  columns: number;
  top: number;
  left: number;
}
export interface Scene {
  digit: Float64Array;
  top: number;
  left: number;
  ground: Ground | null;
  scraps: Scrap[];
}
export interface Box {
  top: number;
  left: number;
  bottom: number;
  right: number;
}
/** What makes the image. */
export interface SceneState {
  digit: number;
  example: number;
  drawn: Float64Array | null;
  top: number;
  left: number;
  ground: string;
  piece: number;
  scraps: number;
}
/** What is done with the model, and what is looked at. */
export interface Switches {
  weights: string;
  shuffled: boolean;
  off: string[];
  head: string | null;
  asks: number;
  votes: boolean;
}
export type LabState = SceneState & Switches;
export type Source = ReturnType<typeof import("./source.js").createSource>;
export type Point = number[];
export type Stroke = Point[];

/** A part of a link. */
export interface Part<State> {
  of?(state: State): unknown;
  to?(found: unknown): Partial<State>;
  read(text: string): unknown;
  write(value: unknown): string | number;
}
export interface Found<State> {
  state: State;
  faults: string[];
}
export interface Form<State> {
  first(): State;
  format(state: State): string;
  parse(hash: string): Found<State> | null;
}
export type Tell = (words: string, options?: { briefly?: boolean }) => void;

export interface Colours {
  tones: Uint8Array;
  low: number;
  high: number;
}
/** What lies on the board; see paintBoard. */
export interface Shown {
  shares?: Numbers | null;
  votes?: Votes | null;
  token?: number;
  showGrid?: boolean;
  showBox?: boolean;
  above?: number;
  moved?: number;
}
export interface Asked {
  token(): number;
  pick(token: number): void;
  point(token: number | null): void;
}
export type Board = ReturnType<typeof import("./board.js").makeBoard>;

/** A bet on what a change does; Seen is what is known of the model before and after it. */
export interface Bet<State, Seen> {
  title: string;
  scene?: Partial<State>;
  question: string;
  change: Partial<State>;
  bets: [name: string, text: string][];
  outcome(seen: { before: Seen; after: Seen }): string | Promise<string>;
  why(seen: { before: Seen; after: Seen }): string;
}
/** The answer, and each head's share in the box. */
export type Looked = Answer & { inside: Record<string, number>; change: string };

/** The large model's parts, as manifest.js names them; see book/photograph_data.py. */
export interface Manifest {
  size: number;
  patch: number;
  grid: number;
  width: number;
  blocks: number;
  heads: number;
  epsilon: number;
  mean: number[];
  std: number[];
  digest: string;
  parts: ManifestPart[];
}
export interface ManifestPart {
  name: string;
  bytes: number;
  tensors: [key: string, kind: string, height: number, width?: number][];
}
/** A part's weights, as they came. */
export interface WeightsPart {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What is taken away before a look; see PhotographModel.look. */
export interface LookOptions {
  headsOff?: number[][];
  blocksOff?: number[];
  shuffled?: number[] | null;
  hidden?: number[];
}
export type Settings = Required<LookOptions> & { pixels: Float32Array };
/** What a look gives. */
export interface Look {
  saliency: Numbers;
  tokens(block?: number): Numbers;
  norms(block?: number): Numbers;
}
export interface Run extends Look {
  attention(block: number, head: number, query: number): Numbers;
}
/** The sizes of the large model, as the stage needs them. */
export interface LookSizes {
  grid: number;
  size: number;
  blocks: number;
  heads: number;
  dim: number;
}
/** A model that looks at photographs; a test puts another in its place. */
export interface Looker extends LookSizes {
  look(
    pixels: ImageData | Float32Array, options?: LookOptions, before?: Run | null, isOld?: () => boolean,
  ): Promise<Run>;
}
export interface LookerClass {
  load(options: { signal: AbortSignal; onProgress: Progress }): Promise<Looker>;
}
export type Progress = (bytes: number, total: number) => void;
/** A worker's share of the tokens, and of the picture's rows of patches. */
export interface Share {
  first: number;
  rows: number;
  total: number;
  band: number;
  bandEnd: number;
}
/** What a worker sends of a block. */
export interface LayerShare {
  first: number;
  tokens: Float32Array | null;
  queries?: Float32Array;
  keys?: Float32Array;
}

export interface PhotographState {
  photo: string;
  turned: boolean;
  asks: number;
  head: string | null;
  view: string;
  common: boolean;
  other: string | null;
  off: string[];
  shuffled: boolean;
  hidden: number[];
}
export type Taken = Pick<PhotographState, "off" | "shuffled" | "hidden">;
export type Album = ReturnType<typeof import("../photograph_stage/pictures.js").makeAlbum>;
export type Session = ReturnType<typeof import("../photograph_stage/session.js").photographSession>;
export interface Picture {
  shown(turned: boolean): HTMLCanvasElement;
  pixels(turned: boolean): ImageData;
}
export interface SeenPhotograph {
  now: Run;
  before: Look;
  picture: Picture;
}
export interface SeenElsewhere {
  now: Run;
  picture: Picture;
}
export interface Match {
  patch: number;
  cosine: number;
}
/** What bets on the photograph stage are about. */
export interface Facts {
  change: string;
  grid: number;
  state: PhotographState;
  now: Run;
  before: Look;
  blocks: number;
  dim: number;
  model: Looker;
  session: Session;
  album: Album;
  found?: Match;
}
/** What lies on a photograph; see paintPhotograph. */
export interface ShownPhotograph {
  picture: HTMLCanvasElement;
  light?: ArrayLike<number> | null;
  colours?: ArrayLike<number> | null;
  hidden?: Set<number>;
  asks?: number;
  match?: number | null;
  places?: number[] | null;
}
/** A small picture: three bytes for each patch, or numbers with their colours. */
export interface SmallPicture {
  colours?: ArrayLike<number>;
  values?: ArrayLike<number>;
  colouring?: Colours;
}
export interface View {
  now: SmallPicture | null;
  before: SmallPicture | null;
  words: string;
}
export type Views = Record<string, View>;

declare global {
  /** What the data scripts bring, by name. */
  var vitData: {
    trained?: Written;
    untrained?: Written;
    averaging?: Written;
    pictures?: WrittenPictures;
    photographs?: { photos: Record<string, string>; common: Directions };
    photograph?: Manifest | null;
    [name: string]: unknown;
  };
  // TypeScript has the types of WebGPU, but not these.
  var GPUShaderStage: { COMPUTE: number };
  var GPUBufferUsage: Record<"STORAGE" | "UNIFORM" | "COPY_SRC" | "COPY_DST" | "MAP_READ", number>;
  var GPUMapMode: { READ: number };
}

/** The three main directions of patch tokens, and where each begins and ends; see directions.js. */
export interface Directions {
  mean: Numbers | number[];
  basis: Numbers | number[];
  scale: Pair[];
}
