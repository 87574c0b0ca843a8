import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { Agreement } from './agreement.js';
import { AnswerServer } from './answer-server.js';
import type { RecordedRequest, ServerAnswer } from './answer-server.js';
import { exactDifferences, hasStatus, normalObject, normalText } from './compare-answers.js';
import type { ConformanceFormat, Json, JsonObject, RecordedCase } from './conformance-format.js';
import { isJsonObject, mapStrings } from './conformance-format.js';

/** A request and every part of its genuine answer, normalised as in the other recordings of answers. */
interface RecordedExactAnswer extends RecordedRequest {
  readonly id: string;
  /** Whether the body gets the stored object's resourceVersion. */
  readonly live?: boolean;
  readonly code: number;
  readonly warnings?: Json;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: Json;
  readonly details?: JsonObject;
  /** An object; of a list, its kind and the names in it; of a watch, a line for each event. */
  readonly object?: Json;
}

const PARTS = ['all', 'code', 'warnings', 'reason', 'message', 'causes', 'details', 'object'] as const;

export type ExactPart = (typeof PARTS)[number];

/**
 * Compares the whole of a genuine API server's answers with the embedded server's, the order of causes included. Recordings
 * of this format have `exact` in their first line, beside the set-up. Every write is a dry run, so that none sees the others.
 */
export class RecordedExactAnswers implements ConformanceFormat {
  readonly name = 'exact answers';
  private server: AnswerServer | undefined;
  private readonly agreement = new Agreement<ExactPart>(PARTS);
  private setup: readonly RecordedRequest[] = [];
  private cases: readonly RecordedExactAnswer[] = [];
  private readonly oneOf: number;
  /** Every watch lasts a second, so that they are sent together. */
  private watches = new Map<string, Promise<ServerAnswer>>();

  /** Sends one in `oneOf` requests; all by default. */
  constructor({ oneOf = 1 }: { readonly oneOf?: number } = {}) {
    this.oneOf = oneOf;
  }

  matches(): boolean {
    return false;
  }

  casesOf(lines: readonly JsonObject[]): readonly RecordedCase[] | undefined {
    const [first, ...rest] = lines;
    if (first?.exact !== true || !Array.isArray(first.setup)) return undefined;
    this.setup = first.setup;
    this.cases = rest.filter((_, index) => index % this.oneOf === 0) as unknown as RecordedExactAnswer[];
    return this.cases as unknown as readonly RecordedCase[];
  }

  async open(): Promise<void> {
    const server = (this.server = await AnswerServer.start({ uid: '', unknownServiceAccounts: 'refuse' }));
    // The recorded cluster had no default class.
    await server.send({ method: 'DELETE', path: '/apis/storage.k8s.io/v1/storageclasses/standard' });
    for (const item of this.setup) {
      const { body, code } = await server.send({ ...item, method: 'POST' });
      if (code !== 201)
        throw new Error(`the set-up is refused: ${item.path}: ${code} ${stringifyJson(body.message)}`);
    }
    const watches = this.cases.filter((recorded) => isWatch(recorded));
    this.watches = new Map(watches.map((recorded) => [recorded.id, server.send(recorded)]));
    await Promise.all(this.watches.values());
  }

  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async run(recordedCase: RecordedCase): Promise<readonly string[]> {
    const recorded = recordedCase as unknown as RecordedExactAnswer;
    const answer = (await this.watches.get(recorded.id)) ?? (await this.send(recorded));
    const differing = compareExactly(recorded, answer);
    const isDifferent = Object.keys(differing).length > 0;
    this.agreement.add(kindOf(recorded.id), PARTS, { ...differing, ...(isDifferent && { all: true }) });
    return Object.values(differing).flat();
  }

  agreed(): readonly string[] {
    return this.agreement.lines();
  }

  /** The share of answers that agree in a part. */
  share(part: ExactPart): number {
    return this.agreement.share(part);
  }

  private async send(recorded: RecordedExactAnswer): Promise<ServerAnswer> {
    if (!this.server) throw new Error('the server has been stopped');
    const query = [recorded.query ?? '', recorded.method === 'GET' ? '' : 'dryRun=All'];
    const body = recorded.live === true ? await this.withLiveVersion(recorded) : recorded.body;
    return this.server.send({ ...recorded, body, query: query.filter((text) => text !== '').join('&') });
  }

  private async withLiveVersion({ body, path }: RecordedExactAnswer): Promise<Json | undefined> {
    const stored = await this.server?.send({ method: 'GET', path });
    const live = stored?.body.metadata;
    if (!isJsonObject(body) || !isJsonObject(live)) return body;
    const metadata = isJsonObject(body.metadata) ? body.metadata : {};
    return { ...body, metadata: { ...metadata, resourceVersion: live.resourceVersion } };
  }
}

type Differing = Partial<Record<ExactPart, readonly string[]>>;

/** One line per difference, by the part of the answer in which it is. */
function compareExactly(recorded: RecordedExactAnswer, answer: ServerAnswer): Differing {
  const found = partsOf(recorded, answer);
  const parts = PARTS.filter((part) => part !== 'all').map((part): [ExactPart, readonly string[]] => [
    part,
    exactDifferences(withoutShownNumbers(recorded[part]), withoutShownNumbers(found[part]), part),
  ]);
  return Object.fromEntries(parts.filter(([, lines]) => lines.length > 0));
}

/** Recordings have `(N)` where a text has a number in parentheses. */
function withoutShownNumbers(value: Json | undefined): Json | undefined {
  return value === undefined ? undefined : mapStrings(value, (text) => text.replace(/\(\d+\)/g, '(N)'));
}

type Parts = Readonly<Partial<Record<ExactPart, Json>>>;

function partsOf(recorded: RecordedExactAnswer, { body, code, text, warnings }: ServerAnswer): Parts {
  const events = isWatch(recorded) ? eventsOf(text, code, recorded.path) : undefined;
  const object = events ?? (code < 400 ? objectOf(recorded, body) : undefined);
  const common = { code, warnings: warnings.map(normalText), ...(object !== undefined && { object }) };
  if (code < 400) return common;
  const details = isJsonObject(body.details) ? body.details : undefined;
  const { causes, uid: _, ...rest } = details ?? {};
  return {
    ...common,
    ...(body.reason !== undefined && { reason: body.reason }),
    ...(body.message !== undefined && { message: normalTexts(body.message) }),
    ...(causes !== undefined && { causes: normalTexts(causes) }),
    ...(details !== undefined && { details: normalTexts(rest) }),
  };
}

function normalTexts(value: Json): Json {
  return mapStrings(value, (text) => normalText(text).replace(TOO_LARGE, '$1N')) ?? null;
}

const TOO_LARGE = /(Too large resource version: )\d+/;

function objectOf(recorded: RecordedExactAnswer, body: JsonObject): Json | undefined {
  if (recorded.object === undefined && Object.keys(body).every((name) => name === 'message'))
    return undefined;
  const list = listOf(body, isJsonObject(recorded.object) ? recorded.object : {});
  if (list) return list;
  const genuine = isJsonObject(recorded.object) ? recorded.object : {};
  const status = genuine.status === '*' && body.status !== undefined ? { status: '*' } : {};
  return { ...normalObject(body, hasStatus(recorded.method, recorded.path), genuine), ...status };
}

/** A list by its names, a table by its columns and cells. The recording has `*` where only their being there counts. */
function listOf(
  { apiVersion, columnDefinitions, items, kind, metadata, rows }: JsonObject,
  genuine: JsonObject,
) {
  if (kind === 'Table') {
    const cells = Array.isArray(rows) ? { rows: genuine.rows === '*' ? '*' : rows.map(cellsOf) } : {};
    return { kind, cols: namesOf(columnDefinitions), ...cells };
  }
  if (!Array.isArray(items) || typeof kind !== 'string' || !kind.endsWith('List')) return undefined;
  const { continue: next, remainingItemCount } = isJsonObject(metadata) ? metadata : {};
  const rest = remainingItemCount === undefined ? {} : { rem: remainingItemCount };
  const names = genuine.items === '*' ? '*' : namesOf(items);
  return { kind, apiVersion, more: next !== undefined, ...rest, items: names };
}

function cellsOf({ cells }: { readonly cells?: readonly Json[] }): Json {
  return (cells ?? []).map((cell) => (typeof cell === 'string' && /^\d+[smhd]$/.test(cell) ? 'AGE' : cell));
}

function namesOf(items: Json | undefined): Json {
  const list = Array.isArray(items) ? (items as readonly JsonObject[]) : [];
  return list.map((item) => item.name ?? nameOf(item));
}

function nameOf({ metadata }: JsonObject): string {
  return isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '';
}

function isWatch({ method, query = '' }: RecordedExactAnswer): boolean {
  return method === 'GET' && /(?:^|&)watch=/.test(query);
}

/** A line for each event: its type, the kind, the name, and of a failure the code and the message. */
function eventsOf(text: string, code: number, path: string): Json {
  if (code >= 400) return [`RAW ${statusLine(parseJson(text) as JsonObject)}`];
  const lines = text.split('\n').filter((line) => line !== '');
  const isShown = (line: string): boolean => !UNLISTED.test(path) || !line.startsWith('ADDED');
  return lines.map(lineOf).filter(isShown);
}

/** Kinds whose objects the recording leaves out of what a watch begins with, because a server makes many of its own. */
const UNLISTED =
  /\/(?:clusterroles|clusterrolebindings|roles|rolebindings|flowschemas|prioritylevelconfigurations|apiservices|configmaps)$/;

function lineOf(line: string): string {
  const { object, type } = parseJson(line) as { type: string; object: JsonObject };
  const annotations = isJsonObject(object.metadata) ? object.metadata.annotations : undefined;
  const shownAnnotations = isJsonObject(annotations) ? stringifyJson(inOrder(annotations)) : '';
  const { code = '', kind, message = '' } = object;
  const parts = [type, kind, nameOf(object), code, message, shownAnnotations];
  return parts.map((part) => normalText(shown(part))).join(' ');
}

/** A genuine server writes the keys of maps in order. The order has no meaning. */
function inOrder(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function statusLine({ code, message, reason }: JsonObject): string {
  return normalText(`Status ${shown(code)} ${shown(reason)} ${shown(message)}`);
}

/** A text as it is; anything else as JSON. */
function shown(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : stringifyJson(value);
}

/** `12 Pod update spec.x` is of `Pod`; `list /api/v1/pods` is of `list`. */
function kindOf(id: string): string {
  return /^(?:\d+ )?(\w+)/.exec(id)?.[1] ?? 'others';
}

export const recordedExactAnswers: ConformanceFormat = new RecordedExactAnswers();
