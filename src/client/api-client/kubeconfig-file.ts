import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { YAMLMap } from 'yaml';
import { parse, parseDocument, isSeq, stringify } from 'yaml';
import * as z from 'zod';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { readNamedFileSync } from '@rollkeeper/machinery/files';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { execConfigSchema } from './exec-plugin.js';

const text = z.string().nullish();

const clusterSchema = z.object({
  server: z.string().regex(/^https?:\/\//, 'must begin with http:// or https://'),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
  extensions: z.array(z.object({ name: z.string(), extension: z.unknown() })).nullish(),
});

const userSchema = z.object({
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  'as-uid': text,
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
  exec: execConfigSchema.nullish(),
  'auth-provider': z
    .object({ name: z.string(), config: z.record(z.string(), z.string()).nullish() })
    .nullish(),
});

const contextSchema = z.object({ cluster: z.string(), user: text, namespace: text });

const fileSchema = z.object({
  clusters: entries('cluster', clusterSchema),
  users: entries('user', userSchema),
  contexts: entries('context', contextSchema),
  'current-context': text,
});

export type KubeconfigCluster = z.infer<typeof clusterSchema>;
export type KubeconfigUser = z.infer<typeof userSchema> & {
  /** The file that defines it. */
  readonly origin: string;
};
export type KubeconfigContext = z.infer<typeof contextSchema>;

/** The parts of one or several kubeconfig files that describe a cluster; all paths are absolute. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly currentContext?: string;
}

const PATHS_OF_CLUSTER = ['certificate-authority'] as const;
const PATHS_OF_USER = ['client-certificate', 'client-key', 'tokenFile'] as const;
const PATHS_OF_PROVIDER = ['idp-certificate-authority'] as const;

/**
 * Reads one file. Its relative paths are resolved against its folder.
 * @throws InvalidOptionError naming the file, and the field if there is one
 */
export function readKubeconfigFile(path: string): Kubeconfig {
  const parsed = compileOptions(fileSchema, parseYaml(path), `kubeconfig ${path}`);
  const folder = dirname(resolve(path));
  for (const { cluster } of parsed.clusters) makeAbsolute(cluster, PATHS_OF_CLUSTER, folder);
  for (const { user } of parsed.users) {
    makeAbsolute(user, PATHS_OF_USER, folder);
    // As in client-go: a bare name is looked up in PATH, anything else is relative to the kubeconfig.
    if (user.exec && /[/\\]/.test(user.exec.command)) makeAbsolute(user.exec, ['command'], folder);
    const config = user['auth-provider']?.config;
    if (config) makeAbsolute(config, PATHS_OF_PROVIDER, folder);
  }
  return {
    clusters: byName(parsed.clusters, (entry) => entry.cluster),
    users: byName(parsed.users, (entry) => ({ ...entry.user, origin: path })),
    contexts: byName(parsed.contexts, (entry) => entry.context),
    currentContext: parsed['current-context'] || undefined,
  };
}

/** Merges several files: among entries of the same name, and among the current contexts, the first wins. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const reversed = files.toReversed();
  return {
    clusters: new Map(reversed.flatMap((file) => [...file.clusters])),
    users: new Map(reversed.flatMap((file) => [...file.users])),
    contexts: new Map(reversed.flatMap((file) => [...file.contexts])),
    currentContext: files.find((file) => file.currentContext)?.currentContext,
  };
}

/** The parts of a context. */
export interface SelectedContext {
  readonly name: string;
  readonly context: KubeconfigContext;
  readonly cluster: KubeconfigCluster;
  /** Absent: the context names none. */
  readonly user?: KubeconfigUser;
}

/**
 * The named context, or the current one.
 * @param source names the files in errors
 * @throws InvalidOptionError naming what the files do not have
 */
export function selectContext(
  config: Kubeconfig,
  { context: chosen, source }: { readonly context?: string; readonly source: string },
): SelectedContext {
  const name = chosen ?? config.currentContext;
  if (!name) throw new InvalidOptionError(source, 'current-context is not set');
  const context = config.contexts.get(name);
  if (!context) throw new InvalidOptionError(source, `there is no context "${name}"`);
  const cluster = config.clusters.get(context.cluster);
  if (!cluster) throw new InvalidOptionError(source, `there is no cluster "${context.cluster}"`);
  const user = context.user ? config.users.get(context.user) : undefined;
  if (context.user && !user) throw new InvalidOptionError(source, `there is no user "${context.user}"`);
  return { name, context, cluster, ...(user && { user }) };
}

/** A kubeconfig of one context, and of the cluster and user that it names. */
export function minifiedKubeconfig(
  config: Kubeconfig,
  choice: { readonly context?: string; readonly source: string },
): string {
  const { cluster, context, name, user } = selectContext(config, choice);
  const { origin: _, ...fields } = user ?? { origin: '' };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: context.cluster, cluster }],
    users: user ? [{ name: context.user, user: fields }] : [],
    contexts: [{ name, context }],
    'current-context': name,
  });
}

function entries<Name extends string, Schema extends z.ZodType>(name: Name, schema: Schema) {
  const entry = z.object({ name: z.string().min(1), [name]: schema } as { name: z.ZodString } & Record<
    Name,
    Schema
  >);
  return z
    .array(entry)
    .nullish()
    .transform((list) => list ?? []);
}

function parseYaml(path: string): unknown {
  try {
    const content: unknown = parse(readNamedFileSync(path).toString('utf8'));
    return content;
  } catch (error) {
    throw new InvalidOptionError(`kubeconfig ${path}`, errorMessage(error).split('\n')[0] ?? '', {
      cause: error,
    });
  }
}

function makeAbsolute<Field extends string>(
  entry: { [F in Field]?: string | null },
  fields: readonly Field[],
  folder: string,
): void {
  for (const field of fields) {
    const path = entry[field];
    if (path) entry[field] = resolve(folder, path);
  }
}

function byName<Entry extends { name: string }, Value>(
  list: readonly Entry[],
  valueOf: (entry: Entry) => Value,
): Map<string, Value> {
  return new Map(list.toReversed().map((entry) => [entry.name, valueOf(entry)]));
}

/**
 * Replaces the tokens of the OIDC auth-provider and leaves everything else, including comments, as it is. The file is
 * replaced atomically; a symbolic link stays one.
 */
export function writeOidcTokens(
  path: string,
  userName: string,
  tokens: { readonly idToken: string; readonly refreshToken: string },
): void {
  const target = realpathSync(path);
  const document = parseDocument(readNamedFileSync(target).toString('utf8'));
  const users = document.get('users');
  const entry = isSeq<YAMLMap>(users) ? users.items.find((item) => item.get('name') === userName) : undefined;
  if (!entry) throw new InvalidOptionError(`kubeconfig ${path}`, `there is no user "${userName}" any more`);
  entry.setIn(['user', 'auth-provider', 'config', 'id-token'], tokens.idToken);
  entry.setIn(['user', 'auth-provider', 'config', 'refresh-token'], tokens.refreshToken);
  const draft = `${target}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  // Created exclusively, so that an existing link is not followed.
  writeFileSync(draft, document.toString(), { mode: statSync(target).mode, flag: 'wx' });
  renameSync(draft, target);
}
