import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, semanticEqual, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { shortenedTo } from '../../../shared/index.js';

/** A field of a pod template that differs. */
export interface TemplateChange {
  /** As people say it: `container app: image`, `label tier`. */
  readonly field: string;
  /** Undefined: it was not there. */
  readonly from?: string;
  /** Undefined: it was removed. */
  readonly to?: string;
}

/** One of these fields distinguishes the objects in a list. */
const KEYS = ['name', 'containerPort', 'mountPath', 'key', 'topologyKey'] as const;
/** Steps of a path that say nothing to people. */
const SILENT: ReadonlySet<string> = new Set(['spec', 'metadata']);
/** Lists and maps whose entries have a word of their own. */
const ENTRY_WORDS: Readonly<Record<string, string>> = {
  annotations: 'annotation',
  containers: 'container',
  env: 'env',
  initContainers: 'init container',
  labels: 'label',
  volumes: 'volume',
};
const HASH_LABEL = 'pod-template-hash';

/**
 * The differences between two pod templates, a line for each field that a person would name: entries of lists are
 * compared by their names, so that another environment variable is one change.
 */
export function changesOfTemplate(
  from: DeepReadonly<PodTemplateSpec>,
  to: DeepReadonly<PodTemplateSpec>,
): readonly TemplateChange[] {
  return compare([], from, to).filter(({ field }) => field !== `label ${HASH_LABEL}`);
}

/** `container app: image nginx:1.25 → nginx:1.26`, and `container app: env LEVEL changed` where the values are hidden. */
export function renderChange({ field, from, to }: TemplateChange): string {
  if (from === '…' || to === '…')
    return `${field} ${from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'}`;
  if (from === undefined) return `${field} added: ${to ?? ''}`;
  if (to === undefined) return `${field} removed: ${from}`;
  return `${field} ${from} → ${to}`;
}

/** Fields whose values are no secret by any custom. */
const OPEN_FIELDS =
  /(^|: )(image|resources\..+|imagePullPolicy)$|^label |^(serviceAccountName|priorityClassName)$/;

/**
 * The same without values that may be secret, such as those of environment variables and arguments: for places that others can read
 * than the Deployment itself.
 */
export function withoutSecrets(change: TemplateChange): TemplateChange {
  if (OPEN_FIELDS.test(change.field)) return change;
  const hidden = (value: string | undefined): string | undefined => (value === undefined ? undefined : '…');
  return { field: change.field, from: hidden(change.from), to: hidden(change.to) };
}

type Path = readonly string[];

function compare(path: Path, from: unknown, to: unknown): TemplateChange[] {
  if (semanticEqual(from, to)) return [];
  const [before, after] = [entriesOf(from), entriesOf(to)];
  const isWhole = from === undefined || to === undefined;
  const goesDeeper = (before ?? after) !== undefined && (!isWhole || isGroup(path));
  if (!goesDeeper || (from !== undefined && !before) || (to !== undefined && !after))
    return [{ field: nameOf(path), from: shown(from), to: shown(to) }];
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...names].flatMap((name) => compare([...path, name], before?.get(name), after?.get(name)));
}

/** Tells whether a path is a group: a missing one is no change by itself, its entries are. */
function isGroup(path: Path): boolean {
  const last = path.at(-1) ?? '';
  return path.length === 0 || SILENT.has(last) || (last in ENTRY_WORDS && last !== 'containers');
}

/** By name; `undefined` for what has no entries with names. */
function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) {
    const key = KEYS.find((each) =>
      value.every((item) => isJsonObject(item) && ['string', 'number'].includes(typeof item[each])),
    );
    if (key === undefined || value.length === 0) return undefined;
    const entries = new Map(value.map((item: Record<string, unknown>) => [String(item[key]), item] as const));
    return entries.size === value.length ? entries : undefined;
  }
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** `["spec","containers","app","env","LEVEL","value"]` is `container app: env LEVEL`. */
function nameOf(path: Path): string {
  const words: string[] = [];
  let place = '';
  for (let index = 0; index < path.length; index++) {
    const step = path[index] ?? '';
    const word = ENTRY_WORDS[step];
    const entry = path[index + 1];
    if (index === 0 && SILENT.has(step)) continue;
    if (word === undefined || entry === undefined) words.push(step);
    else {
      index++;
      if (step.toLowerCase().endsWith('containers')) place = `${word} ${entry}`;
      else words.push(`${word} ${entry}`);
    }
  }
  const field = words.join('.').replace(/^(env [^.]+)\.value$/, '$1');
  if (place === '') return field === '' ? 'pod template' : field;
  return field === '' ? place : `${place}: ${field}`;
}

const LONGEST = 200;

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const item = isJsonObject(value) && typeof value['value'] === 'string' ? value['value'] : value;
  const text = typeof item === 'string' ? (item === '' ? '""' : item) : stringifyJson(item);
  return shortenedTo(LONGEST, text);
}
