import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ServerAnswer } from './answer-server.js';
import type { Json, JsonObject } from './conformance-format.js';
import { isJsonObject, mapStrings } from './conformance-format.js';

/** The answer of a genuine server to a request. */
export interface GenuineAnswer {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly { readonly field?: string }[];
  readonly warnings?: readonly string[];
  /** It is normalised: a value that differs from server to server is left out, or a word replaces it. */
  readonly object?: JsonObject;
}

/** In what answers can agree. */
export type AnswerPart = 'code' | 'fields' | 'message' | 'warnings' | 'object';

interface AnswerComparison {
  /** The parts that could be compared. */
  readonly compared: readonly AnswerPart[];
  /** One line per difference, by the part in which it is. */
  readonly differing: Readonly<Partial<Record<AnswerPart, readonly string[]>>>;
}

/**
 * The oldest recordings only show whether a request was refused, and for which fields. The wording of messages has
 * changed since.
 */
export function compareOldAnswer(genuine: GenuineAnswer, ours: ServerAnswer): AnswerComparison {
  const differing = { ...compareCode(genuine, ours), ...compareFields(genuine, ours) };
  return { compared: ['code', 'fields'], differing };
}

export function compareAnswer(genuine: GenuineAnswer, ours: ServerAnswer): AnswerComparison {
  const isRefused = genuine.code >= 400;
  const hasWarnings = (genuine.warnings ?? []).length + ours.warnings.length > 0;
  const compared: AnswerPart[] = [
    'code',
    'fields',
    ...(isRefused ? ['message' as const] : ['object' as const]),
    ...(hasWarnings ? ['warnings' as const] : []),
  ];
  return {
    compared,
    differing: {
      ...compareCode(genuine, ours),
      ...compareFields(genuine, ours),
      ...(isRefused ? compareMessage(genuine, ours) : compareObject(genuine, ours)),
      ...compareWarnings(genuine, ours),
    },
  };
}

type Differing = AnswerComparison['differing'];

function compareCode({ code }: GenuineAnswer, ours: ServerAnswer): Differing {
  return code === ours.code ? {} : { code: [`code: expected ${code}, got ${ours.code}: ${messageOf(ours)}`] };
}

/** The reason, and for an invalid object the fields, regardless of what is said of them. */
function compareFields(genuine: GenuineAnswer, ours: ServerAnswer): Differing {
  if (genuine.code < 400 && ours.code < 400) return {};
  const { details, reason = '' } = ours.body as { reason?: string; details?: { causes?: Causes } };
  const problems: string[] = [];
  if ((genuine.reason ?? '') !== reason)
    problems.push(`reason: expected ${genuine.reason ?? 'none'}, got ${reason}`);
  if (genuine.code === 422 || ours.code === 422) {
    const wanted = fieldsOf(genuine.causes);
    const found = fieldsOf(details?.causes);
    for (const field of without(wanted, found)) problems.push(`${field}: expected a complaint, got none`);
    for (const field of without(found, wanted)) problems.push(`${field}: expected no complaint, got one`);
  }
  return problems.length === 0 ? {} : { fields: problems };
}

type Causes = GenuineAnswer['causes'];

function fieldsOf(causes: Causes = []): ReadonlySet<string> {
  return new Set(causes.map(({ field = '' }) => field));
}

function without(fields: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...fields].filter((field) => !others.has(field));
}

function compareMessage(genuine: GenuineAnswer, ours: ServerAnswer): Differing {
  const text = normalText(messageOf(ours));
  const message = genuine.message?.endsWith('(N)') ? text.replace(SHOWN_NUMBER, '(N)') : text;
  if (genuine.message === message) return {};
  return { message: [`message: expected ${genuine.message ?? 'none'}`, `     got ${message}`] };
}

function messageOf({ body }: ServerAnswer): string {
  return typeof body.message === 'string' ? body.message : '';
}

function compareWarnings({ warnings = [] }: GenuineAnswer, ours: ServerAnswer): Differing {
  const found = ours.warnings.map(normalText);
  const missing = warnings.filter((text) => !found.includes(text));
  const surplus = found.filter((text) => !warnings.includes(text));
  const lines = [
    ...missing.map((text) => `warning expected: ${text}`),
    ...surplus.map((text) => `warning not expected: ${text}`),
  ];
  if (lines.length === 0 && found.join('\n') !== warnings.join('\n'))
    lines.push('warnings: in another order');
  return lines.length === 0 ? {} : { warnings: lines };
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const UID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
/** An object as JSON in a string: what a patch made of the stored one. */
const SHOWN_OBJECT = /"\{\\"(?:[^"\\]|\\.)*"/g;
const GENERATED = /\b(ok|kube-api-access)-[a-z\d]{5}\b/g;
/** Recordings leave out what Go makes of the difference of two pods. */
const POD_DIFFERENCE = /(pod updates may not change fields other than .*previously negative\)).*/s;
const CURRENT_VERSION = /(Too large resource version: \d+, current: |in record \()\d+/;
/** The beginning of a body, in hexadecimal. */
const SHOWN_NUMBER = /\(\d+\)$/;

/** A text without what is another one at every server. */
export function normalText(text: string): string {
  return text
    .replace(SHOWN_OBJECT, '"OBJECT"')
    .replace(TIME, 'TIME')
    .replace(UID, 'UID')
    .replace(GENERATED, '$1-R')
    .replace(CURRENT_VERSION, '$1N')
    .replace(POD_DIFFERENCE, '$1')
    .replace(/\s+/g, ' ');
}

function compareObject({ method, object, path }: GenuineAnswer, ours: ServerAnswer): Differing {
  if (object === undefined || ours.code >= 400) return {};
  const found = normalObject(ours.body, hasStatus(method, path), object);
  const lines = exactDifferences(object, found);
  return lines.length === 0 ? {} : { object: lines };
}

export function hasStatus(method: string, path: string): boolean {
  return method === 'POST' || /\/(?:status|approval|scale)$/.test(path);
}

/** An answer without what is another one at every server. */
export function normalObject(answer: JsonObject, keepsStatus: boolean, genuine: JsonObject): JsonObject {
  const { kind = '' } = answer;
  if (typeof kind === 'string' && Array.isArray(answer.items)) return { apiVersion: answer.apiVersion, kind };
  const { metadata, status, details, ...rest } = mapStrings(answer, (text) =>
    text.replace(GENERATED, '$1-R'),
  ) as JsonObject;
  // Recordings of a success have what it is about.
  if (kind === 'Status')
    return { kind, status, ...(isJsonObject(details) && { details: omit(details, ['uid']) }) };
  const meta = withoutIdentity(metadata, genuine.metadata);
  return {
    ...rest,
    ...(meta !== undefined && { metadata: meta }),
    ...(details !== undefined && { details }),
    ...(status !== undefined && keepsStatus && { status }),
  };
}

/** A recording only names the field managers that it is about, so the others are left out. */
function withoutIdentity(metadata: Json | undefined, genuine: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const kept = omit(metadata, ['uid', 'creationTimestamp', 'resourceVersion', 'managedFields']);
  const recorded = isJsonObject(genuine) ? genuine.managedFields : undefined;
  const owners = Array.isArray(metadata.managedFields) ? (metadata.managedFields as readonly Json[]) : [];
  const managers = new Set(entriesOf(recorded).map(({ manager }) => manager));
  const told = entriesOf(owners).filter(({ manager }) => managers.has(manager));
  return recorded === undefined
    ? kept
    : { ...kept, managedFields: told.map((entry) => omit(entry, ['time'])) };
}

function entriesOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((entry) => isJsonObject(entry)) : [];
}

function omit(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Placeholders in recordings for values that the server chose. */
const CHOSEN: Readonly<Record<string, (value: Json) => boolean>> = {
  TIME: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  UID: (value) => typeof value === 'string' && /^[\da-f-]{36}$/.test(value),
  IP: (value) => typeof value === 'string' && /^[\da-f.:]+$/.test(value),
  PORT: (value) => typeof value === 'number',
  TOKEN: (value) => typeof value === 'string' && value.split('.').length === 3,
};

/** Every difference of two values. Absent, null and empty values are distinguished. */
export function exactDifferences(expected: Json | undefined, found: Json | undefined, path = ''): string[] {
  if (expected === found) return [];
  if (isJsonObject(expected) && isJsonObject(found)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
    return names.flatMap((name) => exactDifferences(expected[name], found[name], `${path}.${name}`));
  }
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length) {
    const [wanted, got] = [expected as readonly Json[], found as readonly Json[]];
    return wanted.flatMap((item, index) => exactDifferences(item, got[index], `${path}[${index}]`));
  }
  if (typeof expected === 'string' && found !== undefined && CHOSEN[expected]?.(found)) return [];
  // An annotation may hold a whole list of conditions.
  if (typeof expected === 'string' && typeof found === 'string' && found.replace(TIME, 'TIME') === expected)
    return [];
  return [`${path}: expected ${shown(expected)}, got ${shown(found)}`];
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  return text.length > 300 ? `${text.slice(0, 297)}...` : text;
}
