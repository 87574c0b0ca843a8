import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { isJsonObject, parseJson } from '@rollkeeper/machinery/kubernetes';
import type { CustomKindTraits, PrinterColumn } from '@rollkeeper/runtime/operator/custom-kind';

/** The content of a comment: its text, and its tags in their order. */
export interface Doc {
  readonly text: string;
  readonly tags: readonly DocTag[];
}

interface DocTag {
  readonly name: string;
  readonly text: string;
}

type Keywords = Readonly<Record<string, unknown>>;

const NUMBERS: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);
const TEXTS: ReadonlySet<string> = new Set(['pattern', 'format', 'title']);
const EXTENSIONS: Readonly<Record<string, { readonly keyword: string; readonly is?: unknown }>> = {
  listType: { keyword: 'x-kubernetes-list-type' },
  mapType: { keyword: 'x-kubernetes-map-type' },
  preserveUnknownFields: { keyword: 'x-kubernetes-preserve-unknown-fields', is: true },
  embeddedResource: { keyword: 'x-kubernetes-embedded-resource', is: true },
};
/** The tags of the whole kind; {@link kindFacts} reads them. */
const OF_KINDS: ReadonlySet<string> = new Set([
  ...['crd', 'column', 'scale', 'shortName', 'category', 'unserved', 'deprecated'],
]);
/** Written for people and other tools. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  ...['see', 'example', 'remarks', 'since', 'deprecated', 'internal', 'todo', 'author', 'link'],
]);
const OF_RULES = { message: 'message', reason: 'reason', fieldPath: 'fieldPath' } as const;
const LIST_MAP_KEYS = 'x-kubernetes-list-map-keys';
const RULES = 'x-kubernetes-validations';

/**
 * The part of a value's schema in a comment: `@minimum 1`, `@default 80`, `@pattern ^a`, `@integer`, `@rule self.a <
 * self.b`.
 * @param at for messages: `spec.port`
 * @param isKind the comment is that of the kind itself, which has tags of its own
 * @throws InvalidOptionError naming the field and the tag
 */
export function schemaKeywords({ tags, text }: Doc, at: string, isKind = false): Keywords {
  const keywords: Record<string, unknown> = text === '' ? {} : { description: text };
  const rules: Record<string, unknown>[] = [];
  const mapKeys: string[] = [];
  for (const tag of tags) {
    const value = tag.text;
    const extension = EXTENSIONS[tag.name];
    if (NUMBERS.has(tag.name)) keywords[tag.name] = numberIn(tag, at);
    else if (TEXTS.has(tag.name)) keywords[tag.name] = wordIn(tag, at);
    else if (tag.name === 'default') keywords['default'] = defaultIn(value);
    else if (tag.name === 'integer') keywords['type'] = 'integer';
    else if (tag.name === 'rule') rules.push({ rule: wordIn(tag, at) });
    else if (tag.name in OF_RULES) ruleBefore(tag, rules, at)[tag.name] = value;
    else if (tag.name === 'listMapKey') mapKeys.push(wordIn(tag, at));
    else if (extension) keywords[extension.keyword] = extension.is ?? wordIn(tag, at);
    else if (!PASSED_OVER.has(tag.name) && !(isKind && OF_KINDS.has(tag.name)))
      throw problem(
        at,
        tag,
        OF_KINDS.has(tag.name) ? 'is for the kind itself' : 'is no tag for a definition',
      );
  }
  if (mapKeys.length > 0) keywords[LIST_MAP_KEYS] = mapKeys;
  return rules.length > 0 ? { ...keywords, [RULES]: rules } : keywords;
}

/** The same value said by two comments: of its type, then of the field. Rules of both hold; of anything else, the field's. */
export function mergedKeywords(ofType: Keywords, ofField: Keywords): Keywords {
  const rules = [ofType, ofField].flatMap((each) => each[RULES] ?? []);
  return { ...ofType, ...ofField, ...(rules.length > 0 && { [RULES]: rules }) };
}

export const isDefinition = ({ tags }: Doc): boolean => tags.some(({ name }) => name === 'crd');

/**
 * The facts of a kind in a comment: `@column Host .spec.host`, `@scale .spec.replicas .status.replicas`, `@shortName
 * ws`, `@category all`, `@unserved`, `@deprecated use v2`.
 * @throws InvalidOptionError naming the kind and the tag
 */
export function kindFacts({ tags }: Doc, kind: string): CustomKindTraits {
  const all = (name: string): readonly DocTag[] => tags.filter((tag) => tag.name === name);
  const words = (name: string): readonly string[] => all(name).map((tag) => wordIn(tag, kind));
  const columns = all('column').map((tag) => columnIn(tag, kind));
  const [shortNames, categories] = [words('shortName'), words('category')];
  const [scale] = all('scale');
  const [deprecated] = all('deprecated');
  return {
    ...(columns.length > 0 && { columns }),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(scale && { scale: scaleIn(scale, kind) }),
    ...(all('unserved').length > 0 && { served: false }),
    ...(deprecated && { deprecationWarning: deprecated.text || `this version of ${kind} is deprecated` }),
  };
}

/** `NAME PATH TYPE PRIORITY DESCRIPTION`, of which the last three may be left out. */
const COLUMN =
  /^(?:"(?<quoted>[^"]+)"|(?<name>\S+))\s+(?<jsonPath>\.\S+)(?:\s+(?<type>integer|number|string|boolean|date))?(?:\s+(?<priority>\d+))?(?:\s+(?<description>\S[^]*))?$/;

function columnIn(tag: DocTag, kind: string): PrinterColumn {
  const { description, jsonPath, name, priority, quoted, type } = COLUMN.exec(tag.text)?.groups ?? {};
  if (jsonPath === undefined) throw problem(kind, tag, 'is not of the form: @column Host .spec.host string');
  return {
    name: quoted ?? name ?? '',
    jsonPath,
    ...(type !== undefined && { type: type as NonNullable<PrinterColumn['type']> }),
    ...(priority !== undefined && { priority: Number(priority) }),
    ...(description !== undefined && { description }),
  };
}

function scaleIn(tag: DocTag, kind: string): NonNullable<CustomKindTraits['scale']> {
  const [specReplicasPath, statusReplicasPath, labelSelectorPath, ...more] = tag.text.split(/\s+/);
  if (!specReplicasPath || !statusReplicasPath || more.length > 0)
    throw problem(kind, tag, 'is not of the form: @scale .spec.replicas .status.replicas');
  return {
    specReplicasPath,
    statusReplicasPath,
    ...(labelSelectorPath !== undefined && { labelSelectorPath }),
  };
}

function numberIn(tag: DocTag, at: string): number {
  const value = Number(tag.text);
  if (tag.text === '' || !Number.isFinite(value)) throw problem(at, tag, 'must have a number');
  return value;
}

function wordIn(tag: DocTag, at: string): string {
  if (tag.text === '') throw problem(at, tag, 'must have a value');
  return tag.text;
}

/** JSON; what is none is a text: `@default free` as well as `@default "free"`. */
function defaultIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function ruleBefore(
  tag: DocTag,
  rules: readonly Record<string, unknown>[],
  at: string,
): Record<string, unknown> {
  const last = rules.at(-1);
  if (!isJsonObject(last)) throw problem(at, tag, 'must come after a @rule');
  return last;
}

function problem(at: string, { name, text }: DocTag, what: string): InvalidOptionError {
  return new InvalidOptionError(at, `@${name}${text === '' ? '' : ` ${text}`} ${what}`);
}
