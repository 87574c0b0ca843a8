import { readFile } from 'node:fs/promises';
import { parseJson } from '../kubernetes/index.js';
import { StartupError, errorMessage } from '../errors/index.js';

export interface AdminClientFlags {
  readonly adminUrl?: string;
  readonly adminTokenFile?: string;
  readonly dataDir: string;
}

const ANSWER_TIMEOUT_MS = 10_000;

/** A replica refused, in its own words. */
export class AdminRefusal extends StartupError {}

/**
 * Asks a replica's admin API: the one of `--admin-url`, else those that `up` runs out of the data folder, one after
 * the other until one answers. With the token of `--admin-token-file`, else that of the data folder.
 * @throws AdminRefusal, or StartupError when none answers
 */
export async function askAdmin(
  flags: AdminClientFlags,
  path: string,
  change?: { readonly body: unknown },
): Promise<unknown> {
  const urls = await adminUrls(flags);
  const token = await readToken(flags);
  let problem = 'no replica runs';
  for (const url of urls) {
    try {
      return await send(url + path, token, change);
    } catch (error) {
      if (error instanceof AdminRefusal) throw error;
      problem = `${url}: ${errorMessage(error)}`;
    }
  }
  throw new StartupError(`no replica answers (${problem}); name one with --admin-url`);
}

async function adminUrls({ adminUrl, dataDir }: AdminClientFlags): Promise<readonly string[]> {
  if (adminUrl !== undefined) return [new URL(adminUrl).origin];
  // Only now: a process shall not hold in memory what another command needs.
  const { readUpStatus } = await import('../supervisor/index.js');
  const status = await readUpStatus(dataDir);
  return (status?.replicas ?? []).map((replica) => replica.adminUrl);
}

async function readToken({
  adminTokenFile,
  adminUrl,
  dataDir,
}: AdminClientFlags): Promise<string | undefined> {
  if (adminTokenFile !== undefined) return (await readFile(adminTokenFile, 'utf8')).trim();
  // The token of this machine's replicas is nobody else's business.
  if (adminUrl !== undefined) return undefined;
  const { readAdminToken } = await import('../supervisor/index.js');
  return readAdminToken(dataDir);
}

async function send(
  url: string,
  token: string | undefined,
  change?: { readonly body: unknown },
): Promise<unknown> {
  const response = await fetch(url, {
    method: change ? 'POST' : 'GET',
    headers: {
      ...(change ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(change ? { body: JSON.stringify(change.body) } : {}),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  const text = await response.text();
  if (response.ok) return parseJson(text);
  throw new AdminRefusal(reasonIn(text) ?? `${url} answered ${response.status}`);
}

function reasonIn(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: string; message?: string };
    return error ?? message;
  } catch {
    return undefined;
  }
}
