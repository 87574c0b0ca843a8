import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { KUBERNETES_VERSION, NO_GO } from '../../documents/kubernetes-version.js';
import { notAcceptable } from '../../schema/errors/index.js';
import { acceptClauses, plainText, yamlText } from '../../http/index.js';
import type { ApiRequest, RawResponse } from '../../http/index.js';

/** The facts that the pages show of the server. */
export interface StatusFacts {
  /** Wall clock of the start of the process. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** All paths that are no resource's. */
  readonly paths: readonly string[];
  /** How the process was started, by name; secrets left out. */
  readonly flags: Readonly<Record<string, string>>;
}

const GROUP = 'config.k8s.io';
/** The last is the one of texts. */
const VERSIONS: readonly string[] = ['v1alpha1', 'v1beta1'];
const DEPRECATED = 'v1alpha1';
const COMPONENT = 'apiserver';
const ACCEPTED: readonly string[] = ['application/json', 'application/yaml', 'text/plain'];
/** The paths below these are no pages for debugging. */
const NOT_FOR_DEBUGGING: ReadonlySet<string> = new Set(['api', 'apis', 'openid', 'openapi', '.well-known']);

interface Page {
  readonly kind: 'Statusz' | 'Flagz';
  fields(facts: StatusFacts): object;
  text(facts: StatusFacts): string;
}

const PAGES: Readonly<Record<string, Page>> = {
  '/statusz': { kind: 'Statusz', fields: statusFields, text: statusText },
  '/flagz': {
    kind: 'Flagz',
    fields: ({ flags }) => (Object.keys(flags).length > 0 ? { flags } : {}),
    text: ({ flags }) =>
      sorted(flags)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
  },
};

export const STATUS_PATHS: readonly string[] = Object.keys(PAGES);

/**
 * `/statusz` and `/flagz`, as texts or as objects of `config.k8s.io`. Source: pkg/server/statusz and flagz of apiserver.
 * @returns undefined when the path is neither
 * @throws StatusError 406
 */
export function statusPage(
  request: Pick<ApiRequest, 'path' | 'headers' | 'warn'>,
  facts: () => StatusFacts,
): RawResponse | undefined {
  const page = Object.hasOwn(PAGES, request.path) ? PAGES[request.path] : undefined;
  if (!page) return undefined;
  const wanted = chosen(request.headers.accept ?? '', page.kind);
  if (!wanted) throw notAcceptable(ACCEPTED);
  if (wanted === 'text') return plainText(200, `${headOf(request.path)}${page.text(facts())}`);
  if (wanted.version === DEPRECATED)
    request.warn(
      `This version of the ${request.path.slice(1)} endpoint is deprecated. Please use a newer version.`,
    );
  const { kind } = page;
  const identity = { kind, apiVersion: `${GROUP}/${wanted.version}`, metadata: { name: COMPONENT } };
  const body = { ...identity, ...page.fields(facts()) };
  const raw = wanted.type === 'application/yaml' ? yamlText(body) : JSON.stringify(body);
  return { status: 200, raw, contentType: wanted.type };
}

/** The first alternative of an `Accept` header that there is. */
function chosen(
  accept: string,
  kind: string,
): 'text' | { readonly type: string; readonly version: string } | undefined {
  if (accept.trim() === '') return 'text';
  for (const { parameters, type } of acceptClauses(accept)) {
    const [as, group, version = ''] = ['as', 'g', 'v'].map((name) => parameters.get(name));
    const isPlain = as === undefined && group === undefined && !parameters.has('v');
    if (matches(type, 'text/plain') && isPlain) return 'text';
    const found = ACCEPTED.slice(0, 2).find((one) => matches(type, one));
    if (found !== undefined && as === kind && group === GROUP && VERSIONS.includes(version))
      return { type: found, version };
  }
  return undefined;
}

function matches(wanted: string, type: string): boolean {
  return wanted === type || wanted === '*/*' || wanted === `${type.split('/')[0]}/*`;
}

function headOf(path: string): string {
  return `\n${COMPONENT} ${path.slice(1)}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;
}

function statusFields({ nowMs, paths, startedAtMs }: StatusFacts): object {
  const { gitVersion, major, minor } = KUBERNETES_VERSION;
  return {
    startTime: toRfc3339(startedAtMs),
    uptimeSeconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
    goVersion: NO_GO,
    binaryVersion: gitVersion.replace(/^v/, ''),
    emulationVersion: `${major}.${minor}`,
    paths: foldersOf(paths),
  };
}

function statusText(facts: StatusFacts): string {
  const { startedAtMs, nowMs, paths } = facts;
  const { gitVersion, major, minor } = KUBERNETES_VERSION;
  const seconds = Math.max(0, Math.floor((nowMs - startedAtMs) / 1000));
  const two = (count: number): string => String(Math.floor(count) % 60).padStart(2, '0');
  return [
    '',
    `Started: ${new Date(startedAtMs).toUTCString()}`,
    `Up: ${Math.floor(seconds / 3600)} hr ${two(seconds / 60)} min ${two(seconds)} sec`,
    `Go version: ${NO_GO}`,
    `Binary version: ${gitVersion.replace(/^v/, '')}`,
    `Emulation version: ${major}.${minor}`,
    `Paths: ${foldersOf(paths).join(' ')}`,
    '',
  ].join('\n');
}

function foldersOf(paths: readonly string[]): string[] {
  const first = paths.map((path) => path.split('/')[1] ?? '');
  const shown = first.filter((name) => name !== '' && name !== 'statusz' && !NOT_FOR_DEBUGGING.has(name));
  return [...new Set(shown)].sort().map((name) => `/${name}`);
}

function sorted(flags: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
