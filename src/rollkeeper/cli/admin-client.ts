import type { Command } from 'commander';
import { InvalidOptionError, StartupError, errorMessage, errorCode } from '@rollkeeper/machinery/errors';
import { parseJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { printError } from '@rollkeeper/machinery/process';
import type { ServerTrust } from '@rollkeeper/tls';
import type { AliveReplicas, AskedReplica } from './alive-replicas.js';
import { dataDirOption, readNamed } from './shared-options.js';

export interface AdminClientFlags {
  readonly adminUrl?: string;
  readonly adminTokenFile?: string;
  readonly adminCaFile?: string;
  readonly adminCertFingerprint?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly dataDir: string;
}

const ANSWER_TIMEOUT_MS = 10_000;

/** A replica's refusal, in its own words. */
class AdminRefusal extends StartupError {}

/** No replica is known, or none of them answers. */
export class NoReplicaError extends StartupError {}

/** The options of every command that queries a replica. */
export function addAdminOptions(command: Command): Command {
  return command
    .option('--admin-url <url>', 'admin URL of a replica (default: one that `up` runs)')
    .option('--admin-token-file <file>', 'admin token (default: the one that `up` wrote)')
    .option('--admin-ca-file <file>', 'certificate of the replica, or of its authority, PEM')
    .option(
      '--admin-cert-fingerprint <sha256>',
      'fingerprint of the certificate of the replica, as in its log',
    )
    .option(
      '--insecure-skip-tls-verify',
      'accept any certificate; a man in the middle can then read the token',
    )
    .addOption(dataDirOption());
}

/**
 * Queries a replica's admin API: the one of `--admin-url`, otherwise those that `up` runs from the data folder, one
 * after another until one answers. Uses the token of `--admin-token-file`, otherwise that of the data folder.
 * @throws AdminRefusal, or NoReplicaError if none answers: within a second if all of them hang
 */
export async function askAdmin<T>(
  flags: AdminClientFlags,
  path: string,
  change?: { readonly body: unknown },
): Promise<T> {
  return (await askReplica<T>(flags, path, change)).answer;
}

/**
 * As {@link askAdmin}, and which replica answered.
 * @param ownToken used instead of the admin token
 */
export async function askReplica<T>(
  flags: AdminClientFlags,
  path: string,
  change?: { readonly body: unknown },
  ownToken?: string,
): Promise<{ readonly answer: T; readonly url: string }> {
  const token = ownToken ?? (await readToken(flags));
  const { alive, problems } = await (asked.get(flags) ?? findAlive(flags));
  const failures = [...problems];
  for (const replica of alive) {
    try {
      return { answer: await send(replica, path, token, change), url: replica.url };
    } catch (error) {
      if (error instanceof AdminRefusal) throw error;
      failures.push(`${replica.url}: ${reasonOf(error)}`);
    }
  }
  asked.delete(flags);
  throw new NoReplicaError(
    `no replica answers (${failures.join('; ') || 'no replica runs'}); name one with --admin-url`,
  );
}

/**
 * The share of the patience with a server: a replica that lives answers sooner than one that has to look something up.
 */
const OF_ALIVE = 0.55;

/** The answers within one command, which asks several questions. */
const asked = new WeakMap<AdminClientFlags, Promise<AliveReplicas>>();

function findAlive(flags: AdminClientFlags): Promise<AliveReplicas> {
  const finding = (async () => {
    const { aliveReplicas } = await import('./alive-replicas.js');
    const { patienceMs } = await import('./with-api.js');
    return aliveReplicas(await replicasOf(flags), reasonOf, Math.round((await patienceMs()) * OF_ALIVE));
  })();
  asked.set(flags, finding);
  return finding;
}

/** Whether a replica is known that could be asked: by --admin-url, or by what `up` runs from the data folder. */
export async function knowsReplica(flags: AdminClientFlags): Promise<boolean> {
  return (await replicasOf(flags)).length > 0;
}

async function replicasOf(flags: AdminClientFlags): Promise<readonly AskedReplica[]> {
  const named = await namedTrust(flags);
  if (flags.adminUrl !== undefined)
    return [{ url: originOf(flags.adminUrl), trust: named ?? { by: 'well-known-authorities' } }];
  // Imported lazily to keep other commands small.
  const { readUpStatus } = await import('../replica/supervisor/index.js');
  const status = await readUpStatus(flags.dataDir);
  return (status?.replicas ?? []).map(({ adminUrl: url, certificates: sha256 = [] }) => ({
    url,
    trust: named ?? { by: 'fingerprint', sha256 },
  }));
}

function originOf(url: string): string {
  const { origin, protocol } = URL.parse(url) ?? { protocol: '', origin: '' };
  if (!/^https?:$/.test(protocol))
    throw new InvalidOptionError('admin-url', `"${url}" is not of the form https://host:port`);
  return origin;
}

/** The trust given by the flags, if any. @throws InvalidOptionError if they conflict */
async function namedTrust(flags: AdminClientFlags): Promise<ServerTrust | undefined> {
  const { adminCaFile, adminCertFingerprint, insecureSkipTlsVerify } = flags;
  const said = [adminCaFile, adminCertFingerprint, insecureSkipTlsVerify].filter(
    (flag) => flag !== undefined,
  );
  if (said.length > 1) {
    const names = 'admin-ca-file, admin-cert-fingerprint, insecure-skip-tls-verify';
    throw new InvalidOptionError(names, 'only one of them can be set');
  }
  if (insecureSkipTlsVerify) return { by: 'nothing' };
  if (adminCaFile !== undefined)
    return { by: 'authority', caPem: await readNamed('admin-ca-file', adminCaFile) };
  if (adminCertFingerprint === undefined) return undefined;
  const { isFingerprint } = await import('@rollkeeper/tls');
  if (!isFingerprint(adminCertFingerprint))
    throw new InvalidOptionError(
      'admin-cert-fingerprint',
      'must be a SHA-256: 64 hexadecimal digits, with or without colons',
    );
  return { by: 'fingerprint', sha256: [adminCertFingerprint] };
}

async function readToken({
  adminTokenFile,
  adminUrl,
  dataDir,
}: AdminClientFlags): Promise<string | undefined> {
  if (adminTokenFile !== undefined) return (await readNamed('admin-token-file', adminTokenFile)).trim();
  // The token of this machine's replicas is never sent to another address.
  if (adminUrl !== undefined) return undefined;
  const { readAdminToken } = await import('../replica/supervisor/index.js');
  return readAdminToken(dataDir);
}

/** The type of an answer is what the page at `path` is made from, in this release. */
async function send<T>(
  { trust, url }: AskedReplica,
  path: string,
  token: string | undefined,
  change?: { readonly body: unknown },
): Promise<T> {
  const { trustedAgent } = await import('@rollkeeper/tls');
  const { request } = await import('undici');
  const dispatcher = trustedAgent(trust);
  try {
    const { body, headers, statusCode } = await request(url + path, {
      dispatcher,
      method: change ? 'POST' : 'GET',
      headers: {
        ...(change ? { 'content-type': 'application/json' } : {}),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(change ? { body: JSON.stringify(change.body) } : {}),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const text = await body.text();
    warnOf(headers['warning']);
    if (statusCode >= 200 && statusCode < 300) return parseJson(text) as T;
    throw new AdminRefusal(reasonIn(text) ?? `${url}${path} answered ${statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}

const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** The error with advice, unless it is obvious. */
function reasonOf(error: unknown): string {
  const message = errorMessage(error);
  if (!UNTRUSTED.has(errorCode(error))) return message;
  return `${message}; set --admin-ca-file or --admin-cert-fingerprint`;
}

function reasonIn(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const said = isJsonObject(answer) ? (answer['error'] ?? answer['message']) : undefined;
    return typeof said === 'string' ? said : undefined;
  } catch {
    return undefined;
  }
}

/** The warnings that were printed: a command that asks again and again says each once. */
const warned = new Set<string>();

/** Prints the warnings of an answer, such as that the part of a replica is missing. */
function warnOf(header: string | readonly string[] | undefined): void {
  for (const text of warningsIn([header ?? []].flat().join(', '))) {
    if (warned.has(text)) continue;
    warned.add(text);
    printError(`rollkeeper: warning: ${text}`);
  }
}

/** The texts of a header `Warning`, of the form `299 - "text", 299 - "another"`. */
export function warningsIn(header: string): readonly string[] {
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  );
}
