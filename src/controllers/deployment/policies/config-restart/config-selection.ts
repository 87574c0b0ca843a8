import type { Annotations } from '../../kubernetes/annotations.js';
import type { SourceKind, SourceName } from '../../../shared/index.js';
import { SOURCE_KINDS, sourceName } from '../../../shared/index.js';

/** The ConfigMaps and Secrets on which a Deployment restarts. */
export interface ConfigSelection {
  /** The kinds of which all that the template refers to counts. */
  readonly referred: ReadonlySet<SourceKind>;
  /** Whether all that the template refers to and is marked by {@link RELOADER_MATCH} counts. */
  readonly marked: boolean;
  /** Whether the template refers to them or not. */
  readonly named: ReadonlySet<SourceName>;
  /** Left out of `referred` and `marked`. */
  readonly excluded: ReadonlySet<SourceName>;
}

export interface SelectionProblem {
  readonly annotation: string;
  readonly value: string;
  readonly why: string;
}

const RELOADER = 'reloader.stakater.com/';
/** On a ConfigMap or Secret: a Deployment that searches restarts on it. */
export const RELOADER_MATCH = `${RELOADER}match`;
/** On a ConfigMap or Secret: no Deployment restarts on it, unless it names it. */
export const RELOADER_IGNORE = `${RELOADER}ignore`;

/** A DNS subdomain, as the names of ConfigMaps and Secrets are. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const NAMED = /^(configmap|secret)\/(.+)$/;

/** The word of `restart-on` for what admission gives new pods: no ConfigMap and no Secret. */
const ADMISSION = 'admission';

/** The text of `restart-on` without its word `admission`, and whether it had it. */
export function splitAdmission(text: string): { readonly hasAdmission: boolean; readonly rest: string } {
  const words = wordsOf(text);
  const rest = words.filter((word) => word !== ADMISSION);
  return { hasAdmission: rest.length < words.length, rest: rest.join(', ') };
}

/** `config`, or `configmap/a, secret/b`; a text says what is wrong. */
export function parseRestartOn(text: string): ConfigSelection | string {
  const referred = new Set<SourceKind>();
  const named = new Set<SourceName>();
  for (const word of wordsOf(text)) {
    const [, prefix, name = ''] = NAMED.exec(word) ?? [];
    const kind = SOURCE_KINDS.find((each) => each === prefix);
    if (word === 'config') for (const each of SOURCE_KINDS) referred.add(each);
    else if (kind && NAME.test(name)) named.add(sourceName(kind, name));
    else return `is neither "config" nor a list such as "configmap/a, secret/b": "${word}"`;
  }
  if (referred.size + named.size === 0) return 'names nothing';
  return { referred, marked: false, named, excluded: new Set() };
}

const PINNED = /^pinned(?: except (.+))?$/;

/** `pinned`, or `pinned except configmap/a, secret/b`: the sources that are left out; a text says what is wrong. */
export function parsePinned(text: string): ReadonlySet<SourceName> | string {
  const [whole, except] = PINNED.exec(text) ?? [];
  if (whole === undefined) return 'is neither "pinned" nor "pinned except" with a list such as "secret/tls"';
  if (except === undefined) return new Set();
  const parsed = parseRestartOn(except);
  if (typeof parsed === 'string' || parsed.referred.size > 0)
    return `has after "except" no list such as "configmap/a, secret/tls": "${except}"`;
  return parsed.named;
}

/**
 * The selection on which Stakater's Reloader would restart the Deployment by its annotations; `undefined` if they ask
 * for nothing. Names are names here: patterns, which Reloader takes as well, are a problem.
 */
export function readReloader(annotations: Annotations): {
  readonly selection?: ConfigSelection;
  readonly problems: readonly SelectionProblem[];
} {
  const isTrue = (name: string): boolean => annotations[name]?.trim() === 'true';
  const isAuto = isTrue(`${RELOADER}auto`);
  const problems: SelectionProblem[] = [];
  const listed = (annotation: string, kind: SourceKind): SourceName[] => {
    const value = annotations[annotation] ?? '';
    return wordsOf(value).flatMap((word) => {
      if (NAME.test(word)) return [sourceName(kind, word)];
      problems.push({ annotation, value, why: `has a word that is not the name of a ${kind}: "${word}"` });
      return [];
    });
  };
  const selection: ConfigSelection = {
    referred: new Set(SOURCE_KINDS.filter((kind) => isAuto || isTrue(`${kind}.${RELOADER}auto`))),
    marked: isTrue(`${RELOADER}search`),
    named: new Set(SOURCE_KINDS.flatMap((kind) => listed(`${kind}.${RELOADER}reload`, kind))),
    excluded: new Set(SOURCE_KINDS.flatMap((kind) => listed(`${kind}s.exclude.${RELOADER}reload`, kind))),
  };
  const asks = selection.referred.size > 0 || selection.marked || selection.named.size > 0;
  return { ...(asks && { selection }), problems };
}

export function joinSelections(a: ConfigSelection, b: ConfigSelection): ConfigSelection {
  return {
    referred: new Set([...a.referred, ...b.referred]),
    marked: a.marked || b.marked,
    named: new Set([...a.named, ...b.named]),
    excluded: new Set([...a.excluded, ...b.excluded]),
  };
}

function wordsOf(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
